"""dimod minimises an energy; its signs are compared on all states."""

import sys

import numpy as np
import pytest

import bayesing as bs

from samples import random_model, states

MODEL = random_model(9, 0.8, 2)
STATES = states(9)


@pytest.fixture
def dimod():
    return pytest.importorskip("dimod", reason="conversion to dimod's models needs dimod")


def test_energies_are_those_of_dimod(dimod):
    bqm = MODEL.to_bqm()
    assert bqm.vartype is dimod.SPIN and bqm.num_variables == 9
    assert bqm.energies((STATES, range(9))) == pytest.approx(MODEL.energy(STATES))
    best = dimod.ExactSolver().sample(bqm).first
    likely = STATES[np.argmin(MODEL.energy(STATES))]
    assert [best.sample[k] for k in range(9)] == likely.tolist()
    assert bqm.linear[0] == -MODEL.fields[0] and bqm.quadratic[0, 1] == -MODEL.couplings[0, 1]


def test_there_and_back(dimod):
    again = bs.IsingModel.from_bqm(MODEL.to_bqm("abcdefghi"))
    assert (again.couplings == MODEL.couplings).all() and (again.fields == MODEL.fields).all()
    binary = MODEL.to_bqm().change_vartype("BINARY", inplace=False)
    again = bs.IsingModel.from_bqm(binary)
    assert again.couplings == pytest.approx(MODEL.couplings) and again.fields == pytest.approx(MODEL.fields)
    energies = binary.energies(((STATES + 1) / 2, range(9)))
    assert again.energy(STATES) - energies == pytest.approx(
        np.full(512, (again.energy(STATES) - energies)[0])
    )


def test_couplings_that_are_zero_are_left_out(dimod):
    bqm = bs.IsingModel([[0, 1.0, 0], [1.0, 0, 0], [0, 0, 0]], [0, 0, 0.5]).to_bqm("abc")
    assert list(bqm.variables) == ["a", "b", "c"] and dict(bqm.quadratic) == {("b", "a"): -1.0}


def test_a_fitted_machine_has_its_names(dimod):
    import pandas as pd

    sim = bs.simulate(6, 200, J=0.6, H=0.3, seed=1)
    bm = bs.BoltzmannMachine("spectral").fit(pd.DataFrame(sim.spins, columns=list("uvwxyz")))
    bqm = bm.to_bqm()
    assert list(bqm.variables) == list("uvwxyz")
    assert bqm.energies((sim.spins, "uvwxyz")) == pytest.approx(bm.model_.energy(sim.spins))


def test_other_things_are_no_models():
    with pytest.raises(bs.InputError, match="Expected a binary quadratic model of dimod: found dict"):
        bs.IsingModel.from_bqm({})


def test_without_dimod(monkeypatch):
    monkeypatch.setitem(sys.modules, "dimod", None)
    with pytest.raises(ImportError, match=r"to_bqm needs dimod: pip install 'bayesing\[network\]'"):
        MODEL.to_bqm()


@pytest.mark.parametrize(
    ("labels", "found"), [("aab", "3, of which 2 differ"), ("ab", "2, of which 2 differ")]
)
def test_labels_must_differ(labels, found):
    model = bs.IsingModel(np.zeros((3, 3)), 0.1)
    with pytest.raises(ValueError, match=f"Expected 3 labels that differ, one for each spin: found {found}"):
        model.to_bqm(list(labels))
