import re
import subprocess
import sys
from html import unescape

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesing as bs
from bayesing.exceptions import InputError
from bayesing.report import from_python
from bayesing.report.analysis import analyse
from bayesing.report.request import Choices
from bayesing.report.write import write_report
from pages import COMMAND, TITLE, Outline, text_of

from samples import random_spins


def test_the_same_command_makes_the_same_report(made, tmp_path):
    write_report(tmp_path / "again.html", made.source, Choices(simulations=40), TITLE, COMMAND)
    again = (tmp_path / "again.html").read_text(encoding="utf-8")

    def without_time(text):
        return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d [+-]\d{4}|>\d+ s<", "", text)

    assert without_time(again) == without_time(made.text)
    assert len(without_time(again)) < len(again)
    other = analyse(made.source, Choices(simulations=0, seed=1)).held_out.prediction.pairs.observed
    assert other.tolist() != made.analysis.held_out.prediction.pairs.observed.tolist()


@pytest.fixture
def no_pictures(monkeypatch):
    monkeypatch.setattr("bayesing.report.write.pictures", lambda *_: [])


@pytest.mark.usefixtures("no_pictures")
def test_from_python(tmp_path):
    X = random_spins(50, 5)
    path = tmp_path / "r.html"
    assert bs.write_report(X, path, simulations=0, prior="laplace", seed=3) is None
    html = Outline(path.read_text(encoding="utf-8"))
    text = text_of(html)
    assert (
        [e.text for e in html.all("h1")] == ["r"]
        and "50 samples of 5 binary variables" in text
        and "±1" in text
    )
    assert f"bs.write_report(X, '{path}', prior=\"laplace\", simulations=0, seed=3)" in text
    assert "as asked with simulations=0" in text and "--" not in text
    with pytest.raises(InputError, match="overwrite it with force=True"):
        bs.write_report(X, path, simulations=0)
    bs.write_report(X, path, title="A <b>", simulations=0, force=True)
    text = unescape(path.read_text(encoding="utf-8"))
    assert "<h1>A <b></h1>" in text and 'title="A <b>", simulations=0)' in text  # force is no part of it


@pytest.mark.usefixtures("no_pictures")
def test_wrong_calls_from_python(tmp_path):
    X = random_spins(12, 5)
    with pytest.raises(ValueError, match=r"expected the name of a file to write that ends in \.html"):
        bs.write_report(X, tmp_path / "r.pdf")
    with pytest.raises(InputError, match="found simulations=3"):
        bs.write_report(X, tmp_path / "r.html", simulations=3)
    with pytest.raises(ValueError, match="Spins must be ±1"):
        bs.write_report(X + 0.5, tmp_path / "r.html")
    with pytest.raises(ValueError, match="that vary"):
        bs.write_report(np.ones((9, 4)), tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_data_frames_and_records_have_names():
    X = random_spins(12, 3)
    names = ("a", "spins", "c")  # one as of a record
    for frame in (pd.DataFrame((X + 1) // 2, columns=names), pl.DataFrame((X + 1) // 2, schema=names)):
        source = from_python._source(frame, "x")
        assert source.labels == names and source.data.encoding == "0/1"
        np.testing.assert_array_equal(source.data.spins(), X)
    assert from_python._source(pd.DataFrame(X), "x").labels == ("x0", "x1", "x2")
    read = bs.SpinData.of(X, names, "yes/no", ("a note.",))
    source = from_python._source(read, "x")
    assert (source.labels, source.data.encoding, source.notes) == (names, "yes/no", ("a note.",))
    senate = bs.load_senate109(missing="drop")
    assert from_python._source(senate, "x").data.names == senate.names
    sim = bs.simulate(n_spins=4, n_samples=9, J=0.5, seed=0)
    source = from_python._source(sim, "x")
    assert source.data.names is None and source.labels == ("x0", "x1", "x2", "x3")
    np.testing.assert_array_equal(source.data.spins(), sim.spins)


def test_jinja_is_loaded_when_a_report_is_written():
    code = "import sys, bayesing.report.write; print('jinja2' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_what_a_coupling_is_is_not_explained_where_there_is_none(made, tmp_path):
    spins = bs.simulate(n_spins=2, n_samples=50, J=0.0, seed=4).spins
    bs.write_report(spins, tmp_path / "none.html", simulations=0)
    none, said = (
        (tmp_path / "none.html").read_text(encoding="utf-8"),
        "A coupling (an edge of the network) is what",
    )
    assert "All of them are 0: the data show none." in none and said not in none
    assert said in made.text
