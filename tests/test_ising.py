import pickle
import re
from itertools import product

import numpy as np
import pytest

import bayesing as bs


def random_model(n, seed=0, scale=0.6):
    rng = np.random.default_rng(seed)
    J = np.triu(rng.normal(0, scale, (n, n)), 1)
    return bs.IsingModel(J + J.T, rng.normal(0.2, 0.5, n))


def slow_exponent(model, S):
    n = model.n_spins
    return sum(model.fields[i] * S[i] for i in range(n)) + sum(
        model.couplings[i, j] * S[i] * S[j] for i in range(n) for j in range(i + 1, n)
    )


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7])
def test_exact_averages_follow_the_definition(n):
    model = random_model(n)
    states = np.array(list(product([-1, 1], repeat=n)))
    weights = np.exp([slow_exponent(model, S) for S in states])
    Z = weights.sum()
    np.testing.assert_allclose(model.log_partition(), np.log(Z), rtol=1e-12)
    np.testing.assert_allclose(model.entropy(), np.log(Z) - weights @ np.log(weights) / Z, rtol=1e-12)
    np.testing.assert_allclose(model.means(), weights @ states / Z, rtol=1e-10)
    np.testing.assert_allclose(model.correlations(), (states.T * weights) @ states / Z, rtol=1e-10)


def test_energy_is_minus_the_exponent():
    model = random_model(5)
    X = np.array([[1, -1, 1, 1, -1], [-1, -1, 1, -1, -1]])
    np.testing.assert_allclose(model.energy(X), [-slow_exponent(model, S) for S in X], rtol=1e-12)
    np.testing.assert_allclose(model.energy((X + 1) // 2), model.energy(X))
    with pytest.raises(ValueError, match=r"5 spins.*found 4"):
        model.energy(X[:, :4])


def test_derivatives_of_the_partition_function_are_the_averages():
    """At n = 20, the largest: d ln Z / d h_i = <S_i>, d ln Z / d J_ij = <S_i S_j>, across both halves."""
    model, d = random_model(20, scale=0.25), 1e-5

    def log_z(i, j, step):
        J, h = model.couplings.copy(), model.fields.copy()
        if i == j:
            h[i] += step
        else:
            J[i, j] += step
            J[j, i] += step
        return bs.IsingModel(J, h).log_partition()

    means, correlations = model.means(), model.correlations()
    for i, j in [(0, 0), (19, 19), (1, 8), (3, 17), (11, 15)]:
        slope = (log_z(i, j, d) - log_z(i, j, -d)) / (2 * d)
        assert slope == pytest.approx(means[i] if i == j else correlations[i, j], abs=1e-8)


def test_no_couplings_and_strong_fields():
    model = bs.IsingModel(np.zeros((4, 4)), [0.5, -300.0, 0.0, 300.0])
    np.testing.assert_allclose(model.means(), np.tanh([0.5, -300, 0, 300]), atol=1e-15)
    assert model.log_partition() == pytest.approx(600 + np.log(2 * np.cosh(0.5)) + np.log(2))
    assert model.entropy() == pytest.approx(np.log(2) + np.log(2 * np.cosh(0.5)) - 0.5 * np.tanh(0.5))
    np.testing.assert_array_equal(np.diag(model.correlations()).round(12), 1)


def test_at_another_temperature():
    model = random_model(4)
    for beta in (0.0, 0.4, 2.5):
        assert (model.at(beta).couplings == beta * model.couplings).all()
        assert (model.at(beta).fields == beta * model.fields).all()
    assert model.at(1) is model
    with pytest.raises(ValueError, match="beta"):
        model.at(-0.1)


def test_descriptions_count_pairs_once():
    """Their size is a root mean square over all pairs, those without a coupling included."""
    J = np.zeros((5, 5))
    for i, j, value in [(0, 3, 0.4), (1, 2, -0.7), (3, 4, 0.1)]:
        J[i, j] = J[j, i] = value
    model = bs.IsingModel(J, [0.0, 0.25, 0, 0, -1])
    size = np.sqrt((0.4**2 + 0.7**2 + 0.1**2) / 10)
    assert repr(model) == (
        f"<IsingModel of 5 spins: 3 of 10 couplings, of size {size:.3g}, from -0.7 to 0.4; fields from -1 to 0.25>"
    )
    shown = re.sub("<[^>]*>", " ", model._repr_html_()).split()
    assert " ".join(shown).endswith("1 2 -0.7 0 3 +0.4 3 4 +0.1")  # the strongest first
    dense, none = bs.IsingModel([[0, 0.5], [0.5, 0]]), bs.IsingModel(np.zeros((3, 3)))
    assert repr(dense) == "<IsingModel of 2 spins: 1 couplings, of size 0.5, from 0.5 to 0.5; no fields>"
    assert repr(none) == "<IsingModel of 3 spins: 0 of 3 couplings; no fields>"
    assert "strongest" not in none._repr_html_() and "strongest" in dense._repr_html_()
    many = bs.IsingModel(np.ones((6, 6)) - np.eye(6))
    assert many._repr_html_().count("+1") == 5


def test_strongest_couplings_of_many_spins_are_not_looked_for(monkeypatch):
    model = random_model(4)
    monkeypatch.setattr("bayesing.ising._MOST_LISTED", 4)
    assert "strongest" in model._repr_html_()
    monkeypatch.setattr("bayesing.ising._MOST_LISTED", 3)
    assert "strongest" not in model._repr_html_()


def test_one_field_for_all():
    assert bs.IsingModel(np.zeros((3, 3))).fields.tolist() == [0.0] * 3
    assert bs.IsingModel([[0.0]], 0.3).energy([[1]]) == [-0.3]
    assert bs.IsingModel(np.zeros((3, 3)), 0.7).fields.tolist() == [0.7] * 3


def test_models_are_immutable_and_do_not_share_memory():
    J = np.zeros((3, 3))
    model = bs.IsingModel(J)
    J[0, 1] = 5
    assert not model.couplings.any()
    with pytest.raises(ValueError, match="read-only"):
        model.fields[0] = 1
    with pytest.raises(AttributeError):
        model.fields = 1


def test_read_only_couplings_are_not_copied_and_views_of_others_are():
    J = np.zeros((3, 3))
    view = J.view()
    view.flags.writeable = False
    assert not np.shares_memory(bs.IsingModel(view).couplings, J)
    J.flags.writeable = False
    assert bs.IsingModel(J).couplings is J


def test_save_and_load(tmp_path):
    model = random_model(6)
    model.save(tmp_path / "model.npz")
    again = bs.IsingModel.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.couplings, model.couplings)
    np.testing.assert_array_equal(again.fields, model.fields)
    saved = {"couplings": model.couplings, "fields": model.fields}
    np.savez(tmp_path / "more.npz", **saved, names=np.array(["a"]), hidden_fields=np.empty(0))
    assert (bs.IsingModel.load(tmp_path / "more.npz").fields == model.fields).all()
    np.savez(tmp_path / "hidden.npz", **saved, hidden_fields=np.zeros(1))
    with pytest.raises(ValueError, match="hidden units as well"):
        bs.IsingModel.load(tmp_path / "hidden.npz")


def test_a_failed_load_names_the_file(tmp_path):
    (tmp_path / "c.npz").write_bytes(b"")
    np.save(tmp_path / "d.npy", np.zeros((2, 2)))
    for name, message in [("c.npz", "empty or damaged"), ("d.npy", "one array"), ("e.npz", "no such file")]:
        with pytest.raises(ValueError, match=f"{name}: .*{message}"):
            bs.IsingModel.load(tmp_path / name)


def test_pickled_models_stay_read_only():
    model = pickle.loads(pickle.dumps(random_model(4)))
    with pytest.raises(ValueError, match="read-only"):
        model.couplings[0, 1] = 1


def test_load_never_unpickles(tmp_path):
    np.savez(tmp_path / "a.npz", couplings=np.array([{}], object), fields=np.zeros(1))
    with pytest.raises(ValueError, match=r"a\.npz: .*Pickles are not opened"):
        bs.IsingModel.load(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", x=np.zeros(1))
    with pytest.raises(ValueError, match="couplings and fields of a saved model, found x"):
        bs.IsingModel.load(tmp_path / "b.npz")


@pytest.mark.parametrize(
    ("couplings", "fields", "message"),
    [
        (
            [[0, 1], [2, 0]],
            0,
            r"symmetric: found couplings\[0, 1\] = 1.0.*\(couplings \+ couplings.T\) / 2 if",
        ),
        ([[0, 1], [0, 0]], 0, r"One triangle is empty: use couplings \+ couplings.T if"),
        ([[0, 1], [1, 3]], 0, r"zero on the diagonal: found 3.0 at couplings\[1, 1\]"),
        ([[0, np.nan], [1, 0]], 0, r"finite.* found nan at couplings\[0, 1\]"),
        ([[0, np.inf], [np.inf, 0]], 0, r"finite.* found inf"),
        (np.zeros((2, 3)), 0, r"square matrix: found shape \(2, 3\)"),
        (np.zeros(4), 0, r"square matrix: found shape \(4,\)"),
        (np.zeros((0, 0)), 0, r"square matrix"),
        (np.zeros((3, 3)), [0, 0], r"shape \(3,\): found shape \(2,\)"),
        (np.zeros((3, 3)), [0, 0, np.nan], r"fields must be finite.* found nan at fields\[2\]"),
        (np.zeros((3, 3)) + 1j, 0, r"couplings must be real numbers"),
        (np.zeros((2, 2), "m8[s]"), 0, r"couplings must be real numbers"),
        (np.ma.masked_equal(np.zeros((2, 2)), 0), 0, r"masked"),
        ([[0, 1e308], [1e308, 0]], 0, r"from -1e\+15 to 1e\+15: found 1e\+308 at couplings\[0, 1\]"),
        ("abc", 0, r"couplings must be real numbers"),
    ],
)
def test_bad_models(couplings, fields, message):
    with pytest.raises(ValueError, match=message):
        bs.IsingModel(couplings, fields)


def test_rounding_in_the_couplings_is_forgiven():
    J = np.array([[0, 0.1 + 1e-17], [0.1 - 1e-13, 0]])
    model = bs.IsingModel(J)
    np.testing.assert_array_equal(model.couplings, model.couplings.T)


def test_too_many_spins_for_enumeration():
    with pytest.raises(ValueError, match="n up to 20: found n = 21"):
        bs.IsingModel(np.zeros((21, 21))).means()
