"""Benchmarks in small: their settings load, and they run, go on, and refuse results of other settings."""

import csv
import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bayesing as bs

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
CELLS = {
    "accuracy": {"estimates": 90},
    "calibration": {"bias": 100, "glass": 56, "coverage": 120, "cost": 0, "figure3": 78},
    "couplings": {
        **{"recovery": 30, "coverage": 172, "logistic": 6, "real": 30},
        **{"sparse": 10, "exact": 25, "rule": 114, "large": 3},
    },
    "edges": {
        **{"graphs": 45, "other": 15, "dense": 30, "real": 60},
        **{"compare": 180, "alarms": 200, "cost": 4},
    },
    "hidden": {
        "planted": 16,
        "gaps": 6,
        "bursts": 4,
        "real": 2,
        "digits": 50,
        "peer": 0,
        "causes": 15,
        "causes_bursts": 4,
        "recording": 0,
        "cost": 4,
    },
    "likelihood": {
        **{"exact": 20, "simulated": 42, "real": 15, "recordings": 0, "hard": 30},
        **{"strength": 80, "cost": 6, "peer": 0},
    },
    "missing": {"recovery": 20, "edges": 10, "strength": 20, "impute": 16, "senate": 2, "cost": 9},
    "robustness": {"beyond": 32, "errors": 40},
    "scale": {"reading": 4, "dask": 3, "spins": 2, "square": 3, "growth": 13},
    "series": {
        **{"truth": 144, "intervals": 24, "methods": 3, "edges": 10, "independent": 6},
        **{"drift": 16, "recording": 0, "cost": 4},
    },
    "zoo": {"kinds": 96, "alarms": 50, "cost": 6},
}


@pytest.fixture
def imported(monkeypatch):
    """Import a benchmark, or what they share, as a script beside it does; without data or programs from elsewhere."""
    for name in ("BAYESING_DATA", "BAYESING_PEER", "BAYESING_RBMS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.fixture
def run(imported, monkeypatch, capsys):
    """Run a benchmark as from the command line: what it prints, and says on standard error."""

    def run_(name, folder, *arguments):
        monkeypatch.setattr(sys, "argv", [f"{name}.py", str(folder), *arguments])
        imported("front").main(str(BENCHMARKS / f"{name}.py"), "", imported(name).PARTS)
        return capsys.readouterr()

    return run_


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", CELLS)
def test_every_part_has_settings_and_cells(imported, name):
    parts, load = imported(name).PARTS, imported("front").load
    for quick in (False, True):
        tables = load(BENCHMARKS / f"{name}.py", quick)
        assert list(parts) == list(CELLS[name]) and set(parts) == set(tables)
        tasks = {part: parts[part].tasks(SimpleNamespace(**tables[part])) for part in parts}
        for part, found in tasks.items():
            assert len({task.name for task in found}) == len(found) and not any("/" in t.name for t in found)
            assert len(found) == CELLS[name][part] if not quick else len(found) <= CELLS[name][part]


def test_methods_are_those_of_the_library(imported):
    names = imported("methods").method_names()
    assert "spectral" in names and "auto" not in names
    spins = bs.simulate(12, 60, J=0.6, H=0.2, seed=0).spins
    for name in names:
        assert imported("methods").fitted(spins, name).method_ == name
    tables = imported("front").load(BENCHMARKS / "accuracy.py", quick=True)
    assert tables["estimates"]["methods"] == [name for name in names if name != "likelihood"]


@pytest.mark.parametrize(
    ("name", "part", "table", "lines"),
    [
        ("accuracy", "estimates", "accuracy.csv", 44),
        ("calibration", "coverage", "coverage.csv", 2),
        ("calibration", "bias", "bias.csv", 2),
        ("couplings", "exact", "exact.csv", 32),
        ("edges", "alarms", "alarms.csv", 2),
        ("edges", "dense", "dense.csv", 4),
        ("likelihood", "exact", "exact.csv", 1),
        ("likelihood", "hard", "hard.csv", 1),
        ("robustness", "errors", "errors.csv", 20),
        ("zoo", "alarms", "alarms.csv", 4),
    ],
)
def test_a_benchmark_runs_and_goes_on(tmp_path, run, name, part, table, lines):
    first = run(name, tmp_path, part, "--quick")
    rows = list(csv.DictReader((tmp_path / table).read_text().splitlines()))
    assert len(rows) == lines
    before = files(tmp_path)
    cell = sorted((tmp_path / part / "cells").iterdir())[0]
    content = cell.read_bytes()
    cell.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    with pytest.warns(bs.BayesingWarning, match=f"{cell.name}: .*damaged"):
        again = run(name, tmp_path, part, "--quick")
    assert again.out == first.out and again.err.startswith("1 of ")
    assert files(tmp_path) == before


def test_walks_and_growth_are_measured(tmp_path, run):
    said = run("scale", tmp_path, "spins", "square", "growth", "--quick").out
    (row,) = csv.DictReader((tmp_path / "spins.csv").read_text().splitlines())
    assert int(row["n"]) == 4000 and float(row["within"]) > 0.2 and 0 < float(row["peak_GiB"]) < 4
    assert "n = N = 300: " in said and "strength spectral: seconds n^" in said and "BROKEN" not in said
    rows = list(csv.DictReader((tmp_path / "growth.csv").read_text().splitlines()))
    assert [(int(row["n"]), int(row["N"])) for row in rows[:3]] == [(12, 200), (12, 400), (24, 200)]


def test_files_are_read_and_compared(tmp_path, run):
    said = run("scale", tmp_path, "reading", "--quick").out
    rows = list(csv.DictReader((tmp_path / "reading.csv").read_text().splitlines()))
    assert {row["kind"] for row in rows} == {"csv", "npy", "parquet"} and len(rows) == 11
    ours = [row for row in rows if row["program"].startswith("bayesing")]
    assert all(row["J"] == row["J_in_memory"] and float(row["peak_megabytes"]) > 20 for row in ours)
    assert said.count("holds") == 2 and "BROKEN" not in said
    assert run("scale", tmp_path, "reading", "--quick").out == said  # from finished cells


def test_kinds_of_data_are_fitted_and_drawn(tmp_path, run):
    said = run("zoo", tmp_path, "kinds", "cost", "--quick").out
    rows = list(csv.DictReader((tmp_path / "kinds.csv").read_text().splitlines()))
    assert [row["kind"] for row in rows] == ["dense 0.6 small", "rare blocks"]
    assert all(float(row["gain"]) > float(row["gain_error"]) > 0 for row in rows)
    assert said.count("promised") == 4 and "diagnosis, n = 20, N = 40" in said
    assert (tmp_path / "kinds.png").exists()


def test_kinds_of_data_have_the_truth_that_they_say(imported):
    kinds = imported("zoo_data").KINDS
    assert len(kinds) >= 27 and "recording" not in kinds
    for name in (
        "copies",
        "sparse signs",
        "rare blocks",
        "independent rare",
        "lattice 0.44",
        "ferromagnet 1.2",
    ):
        data = kinds[name](0)
        assert data.spins.dtype == data.held_out.dtype == np.int8 and len(data.held_out) > 1000
        s = np.concatenate([data.spins, data.held_out]).astype(float)
        # E s_i s_j = E s_j tanh(h_i + sum_k J_ik s_k) for i != j: true of these couplings and no others
        rest = s - np.tanh(s @ data.model.couplings + data.model.fields)
        error = np.sqrt(rest.var(axis=0) / len(s))[:, None]
        pairs = (rest.T @ s / len(s) / error)[~np.eye(s.shape[1], dtype=bool)]
        assert abs(np.mean(pairs**2) - 1) < 0.35, name
    mean = imported("zoo_data").mean_active
    assert mean(kinds["bursts"](0).spins) == pytest.approx(
        60 * (0.98 * 0.01 + 0.02 * 0.15), abs=5 * 0.0105
    )  # standard errors
    assert np.array_equal(kinds["copies"](1).spins, kinds["copies"](1).spins)
    assert kinds["rare blocks"](0).J == pytest.approx(np.sqrt(25 * (50 / 300) * 0.35**2))
    assert kinds["bursts"](0).J is None and kinds["independent"](0).J == 0


def test_edges_are_found_scored_and_drawn(tmp_path, run):
    said = run("edges", tmp_path, "graphs", "other", "real", "compare", "cost", "--quick").out
    rows = list(csv.DictReader((tmp_path / "graphs.csv").read_text().splitlines()))
    assert [row["rule"] for row in rows] == ["sparse", "laplace", "L1 + EBIC", "gaussian"] * 2
    for row in rows[::4]:
        pairs, probable, edges = (
            np.array(row[f"bin_{name}"].split(), float).sum() for name in ("pairs", "said", "true")
        )
        assert pairs == 16 * 15 / 2 and edges == int(row["edges"])
        assert probable == pytest.approx(edges, abs=4 * np.sqrt(edges))
        assert float(row["F1"]) > 0.8 and int(row["declared_true"]) <= int(row["declared"])
    assert "error of couplings below Laplace's" in said and "times a Gaussian fit" in said and "GiB" in said
    assert (tmp_path / "graphs.png").exists() and (tmp_path / "compare.csv").exists()


def test_missing_cells_are_fitted_predicted_and_drawn(tmp_path, run):
    said = run("missing", tmp_path, "--quick").out
    rows = list(csv.DictReader((tmp_path / "recovery.csv").read_text().splitlines()))
    rules = ["complete data", "missing cells kept", "listwise", "mode", "iterative", "multiple"]
    assert [row["rule"] for row in rows] == rules
    for row in rows:
        assert float(row["rmse"]) > 0 and 0 <= float(row["covered"]) <= 1 and float(row["held_out"]) < 0
        assert 0 < int(row["rows"]) <= 100 and (int(row["rows"]) == 100) == (row["rule"] != "listwise")
    rows = list(csv.DictReader((tmp_path / "impute.csv").read_text().splitlines()))
    for row in rows:
        cells, _, up = (
            np.array(row[f"bin_{name}"].split(), float).sum() for name in ("cells", "said", "true")
        )
        assert cells == int(row["cells"]) > up > 0
    assert "intervals of couplings cover" in said and "held-out likelihood not worse than any rival's" in said
    assert "log score not worse" in said and "GiB" in said and "keep: " in said
    assert (tmp_path / "recovery.png").exists() and (tmp_path / "edges.csv").exists()


def test_series_are_fitted_both_ways(tmp_path, run):
    said = run("series", tmp_path, "--quick").out
    for row in csv.DictReader((tmp_path / "truth.csv").read_text().splitlines()):
        assert int(row["lag"]) > 3 and 10 < float(row["effective"]) < 300
        assert float(row["naive_J"]) > 0 and 0 < float(row["our_J_error"]) < 1
    drifts = [row["drifts"] for row in csv.DictReader((tmp_path / "drift.csv").read_text().splitlines())]
    assert drifts == ["0", "1"]  # without a drift, and with one
    assert "as a series" in said and "false alarms" in said and "times a fit of all rows" in said


def test_a_chain_has_the_means_of_its_model(imported):
    series = imported("series_data")
    known = bs.IsingModel([[0, 0.6, 0], [0.6, 0, -0.4], [0, -0.4, 0]], [0.3, -0.2, 0.1])
    rows = series.chain(known, 40_000, 2.0, 0)
    # rows remember a little: an error of about 0.01
    assert np.abs(rows.mean(axis=0) - known.means()).max() < 0.03
    assert np.abs(rows.T @ rows.astype(float) / 40_000 - known.correlations())[0, 1] < 0.03


def test_cells_go_missing_as_their_mechanism_says(imported):
    missing = imported("missing_data")
    spins = bs.simulate(15, 4000, J=0.5, H=0.2, seed=0).spins
    markers, share = [1, 4, 7], 0.2
    gaps = {
        name: np.isnan(missing.with_gaps(spins, name, share, markers, 0))
        for name in ("completely", "given others")
    }
    high = spins[:, markers].sum(axis=1) > 0
    for name, where in gaps.items():
        assert where.mean() == pytest.approx(share, abs=4 * 0.02)  # of rows whose cells go together
        more = where[high].mean() - where[~high].mean()
        assert (abs(more) < 4 * 2 * np.sqrt(share / spins.size)) == (name == "completely")
    assert not gaps["given others"][:, markers].any() and gaps["completely"][:, markers].any()
    others = np.delete(np.arange(15), markers)
    for row in (spins[:, markers] == 1).all(axis=1), (spins[:, markers] == -1).all(axis=1):
        # given the markers, whether a cell is missing says nothing of it
        cells, where = spins[np.ix_(row, others)], gaps["given others"][np.ix_(row, others)]
        if where.sum() > 100:
            by_chance = 2 * np.sqrt(1 / where.sum() + 1 / (~where).sum())
            assert abs(np.mean([cells[where].mean() - cells[~where].mean()])) < 4 * by_chance


def test_rows_are_completed_and_fits_pooled_as_the_rivals_say(imported):
    rivals, missing = imported("missing_rivals"), imported("missing_data")
    X = np.array([[1, 1, -1], [1, np.nan, 1], [-1, 1, np.nan], [np.nan, -1, 1], [1, 1, 1.0]])
    assert np.array_equal(rivals.listwise(X), X[[0, 4]]) and rivals.of_listwise(X) is None
    assert np.array_equal(rivals.mode(X)[1:4], [[1, 1, 1], [-1, 1, 1], [1, -1, 1]])
    assert np.allclose(rivals.column_means(X)[0], np.array([3.5, 3.5, 3.5]) / 5)
    fits = [
        missing.Found(np.full((2, 2), J), np.full((2, 2), e), np.array([h]), np.array([e]), 5)
        for J, e, h in ((0.1, 0.3, 1.0), (0.5, 0.4, 2.0))
    ]
    pooled = rivals.pooled(fits)
    assert np.allclose(pooled.couplings, 0.3) and np.allclose(pooled.fields, 1.5)
    assert np.allclose(pooled.errors**2, (0.09 + 0.16) / 2 + 1.5 * 0.08)
    assert np.allclose(pooled.field_errors**2, (0.09 + 0.16) / 2 + 1.5 * 0.5)


def test_predictions_of_missing_cells_are_better_than_the_means(imported):
    rivals, missing = imported("missing_rivals"), imported("missing_data")
    model = bs.IsingModel(0.3 * (np.ones((5, 5)) - np.eye(5)), -0.1)
    spins = bs.sample(model, 600, seed=0)
    X = missing.with_gaps(spins, "completely", 0.2, [], 0)
    hidden = np.isnan(X)

    def score(up):
        p = up[hidden]
        assert up.shape == X.shape and p.min() > 0 and p.max() < 1
        return np.log(np.where(spins[hidden] > 0, p, 1 - p)).mean()

    means = score(rivals.column_means(X))
    others = [
        score(rivals.clipped(rivals.regressed(X), 0.03)),
        score(rivals.clipped(rivals.neighbours(X, 20), 0.03)),
        score(rivals.logistic(X, 0.1)),
    ]
    assert min(others) > means + 0.03
    ours = score(missing.fit(X).impute(X))
    assert ours > max(others)


def test_likelihood_of_a_model_is_that_of_enumeration(imported):
    model = bs.IsingModel([[0, 0.3, -0.2], [0.3, 0, 0.5], [-0.2, 0.5, 0]], [0.1, -0.4, 0.2])
    spins = np.array([[1, -1, 1], [-1, -1, 1], [1, 1, 1], [1, -1, -1]], dtype=np.int8)
    value, error = imported("methods").log_likelihood(model, spins, 100)
    assert value == pytest.approx(-model.energy(spins).mean() - model.log_partition()) and error == 0


def test_networks_have_the_edges_that_they_say(imported):
    data, rng = imported("edge_data"), np.random.default_rng(0)
    ring = {"graph": "small world", "n": 61, "degree": 4, "couplings": "positive", "size": 0.3}
    for rewiring, least, most in (
        (0.0, 0, 0),
        (0.5, 35, 87),
    ):  # 61 ± 5.5 of 122 edges, few of them back on the ring
        J = data.model_of(ring | {"rewiring": rewiring}, rng).couplings
        assert np.count_nonzero(J) == 2 * 122 and not J.diagonal().any()
        i, j = np.nonzero(np.triu(J))
        assert least <= np.sum((j - i > 2) & (j - i < 59)) <= most
    kind = {"graph": "random", "n": 301, "degree": 20, "size": 0.4}
    for couplings in ("signs", "gaussian", "exponential"):
        J = data.pairs_of(data.model_of(kind | {"couplings": couplings}, rng).couplings)
        there = J[J != 0]
        assert len(there) == pytest.approx(3010, abs=4 * np.sqrt(3010))
        assert np.mean(there**2) == pytest.approx(
            0.16, abs=4 * 0.16 * np.sqrt(5 / 3010)
        )  # kurtosis 6 at most
        assert np.mean(there > 0) == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(3010))
    J = data.model_of(
        {"graph": "blocks", "n": 15, "block": 5, "couplings": "positive", "size": 0.35}, rng
    ).couplings
    assert np.array_equal(J, 0.35 * (np.kron(np.eye(3), np.ones((5, 5))) - np.eye(15)))


def test_some_edges_of_one_group_are_changed(imported):
    groups, rng = imported("edge_groups"), np.random.default_rng(0)
    J = (
        imported("edge_data")
        .model_of({"graph": "random", "n": 25, "degree": 4, "couplings": "signs", "size": 0.4}, rng)
        .couplings
    )
    other = groups.changed(J, 0.2, [0.0, -1.0, 2.0], rng)
    differ = np.triu(other != J)
    assert np.array_equal(other, other.T) and differ.sum() == np.ceil(0.2 * np.count_nonzero(np.triu(J)))
    assert set(np.round(other[differ] / J[differ], 12)) <= {0.0, -1.0, 2.0}
    assert np.array_equal(groups.changed(J, 0.0, [0.0], rng), J)


@pytest.mark.filterwarnings("ignore:.*penalty.*:FutureWarning")
def test_regressions_with_an_l1_penalty_are_those_of_scikit_learn(imported):
    from sklearn.linear_model import LogisticRegression

    rivals, n, N = imported("edge_rivals"), 9, 150
    kind = {"graph": "random", "n": n, "degree": 3, "couplings": "gaussian", "size": 0.4, "field": -0.3}
    data = rivals.Regressions.of(imported("edge_data").network(kind, "test", N, 20, 0).spins)
    empty, first = data.start()

    def peer(i, penalty):
        """Intercept and coefficients of spin i, and ln L."""
        X, y = np.delete(data.X[:, 1:], i, axis=1), data.Y[:, i]
        settings = {"penalty": "elasticnet", "l1_ratio": 1, "solver": "saga", "tol": 1e-8, "max_iter": 20_000}
        found = LogisticRegression(C=1 / (N * penalty), random_state=0, **settings).fit(X, y)
        p = found.predict_proba(X)[np.arange(N), y.astype(int)]
        return np.array([found.intercept_[0], *found.coef_[0]]), np.log(p).sum()

    for factor in (0.5, 0.1, 0.01):
        B, log_likelihood = rivals.solve(data, np.arange(n), factor * first, empty)
        for i in range(n):
            ours = np.delete(B[:, i], i + 1)
            theirs, value = peer(i, factor * first[i])
            assert np.array_equal(ours[1:] != 0, theirs[1:] != 0) and B[i + 1, i] == 0
            assert np.allclose(ours, theirs, atol=2e-4) and log_likelihood[i] == pytest.approx(
                value, abs=1e-3
            )
    B, log_likelihood = rivals.solve(data, np.arange(n), first, empty)
    assert not B[1:].any() and np.allclose(log_likelihood, rivals.null_log_likelihood(data))
    chosen = rivals.chosen_by_ebic(data, 0.25)
    assert n < np.count_nonzero(chosen[1:]) < n * (n - 1) / 2
    for i in range(n):  # the first half of the path: beyond it the EBIC is larger
        path = [peer(i, first[i] * 1e-4 ** (k / 99)) for k in range(50)]
        edges = [np.count_nonzero(b[1:]) for b, _ in path]
        ebic = [
            -2 * value + k * np.log(N) + 0.5 * k * np.log(n - 1)
            for (_, value), k in zip(path, edges, strict=True)
        ]
        assert np.allclose(np.delete(chosen[:, i], i + 1), path[np.argmin(ebic)][0], atol=2e-4)


def test_edges_of_the_rival_need_both_of_their_regressions(imported):
    rivals, pairs_of = imported("edge_rivals"), imported("edge_data").pairs_of
    kind = {"graph": "random", "n": 15, "degree": 3, "couplings": "signs", "size": 0.4, "spread": 0.3}
    net = imported("edge_data").network(kind, "test", 8000, 20, 0)
    few = net.spins[:400]
    data = rivals.Regressions.of(few)
    found = rivals.chosen_by_ebic(data, 0.25)
    assert np.allclose(found, rivals.chosen_by_ebic(data, 0.25, whole=True), atol=1e-4)
    there, J = found[1:] != 0, rivals.ising_fit(few)
    assert np.any(there != there.T) and np.array_equal(J != 0, there & there.T) and np.array_equal(J, J.T)
    J = rivals.ising_fit(np.insert(few, 4, 1, axis=1))
    assert not J[4].any() and np.array_equal(np.delete(np.delete(J, 4, 0), 4, 1), rivals.ising_fit(few))
    J = pairs_of(rivals.ising_fit(net.spins))
    assert np.all(J[net.couplings != 0] * net.couplings[net.couplings != 0] > 0)
    assert np.linalg.norm(J - net.couplings) < 0.2 * np.linalg.norm(net.couplings)


def test_auto_in_the_benchmark_is_that_of_the_library(imported):
    accuracy, front = imported("accuracy"), imported("front")
    table = front.load(BENCHMARKS / "accuracy.py", quick=True)["estimates"]
    spins = bs.simulate(20, 200, J=0.8, sweeps=4, seed=3).spins
    found = {row["method"]: row for row in accuracy.estimates(SimpleNamespace(**table), spins)}
    eb = bs.EmpiricalBayes(random_state=0).fit(spins)
    assert (found["auto"]["estimate"], found["auto"]["taken"]) == (eb.J_, eb.method_)
    assert found["uncorrected"]["estimate"] != found["spectral"]["estimate"] > 0


def test_results_of_other_settings_are_refused_before_any_work(tmp_path, run, capsys):
    (tmp_path / "errors").mkdir()
    (tmp_path / "errors" / "settings.json").write_text("{}")
    with pytest.raises(SystemExit):
        run("robustness", tmp_path, "--quick")
    assert "errors: holds results of other settings" in capsys.readouterr().err
    assert not (tmp_path / "beyond").exists()


def test_an_unknown_part_is_one_sentence(tmp_path, run, capsys):
    with pytest.raises(SystemExit):
        run("robustness", tmp_path, "nonsense")
    assert capsys.readouterr().err.endswith("PART must be one of beyond, errors: found 'nonsense'.\n")


def test_a_benchmark_is_a_script(tmp_path):
    command = [
        sys.executable,
        str(BENCHMARKS / "couplings.py"),
        str(tmp_path),
        "sparse",
        "--quick",
        "--jobs",
        "2",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "2/2 cells, 100% of the work" in result.stderr and "laplace, |J|/error" in result.stdout
    assert (tmp_path / "sparse.csv").exists()


def test_hidden_causes_are_found_and_drawn(tmp_path, run):
    said = run("hidden", tmp_path, "planted", "gaps", "bursts", "digits", "--quick").out
    rows = list(csv.DictReader((tmp_path / "gaps.csv").read_text().splitlines()))
    assert [row["rule"] for row in rows] == ["kept", "kept", "listwise", "mode", "auto"]
    assert float(rows[1]["loss"]) < min(float(row["loss"]) for row in rows[2:4]) and rows[4]["found"] == "1"
    rows = list(csv.DictReader((tmp_path / "planted.csv").read_text().splitlines()))
    assert (
        [row["tried"] for row in rows if row["chosen"] == "1"]
        == ["0", "1"]
        == [row["units"] for row in rows if row["chosen"] == "1"]
    )
    assert (tmp_path / "planted.png").exists() and "overlap 0.9" in said and "P(K >= 5)" in said
    rows = list(csv.DictReader((tmp_path / "digits.csv").read_text().splitlines()))
    assert [row["program"] for row in rows] == ["bayesing", "BernoulliRBM"]
    assert float(rows[0]["held_out"]) > float(rows[1]["held_out"])


def test_machines_of_bits_are_those_of_spins(imported):
    """exp(b v + c h + v W h) over all v and h in {0, 1}, against the spins that they are turned into."""
    digits = imported("hidden_digits")
    rng = np.random.default_rng(0)
    W, b, c = rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=3)
    v, h = (bs.ising.all_states(size) > 0 for size in (4, 3))
    p = np.exp((v @ b)[:, None] + h @ c + v @ W @ h.T).sum(axis=1)
    found = digits.from_bits(W, b, c).log_likelihood(bs.ising.all_states(4))
    assert found == pytest.approx(np.log(p / p.sum()))


def test_overlaps_pair_units(imported):
    overlaps = imported("hidden_planted").overlaps
    W = np.eye(4)[:, :3]
    assert overlaps(W[:, [2, 0]] * [-2.0, 3.0], W).tolist() == [1, 0, 1]


def test_a_cluster_gives_the_same_bits(tmp_path, run):
    said = run("scale", tmp_path, "dask", "--quick").out
    rows = list(csv.DictReader((tmp_path / "dask.csv").read_text().splitlines()))
    assert [row["workers"] for row in rows] == ["0", "2"]
    assert "holds  the same bits with any number of workers" in said
