import csv
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets

import bayesing as bs


def test_senate_by_its_rule():
    """Voters with less than 4% of the votes missing, then roll calls with none missing, one cell at a time."""
    data = bs.load_senate109(missing="drop")
    assert (
        data.spins.shape == (272, 84)
        and data.spins.dtype == np.int8
        and set(np.unique(data.spins)) == {-1, 1}
    )
    with (Path(bs.__file__).parent / "data" / "senate109.csv").open() as file:
        header, *rows = csv.reader(file)
    assert len(rows) == 645 and len(header) == 102
    voters = [k for k in range(102) if sum(row[k] == "0" for row in rows) < 0.04 * 645]
    assert data.names == tuple(header[k] for k in voters)
    calls = [[int(row[k]) for k in voters] for row in rows if all(row[k] != "0" for k in voters)]
    assert data.spins.tolist() == calls
    assert "Voteview" in data.description
    assert (np.abs(data.spins.mean(axis=0)) < 1).all()


def test_senate_with_missing_votes():
    data = bs.load_senate109()
    votes = np.loadtxt(
        Path(bs.__file__).parent / "data" / "senate109.csv", delimiter=",", skiprows=1, dtype=int
    )
    assert (data.spins == votes).all() and len(data.names) == 102
    stats, again = bs.SpinStatistics.of(data), bs.SpinStatistics.of(np.where(votes == 0, np.nan, votes))
    assert (
        stats.missing == (votes == 0).sum() and stats.names == data.names and (stats.spins() == votes).all()
    )
    assert (stats.cross == again.cross).all() and stats.moments.chi_sg == again.moments.chi_sg
    assert bs.load_senate109(missing="drop").absent is None
    with pytest.raises(ValueError, match='missing must be "drop" or "keep": found 0'):
        bs.load_senate109(missing=0)


def test_digits_are_inked_where_half_is():
    data = bs.load_digits()
    ink = datasets.load_digits().images
    assert data.spins.shape == (1797, 64)
    assert ((data.spins > 0) == (ink.reshape(-1, 64) > 7.5)).all()
    assert data.names[11] == "pixel_1_3" and (data.spins[5, 11] > 0) == (ink[5, 1, 3] >= 8)


@pytest.mark.filterwarnings("ignore::bayesing.MemoryWarning")  # votes in sequence
def test_estimators_take_a_dataset_with_its_names():
    data = bs.load_senate109(missing="drop")
    assert (data.rows.unpack() == data.spins).all()
    stats = bs.SpinStatistics.of(data)
    assert stats.names == data.names and stats.encoding == "±1" and (stats.spins() == data.spins).all()
    with pytest.warns(bs.AnotherKindWarning, match="Correlations are positive on average"):
        eb = bs.EmpiricalBayes("spectral").fit(data)
    assert eb.names() == list(data.names)
    with pytest.warns(bs.AnotherKindWarning):
        assert eb.gamma_ == bs.EmpiricalBayes("spectral").fit(data.spins).gamma_
    with pytest.warns(bs.CheckWarning):
        bm = bs.BoltzmannMachine("spectral").fit(data)
    first = bm.strongest(1)[0]
    assert first.name_i == data.names[first.i] and first.name_j == data.names[first.j]
    assert bm.score(data) == bm.score(stats)
