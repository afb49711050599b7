"""Round trips: what is written, read by others and by us, is what was fitted."""

import csv
import json
import sys
import types
import warnings
import zipfile
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import bayesing as bs
from bayesing import export
from bayesing.export import Choices, Fit, check_size, read_couplings, write, write_fields

from samples import driven, with_gaps

HOSTILE = [
    "=cmd|'/c calc'!A0",
    "+1",
    "-2",
    "@x",
    "\x1b[2Jred",
    'a "b" <c> & d',
    "naïve, 名前",
    "'tis",
    "t\tu",
]
SIM = bs.simulate(9, 300, J=0.9, H=-0.2, seed=4)


def fit(method="pseudolikelihood", X=SIM.spins, names=HOSTILE, **how):
    frame = pd.DataFrame(X, columns=names[: X.shape[1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        return bs.BoltzmannMachine(method, **how).fit(frame)


@pytest.fixture(scope="module")
def bm():
    return fit()


@pytest.fixture(scope="module")
def caused():
    return fit("likelihood", driven(), n_hidden=1)


@pytest.fixture
def networkx():
    return pytest.importorskip("networkx", reason="graphs of networkx need networkx")


# ------------------------------------------------------------------------------------------- whole fits


@pytest.mark.parametrize(
    "how",
    [
        {"method": "pseudolikelihood"},
        {"method": "spectral"},
        {"method": "pseudolikelihood", "prior": "sparse"},
        {"method": "likelihood", "random_state": 3},
        {"method": "likelihood", "X": driven(), "n_hidden": 1},
        {"method": "likelihood", "X": with_gaps(SIM.spins, 0.1)},
        {"method": "naive_mean_field"},
        {"method": "pseudolikelihood", "gamma": 0.4, "names": None},
    ],
    ids=lambda how: "-".join(str(v) for v in how.values() if not isinstance(v, np.ndarray)),
)
def test_a_fit_comes_back_whole(how, tmp_path):
    X = how.get("X", SIM.spins)
    named = "names" not in how
    bm = fit(**how) if named else bs.BoltzmannMachine("pseudolikelihood", gamma=0.4).fit(X)
    bm.save(tmp_path / "fit.npz")
    again = bs.BoltzmannMachine.load(tmp_path / "fit.npz")
    assert again.get_params() == bm.get_params() and repr(again) == repr(bm)
    assert again.names() == bm.names() and again.n_features_in_ == bm.n_features_in_
    assert hasattr(again, "feature_names_in_") == named
    for name in ("couplings_", "coupling_errors_", "fields_", "hidden_couplings_", "hidden_coupling_errors_"):
        assert np.array_equal(getattr(again, name), getattr(bm, name)), name
    for name in ("field_errors_", "edge_probabilities_", "false_sign_rates_", "hidden_fields_"):
        found, expected = getattr(again, name), getattr(bm, name)
        assert (found is None and expected is None) or np.array_equal(found, expected), name
    for name in ("gamma_", "penalty_", "method_", "reason_", "check_", "certificate_"):
        assert getattr(again, name) == getattr(bm, name), name
    assert again.answer_.strength == bm.answer_.strength and again.answer_.gains == bm.answer_.gains
    assert [str(w) for w in again.answer_.warnings] == [str(w) for w in bm.answer_.warnings]
    assert [type(w) for w in again.answer_.warnings] == [type(w) for w in bm.answer_.warnings]
    assert again.edges(0.1) == bm.edges(0.1) and again.strongest(4) == bm.strongest(4)
    assert again.fields(encoding="01") == bm.fields(encoding="01")
    rows = pd.DataFrame(X, columns=bm.names()) if named else X
    assert again.score(rows) == bm.score(rows) and again.log_likelihood(rows) == bm.log_likelihood(rows)
    assert (again.sample(20, seed=1) == bm.sample(20, seed=1)).all()
    assert again.entropy() == bm.entropy()


@pytest.mark.parametrize("prior", ["gaussian", "sparse"])
def test_rows_that_remember_are_worth_as_much_as_before(prior, tmp_path):
    bm = fit(X=np.repeat(SIM.spins, 4, axis=0), prior=prior, series=True)
    assert bm.answer_.worth < 0.5
    bm.save(tmp_path / "fit.npz")
    again = bs.BoltzmannMachine.load(tmp_path / "fit.npz")
    for name in ("coupling_errors_", "field_errors_", "false_sign_rates_"):
        assert getattr(again, name) == pytest.approx(getattr(bm, name), rel=1e-12), name
    assert again.answer_.effective_samples == bm.answer_.effective_samples
    assert [str(w) for w in again.answer_.warnings] == [str(w) for w in bm.answer_.warnings]
    plain = fit(X=np.repeat(SIM.spins, 4, axis=0), prior=prior)
    assert bm.fields("01")[0].error > 1.3 * plain.fields("01")[0].error


def test_the_file_is_plain_arrays(bm, tmp_path):
    bm.save(tmp_path / "fit.npz")
    with np.load(tmp_path / "fit.npz", allow_pickle=False) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    assert (found["couplings"] == bm.couplings_).all() and (
        found["coupling_errors"] == bm.coupling_errors_
    ).all()
    assert (found["fields"] == bm.fields_).all() and (found["field_errors"] == bm.field_errors_).all()
    assert found["names"].tolist() == HOSTILE and found["gamma"] == bm.gamma_
    assert found["method"] == "pseudolikelihood" and found["version"] == bs.__version__
    assert json.loads(str(found["about"]))["versions"]["numpy"] == np.__version__
    assert all(array.dtype.kind in "fU" for array in found.values())
    model = bs.IsingModel.load(tmp_path / "fit.npz")
    assert (model.couplings == bm.couplings_).all()


def test_what_a_file_does_not_keep_is_said(caused, tmp_path):
    bm = fit("likelihood")
    bm.save(tmp_path / "fit.npz")
    with pytest.raises(
        bs.InputError, match="posterior needs the data of the fit, which a file does not keep"
    ):
        bs.BoltzmannMachine.load(tmp_path / "fit.npz").posterior(3)
    caused.save(tmp_path / "caused.npz")
    with pytest.raises(ValueError, match=r"found hidden units as well. Use BoltzmannMachine.load"):
        bs.IsingModel.load(tmp_path / "caused.npz")


def changed(path, **arrays):
    with np.load(path) as old:
        whole = {name: old[name] for name in old.files} | arrays
    np.savez(path, **{name: array for name, array in whole.items() if array is not None})


def test_other_files_are_refused_in_a_sentence(bm, tmp_path):
    path = tmp_path / "fit.npz"
    for arrays, message in (
        ({"about": None}, r"fit.npz: expected a fit that was saved, found couplings, "),
        ({"about": np.array("{}")}, r"damaged \('format'\)"),
        ({"about": np.array("nonsense")}, r"damaged \(Expecting value"),
        ({"coupling_errors": np.ones(3)}, r"damaged \(couplings of shape \(9, 9\) and 9 fields\)"),
        ({"fields": None}, r"expected a fit that was saved"),
    ):
        bm.save(path)
        changed(path, **arrays)
        with pytest.raises(bs.InputError, match=message):
            bs.BoltzmannMachine.load(path)
    bm.save(path)
    with np.load(path) as old:
        about = json.loads(str(old["about"]))
    changed(path, about=np.array(json.dumps(about | {"format": 2, "versions": {"bayesing": "9.0"}})))
    with pytest.raises(bs.InputError, match=r"found one of version 9.0. Install it"):
        bs.BoltzmannMachine.load(path)
    path.write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(bs.InputError, match=r"fit.npz: expected a NumPy file"):
        bs.BoltzmannMachine.load(path)
    np.savez(path, spins=np.array([object()], object))
    with pytest.raises(bs.InputError, match="Pickles are not opened"):
        bs.BoltzmannMachine.load(path)


def test_an_unfitted_machine_cannot_be_saved(tmp_path):
    from sklearn.exceptions import NotFittedError

    for leave in ("save", "export"):
        with pytest.raises(NotFittedError):
            getattr(bs.BoltzmannMachine(), leave)(tmp_path / "fit.npz")
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------- networks


def same_graphs(found, expected, names=str):
    """Nodes, edges and all that is known of them."""
    assert {names(node) for node in expected} == set(found)
    assert found.number_of_edges() == expected.number_of_edges() > 0
    for a, b, data in expected.edges(data=True):
        known = found.edges[names(a), names(b)]
        assert {key: known[key] for key in data} == pytest.approx(data)
    for node, data in expected.nodes(data=True):
        known = found.nodes[names(node)]
        for key in ("kind", "field", "error"):
            assert known.get(key) == data.get(key), (node, key)


@pytest.mark.parametrize("encoding", ["±1", "01"])
def test_networks_are_read_by_networkx(bm, tmp_path, networkx, encoding):
    graph = bm.to_networkx(fdr=0.2, encoding=encoding)
    edges = bm.edges(0.2, encoding=encoding)
    assert graph.number_of_nodes() == 9 and graph.number_of_edges() == len(edges) > 3
    for edge in edges:
        data = graph.edges[edge.name_i, edge.name_j]
        assert (data["J"], data["weight"], data["error"]) == (edge.J, abs(edge.J), edge.error)
    assert graph.nodes["+1"]["field"] == bm.fields(encoding)[1].field
    assert graph.graph["gamma"] == bm.gamma_ and graph.graph["encoding"] == encoding

    def shown(name):
        return name.replace("\x1b", r"\x1b").replace("\t", r"\t")

    bm.export(tmp_path / "x.graphml", 0.2, encoding)
    bm.export(tmp_path / "x.gexf", 0.2, encoding)
    for found in (networkx.read_graphml(tmp_path / "x.graphml"), networkx.read_gexf(tmp_path / "x.gexf")):
        same_graphs(found, graph, shown)
    about = networkx.read_graphml(tmp_path / "x.graphml").graph
    assert {key: about[key] for key in graph.graph} == graph.graph
    for name in ("x.graphml", "x.gexf"):
        assert ElementTree.parse(tmp_path / name) and b"\x1b" not in (tmp_path / name).read_bytes()
    bm.export(tmp_path / "x.json", 0.2, encoding)
    whole = networkx.node_link_graph(json.loads((tmp_path / "x.json").read_text()), edges="edges")
    assert whole.number_of_edges() == 36
    whole.remove_edges_from([(a, b) for a, b, there in whole.edges(data="edge") if not there])
    same_graphs(whole, graph)


def test_networkx_can_write_the_graph_itself(networkx, tmp_path):
    graph = fit("spectral", names=list("abcdefghi")).to_networkx()  # whose fields have no errors
    networkx.write_graphml(graph, tmp_path / "x.graphml")
    same_graphs(networkx.read_graphml(tmp_path / "x.graphml"), graph)
    networkx.write_gexf(graph, tmp_path / "x.gexf")


def test_all_couplings_are_edges_at_an_fdr_of_1(bm, networkx):
    assert bm.to_networkx(fdr=1).number_of_edges() == 36
    with pytest.raises(ValueError, match="fdr must be a finite number from 0 to 1"):
        bm.to_networkx(fdr=2)


def test_common_causes_are_nodes(caused, networkx, tmp_path):
    graph = caused.to_networkx()
    assert graph.nodes["cause 1"]["kind"] == "cause" and graph.nodes["+1"]["kind"] == "spin"
    assert graph.nodes["cause 1"]["field"] == caused.hidden_fields_[0]
    strongest = int(np.argmax(np.abs(caused.hidden_couplings_[:, 0])))
    name = caused.names()[strongest]
    assert graph.edges[name, "cause 1"]["J"] == caused.hidden_couplings_[strongest, 0]
    caused.export(tmp_path / "x.csv")
    assert sum(pair.name_j == "cause 1" for pair, _ in read_couplings(tmp_path / "x.csv")) == 7
    caused.export(tmp_path / "m.csv", matrix=True, encoding="01")
    assert (np.loadtxt(tmp_path / "m.csv", delimiter=",", skiprows=1) == 4 * caused.model_.couplings).all()
    assert len(caused.fields()) == 8 and caused.fields("01")[0].error is None
    assert caused.fields()[7].error is not None
    pytest.importorskip("dimod", reason="conversion to dimod's models needs dimod")
    assert list(caused.to_bqm().variables)[-1] == "cause 1"


def test_names_that_are_not_different_are_numbers(networkx, tmp_path):
    names = ["a", "a", "b", "c", "d", "e", "f", "g", "h"]
    bm = bs.BoltzmannMachine("spectral").fit(bs.SpinData.of(SIM.spins, tuple(names)))
    graph = bm.to_networkx(0.5)
    assert set(graph) == set(range(9)) and [graph.nodes[k]["name"] for k in range(9)] == names
    for ending in ("graphml", "gexf", "json", "csv", "parquet"):
        bm.export(tmp_path / f"x.{ending}", 0.5)
    same_graphs(networkx.read_graphml(tmp_path / "x.graphml"), graph)
    with pytest.raises(bs.InputError, match="needs columns with different names"):
        bm.export(tmp_path / "m.parquet", matrix=True)
    assert not (tmp_path / "m.parquet").exists()


def test_without_networkx(bm, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"to_networkx needs networkx: pip install 'bayesing\[network\]'"):
        bm.to_networkx()
    for ending in ("graphml", "gexf", "json"):  # which need nothing
        bm.export(tmp_path / f"x.{ending}")


# ------------------------------------------------------------------------------------------- tables


def test_names_in_a_table_are_no_formulas_and_come_back(bm, tmp_path):
    bm.export(tmp_path / "x.csv", fdr=0.1)
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == [*("i", "j", "name_i", "name_j", "J", "error", "probability", "edge")]
    cells = {cell for row in rows[1:] for cell in row[2:4]}
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells) and len(cells) == 9
    found = read_couplings(tmp_path / "x.csv")
    assert [pair for pair, _ in found] == list(bm.pairs())
    assert [pair for pair, flag in found if flag] == sorted(bm.edges(0.1), key=lambda edge: (edge.i, edge.j))
    bm.export(tmp_path / "m.csv", matrix=True)
    with (tmp_path / "m.csv").open(newline="", encoding="utf-8") as file:
        header, *body = csv.reader(file)
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in header)
    assert (np.array(body, float) == bm.couplings_).all()
    with pytest.raises(bs.InputError, match=r"m.csv: expected the columns i, j, name_i"):
        read_couplings(tmp_path / "m.csv")


def test_tables_for_zero_and_one(bm, tmp_path):
    omega, tau = bm.model_.to_zero_one()
    bm.export(tmp_path / "x.csv", encoding="01")
    assert [pair.J for pair, _ in read_couplings(tmp_path / "x.csv")] == omega[np.triu_indices(9, 1)].tolist()
    bm.export(tmp_path / "m.csv", encoding="01", matrix=True)
    assert (np.loadtxt(tmp_path / "m.csv", delimiter=",", skiprows=1) == omega).all()
    assert write_fields(tmp_path / "f.csv", Fit.of(bm), Choices(encoding="01")) == "9 thresholds"
    fields = pd.read_csv(tmp_path / "f.csv")
    assert fields.field.to_numpy() == pytest.approx(tau, rel=1e-15) and fields.name[0].startswith("'=")
    assert (fields.error > 0).all()


@pytest.mark.parametrize("package", ["pyarrow", "polars"])
def test_parquet(bm, tmp_path, package, monkeypatch):
    pytest.importorskip(package, reason="Parquet needs pyarrow or polars")
    if package == "polars":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    bm.export(tmp_path / "x.parquet")
    bm.export(tmp_path / "m.parquet", matrix=True)
    monkeypatch.undo()
    frame = pd.read_parquet(tmp_path / "x.parquet")
    pd.testing.assert_frame_equal(frame, bm.to_frame(), check_dtype=False)
    matrix = pd.read_parquet(tmp_path / "m.parquet")
    assert list(matrix) == HOSTILE and (matrix.to_numpy() == bm.couplings_).all()


def test_parquet_without_packages(bm, tmp_path, monkeypatch):
    for package in ("pyarrow", "polars"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        bs.InputError, match=r"needs the package pyarrow or polars: pip install 'bayesing\[data\]'"
    ):
        bm.export(tmp_path / "x.parquet")
    assert list(tmp_path.iterdir()) == []


def test_files_are_kept_and_endings_are_known(bm, tmp_path):
    bm.export(tmp_path / "x.json")
    with pytest.raises(bs.InputError, match=r"x.json: the file exists already.*force=True"):
        bm.export(tmp_path / "x.json")
    bm.export(tmp_path / "x.json", force=True)
    for name, how, message in (
        (
            "x.graphm",
            {},
            r"ends in .csv, .graphml, .gexf, .json, .npz, .parquet, found .graphm. Did you mean '.graphml'",
        ),
        ("x", {}, r"found no ending"),
        (
            "x.gexf",
            {"matrix": True},
            r"x.gexf: matrix=True goes with a file that ends in .csv or .parquet, found .gexf",
        ),
        ("x.npz", {"encoding": "01"}, r"a whole fit is kept as it is, with encoding=\"±1\""),
        ("x.csv", {"encoding": "pm"}, r"encoding must be one of ±1, 01: found 'pm'"),
        ("x.csv", {"fdr": -1}, r"fdr must be"),
    ):
        with pytest.raises(ValueError, match=message):
            bm.export(tmp_path / name, **how)
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
    assert set(export.ENDINGS) == {".csv", ".graphml", ".gexf", ".json", ".npz", ".parquet"}


def test_what_was_written_is_said(bm, tmp_path):
    fit = Fit.of(bm)
    assert write(tmp_path / "x.csv", fit) == "36 couplings"
    assert write(tmp_path / "y.csv", fit, Choices(matrix=True)) == "a 9 x 9 matrix"
    edges = len(bm.edges())
    assert write(tmp_path / "x.gexf", fit) == f"9 nodes and {edges} edges"
    assert write(tmp_path / "x.npz", fit) == "the whole fit, 9 spins"
    assert write(tmp_path / "z.csv", fit, Choices(encoding="01")).endswith(
        "for 0/1: four times those of spins"
    )
    assert zipfile.is_zipfile(tmp_path / "x.npz")


# ------------------------------------------------------------------------------------------- draws


def test_draws_for_arviz():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        az = pytest.importorskip("arviz", reason="draws as InferenceData need ArviZ")
    bm = fit("likelihood", names=list("abcdefghi"))
    data = bm.to_inference_data(n_draws=50, seed=1)
    draws = bm.posterior(50, seed=1)
    assert data.posterior.J.dims == ("chain", "draw", "pair") and data.posterior.h.sizes["spin"] == 9
    found = data.posterior.J.sel(pair="b, d").to_numpy()[0]
    assert (found == draws.couplings[:, 1, 3]).all()
    assert (data.posterior.h.sel(spin="i").to_numpy()[0] == draws.fields[:, 8]).all()
    assert data.attrs["inference_library"] == "bayesing"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on one chain
        summary = az.summary(data, var_names=["h"])
        axes = az.plot_posterior(data, var_names=["J"], coords={"pair": ["a, b", "b, d"]})
    assert list(summary.index) == [f"h[{name}]" for name in "abcdefghi"]
    assert summary["mean"].to_numpy() == pytest.approx(draws.fields.mean(axis=0), abs=6e-4)
    assert len(np.ravel(axes)) == 2
    import matplotlib.pyplot as plt

    plt.close("all")


def test_arviz_of_tomorrow_and_none(monkeypatch):
    """ArviZ 1.0 has no InferenceData, and takes groups by name."""
    bm = fit("likelihood", names=list("abcdefghi"))
    module = types.SimpleNamespace(from_dict=lambda groups, coords, dims: (groups, coords, dims))
    monkeypatch.setitem(sys.modules, "arviz", module)
    groups, coords, dims = bm.to_inference_data(n_draws=3)
    assert (
        groups["posterior"]["J"].shape == (1, 3, 36) and len(coords["pair"]) == 36 and dims["h"] == ["spin"]
    )
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match="to_inference_data needs ArviZ: pip install arviz"):
        bm.to_inference_data(n_draws=3)


def test_draws_need_a_posterior(bm):
    with pytest.raises(bs.InputError, match='posterior needs method="likelihood": found pseudolikelihood'):
        bm.to_inference_data()


def test_numbers_that_are_not_finite_are_null(bm, tmp_path):
    fit = Fit.of(bm)
    kept = replace(fit.answer.couplings, field_errors=np.full(9, np.inf))
    fit = replace(fit, answer=replace(fit.answer, couplings=kept))
    write(tmp_path / "x.json", fit)
    nodes = json.loads((tmp_path / "x.json").read_text(), parse_constant=pytest.fail)["nodes"]
    assert [node["error"] for node in nodes] == [None] * 9
    write(tmp_path / "x.graphml", fit)
    assert 'node-error">' not in (tmp_path / "x.graphml").read_text()


@pytest.mark.parametrize(
    ("name", "choices", "n", "allowed"),
    [
        ("a.csv", {}, 4400, True),
        ("a.csv", {}, 4500, False),
        ("a.graphml", {}, 4500, False),
        ("a.csv", {"top": 1000}, 100_000, True),
        ("a.parquet", {}, 100_000, True),
        ("a.parquet", {"matrix": True}, 4500, False),
        ("a.npz", {}, 30_000, True),
        ("a.npz", {}, 30_001, False),
    ],
)
def test_gigabytes_are_not_written_unasked(name, choices, n, allowed):
    if allowed:
        check_size(name, Choices(**choices), n)
    else:
        with pytest.raises(ValueError, match=rf"{name}: expected at most 10,000,000 pairs .*top"):
            check_size(name, Choices(**choices), n)


def test_the_strongest_alone_are_written(tmp_path):
    bm = bs.BoltzmannMachine("spectral").fit(bs.simulate(12, 300, J=0.6, H=0.2, seed=1).spins)
    for name in ("top.csv", "top.parquet"):
        write(tmp_path / name, Fit.of(bm), Choices(top=5))
    strongest = [(c.i, c.j) for c in bm.strongest(5)]
    edges = {(c.i, c.j) for c in bm.edges()}
    rows = read_couplings(tmp_path / "top.csv")
    assert [(c.i, c.j) for c, _ in rows] == strongest
    assert [flag for _, flag in rows] == [pair in edges for pair in strongest]
    table = pd.read_parquet(tmp_path / "top.parquet")
    assert list(zip(table["i"], table["j"], strict=True)) == strongest
