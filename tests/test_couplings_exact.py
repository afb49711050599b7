import numpy as np
import pytest

import bayesing as bs
from bayesing.couplings.exact import fit_exact

from samples import random_model, random_spins, stats


def test_the_model_has_the_averages_of_the_data():
    X = random_spins(60, 5, seed=4)
    fit = fit_exact(stats(X))
    model = bs.IsingModel(fit.matrix, fit.fields)
    assert model.means() == pytest.approx(X.mean(axis=0), abs=1e-6)
    assert model.correlations() == pytest.approx(X.T.astype(float) @ X / len(X), abs=1e-6)


def test_many_samples_give_the_truth():
    model = random_model(7, 0.8, seed=3)
    fit = fit_exact(stats(bs.sample(model, 20_000, sampler="anneal", sweeps=5, seed=0)))
    upper = np.triu_indices(7, 1)
    z = ((fit.matrix - model.couplings)[upper]) / fit.errors[upper]
    assert np.abs(z).max() < 3.5 and 0.5 < z.std() < 1.5


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (random_spins(30, 17), "n up to 16: found n = 17"),
        (random_spins(4, 6), "has no maximum"),
        (np.insert(random_spins(40, 4), 2, 1, axis=1), "has no maximum"),
        (np.hstack([random_spins(40, 3), random_spins(40, 3)]), "has no maximum"),
    ],
)
def test_what_has_no_answer(X, message):
    with pytest.raises(ValueError, match=message):
        fit_exact(stats(X))
