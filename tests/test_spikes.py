from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesing as bs
from bayesing.io import spikes


def slowly(ticks, width, start, K):
    """The definition, in whole numbers: +1 where start + k width <= t < start + (k + 1) width for any spike."""
    return [
        [1 if any(start + k * width <= t < start + (k + 1) * width for t in train) else -1 for train in ticks]
        for k in range(K)
    ]


trains = st.lists(st.lists(st.integers(-50, 300), max_size=12), min_size=2, max_size=4)


@given(
    trains,
    st.integers(1, 25),
    st.integers(-20, 20),
    st.integers(80, 300),
    st.sampled_from([1e-3, 0.02, 1 / 3, 7.3]),
)
@settings(max_examples=200, deadline=None)
def test_words_follow_the_definition_at_every_edge(ticks, width, start, stop, tick):
    """Times at whole multiples of a tick that floating point cannot hold, in any order, with spikes outside."""
    arrays = [np.array(train, dtype=float) * tick for train in ticks]
    K = (stop - start) // width
    data = bs.from_spike_trains(arrays, bin=width * tick, t_start=start * tick, t_stop=stop * tick)
    np.testing.assert_array_equal(data.spins, slowly(ticks, width, start, K))
    outside = sum(not start <= t < start + K * width for train in ticks for t in train)
    said = [note for note in data.notes if "outside" in note]
    assert [note.split(" ")[0] for note in said] == ([str(outside)] if outside else [])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_multiples_of_the_bin_are_where_bins_begin(dtype):
    k = np.arange(20_000)
    times = (k * 0.02).astype(dtype)
    assert (np.floor(times.astype(float) / 0.02) != k).any()  # or there would be nothing to test
    data = bs.from_spike_trains([times, times[::2]], bin=0.02)
    assert data.spins.shape == (20_000, 2)
    assert (
        (data.spins[:, 0] == 1).all()
        and (data.spins[::2, 1] == 1).all()
        and (data.spins[1::2, 1] == -1).all()
    )
    just_before = [float(Fraction(j) / 50 - Fraction(1, 10**6)) for j in range(1, 500)]  # 5e-5 of a bin
    inside = bs.from_spike_trains([just_before, []], bin=0.02, t_stop=10).spins
    assert (inside[:499, 0] == 1).all() and inside[499, 0] == -1


def test_the_window():
    times = [[0.5, 1.5, 2.5], [3.2]]
    assert bs.from_spike_trains(times, bin=1).spins.T.tolist() == [[1, 1, 1, -1], [-1, -1, -1, 1]]
    data = bs.from_spike_trains(times, bin=1, t_start=1, t_stop=3.9)  # of which 0.9 is no bin
    assert data.spins.T.tolist() == [[1, 1], [-1, -1]]
    assert data.notes[0] == "2 of 4 spikes lie outside of the bins, from 1 to 3, and are left out."
    assert bs.from_spike_trains([[-1.5], [0.5]], bin=1, t_start=-2).spins.T.tolist() == [
        [1, -1, -1],
        [-1, -1, 1],
    ]
    assert bs.from_spike_trains([[], []], bin=1, t_stop=3).spins.tolist() == [[-1, -1]] * 3
    assert bs.from_spike_trains([[2.0], []], bin=1).spins[:, 0].tolist() == [-1, -1, 1]


def test_notes_and_names():
    data = bs.from_spike_trains({"u1": [0.1, 0.2, 1.1], "u2": [0.5, 1.5, 2.5]}, bin=1)
    assert data.names == ("u1", "u2") and data.encoding == "spikes"
    assert data.notes[0] == "with bin = 1, 20% of the bins with spikes hold more than one."
    assert "1 of 2 spins is the same in all samples ('u2')" in data.notes[1]
    assert bs.from_spike_trains([[0.1], [1.1]], bin=1).names is None
    assert bs.from_spike_trains([[0.1], [1.1]], bin=1, names=["a", "b"]).names == ("a", "b")
    assert bs.from_spike_trains([[0.1], [1.1]], bin=1).notes == (spikes._IN_ORDER,)


SIZE = {"s": 1, "ms": 1e-3}


class Quantity:
    """As much of the package quantities as is used: a magnitude in seconds or milliseconds, or a length."""

    def __init__(self, magnitude, units):
        self.magnitude, self.units = np.asarray(magnitude, float), units

    def rescale(self, units):
        if self.units not in SIZE:
            raise ValueError(f'Unable to convert between units of "{self.units}" and "{units}"')
        return Quantity(self.magnitude * SIZE[self.units] / SIZE[units], units)

    def __str__(self):
        return f"{self.magnitude} {self.units}"


class SpikeTrain(Quantity):
    """As neo has it."""

    def __init__(self, times, units, t_start, t_stop, name=None):
        super().__init__(times, units)
        self.t_start, self.t_stop, self.name = Quantity(t_start, units), Quantity(t_stop, units), name


def test_neo_spike_trains():
    first = SpikeTrain([20, 60, 95], "ms", 0, 100, "a")
    second = SpikeTrain([0.005, 0.045], "s", 0, 0.1, "b")
    expected = bs.from_spike_trains([[20, 60, 95], [5, 45]], bin=20)
    for width in (Quantity(20, "ms"), Quantity(0.02, "s"), 20):
        data = bs.from_spike_trains([first, second], bin=width)
        np.testing.assert_array_equal(data.spins, expected.spins)
        assert data.names == ("a", "b")
    part = bs.from_spike_trains([first, second], 20, t_start=Quantity(0.02, "s"), t_stop=Quantity(80, "ms"))
    np.testing.assert_array_equal(part.spins, expected.spins[1:4])
    late = SpikeTrain([0.07], "s", 0.04, 0.2)  # the window is where all have been recorded
    both = bs.from_spike_trains([first, late], bin=20)
    assert both.spins.T.tolist() == [[-1, 1, 1], [-1, 1, -1]] and both.names is None
    assert both.notes[0].startswith("1 of 4 spikes lie outside of the bins, from 40 to 100")


NEO = SpikeTrain([0.5], "s", 0, 2)


@pytest.mark.parametrize(
    ("times", "settings", "message"),
    [
        (3.0, {"bin": 1}, r"list of arrays, one for each cell: found float"),
        ([], {"bin": 1}, r"at least 2 cells: found 0"),
        ([[1.0]], {"bin": 1}, r"at least 2 cells: found 1"),
        ([1.0, 2.0], {"bin": 1}, r"1-D arrays of numbers, .*found one number of dtype float64 at times\[0\]"),
        ([[1.0], [[2.0]]], {"bin": 1}, r"found 2 dimension\(s\) of dtype float64 at times\[1\]"),
        ([[1.0], ["x"]], {"bin": 1}, r"found 1 dimension\(s\) of dtype <U1 at times\[1\]"),
        ([[1.0], [[2.0], [3.0, 4.0]]], {"bin": 1}, r"times\[1\] must be an array of times"),
        ([[1.0], [2.0, np.nan]], {"bin": 1}, r"finite: found nan at times\[1\]\[1\]"),
        ([[1.0, np.inf], [2.0]], {"bin": 1}, r"finite: found inf at times\[0\]\[1\]"),
        ([[1.0], [2.0]], {"bin": 0}, r"bin must be above 0"),
        ([[1.0], [2.0]], {"bin": -1}, r"bin must be a finite number from 0"),
        ([[1.0], [2.0]], {"bin": "x"}, r"bin must be a number: found 'x'"),
        ([[1.0], [2.0]], {"bin": 1, "t_start": 3, "t_stop": 2}, r"t_stop must be after t_start"),
        ([[1.0], [-2.0]], {"bin": 1}, r"from 0 on, where no t_start is given: found -2. Give t_start"),
        ([[1.0], [2.0]], {"bin": 5}, r"at least 2 whole bins: found 1 from 0 to 5"),
        ([[], []], {"bin": 1}, r"at least 2 whole bins: found 1 from 0 to 1 with bin=1. Give t_stop"),
        ([[1.0], [2e9]], {"bin": 1e-9}, r"bins that fit into memory: found 2\d+ for each of 2 cells"),
        ([[1.0], [2.0]], {"bin": 1, "names": ["a"]}, r"as many names as spike trains, 2: found 1"),
        (
            [[1.0], [2.0]],
            {"bin": Quantity(1, "s")},
            r"plain number where times are: found the quantity 1.0 s",
        ),
        ([NEO, NEO], {"bin": Quantity(1, "m")}, r"bin must be a time: found 1.0 m \(Unable"),
        ([NEO, [1.0]], {"bin": 1}, r"all have units, or none: found times\[1\] without"),
    ],
)
def test_wrong_input(times, settings, message):
    with pytest.raises(ValueError, match=message):
        bs.from_spike_trains(times, **settings)


def test_a_fit_of_spikes():
    rng = np.random.default_rng(0)
    data = bs.from_spike_trains([rng.random(400) * 10 for _ in range(8)], bin=0.02, t_stop=10)
    assert data.spins.shape == (500, 8)
    eb = bs.EmpiricalBayes().fit(data.spins)
    assert eb.gamma_ < 3 * eb.gamma_error_  # independent cells


class Support:
    """A recording of pynapple: when it was made."""

    def __init__(self, *epochs):
        self.start, self.end = np.array(epochs).T


class Ts:
    """Times of pynapple, which are not an array."""

    def __init__(self, times, *epochs):
        self.t, self.time_support = np.array(times), Support(*epochs)

    def times(self):
        return self.t

    def __array__(self, *_, **__):
        raise ValueError("not this way")


def test_groups_of_pynapple():
    group = {3: Ts([0.003, 0.048], (0.0, 0.07)), 7: Ts([0.021, 0.027], (0.0, 0.09))}
    data = bs.from_spike_trains(group, bin=0.02)
    assert data.names == ("3", "7") and data.spins.tolist() == [
        [1, -1],
        [-1, 1],
        [1, -1],
    ]  # to 0.07, not 0.09
    data = bs.from_spike_trains(group, bin=0.02, t_start=0.02, t_stop=0.06)
    assert data.spins.tolist() == [[-1, 1], [1, -1]]


def test_epochs_of_pynapple_are_runs():
    epochs = (0.0, 0.05), (0.11, 0.16), (0.2, 0.21)  # two bins, two bins, none
    group = {3: Ts([0.003, 0.12, 0.205], *epochs), 7: Ts([0.02, 0.131, 0.145], *epochs)}
    data = bs.from_spike_trains(group, bin=0.02)
    assert data.spins.tolist() == [[1, -1], [-1, 1], [1, -1], [-1, 1]]
    assert data.lengths == (2, 2) and bs.SpinStatistics.of(data).runs == (2, 2)
    notes = " ".join(data.notes)
    assert "3 epochs, which are runs of their own. 1 are shorter than a bin" in notes
    assert "1 of 6 spikes lie outside" in notes
    cut = bs.from_spike_trains(group, bin=0.02, t_start=0.01, t_stop=0.14)
    assert cut.spins.tolist() == [[-1, 1], [-1, -1], [1, -1]] and cut.lengths == (2, 1)
    group[7] = Ts([0.02], (0.0, 0.16))
    with pytest.raises(ValueError, match="different time supports"):
        bs.from_spike_trains(group, bin=0.02)


def test_independent_cells_of_several_epochs_have_no_couplings():
    """Silence between epochs would make all cells look alike."""
    rng = np.random.default_rng(1)
    epochs = (0.0, 8.0), (40.0, 48.0), (90.0, 98.0)
    trains = [np.concatenate([a + 8 * rng.random(100) for a, _ in epochs]) for _ in range(8)]
    data = bs.from_spike_trains({k: Ts(np.sort(t), *epochs) for k, t in enumerate(trains)}, bin=0.02)
    eb = bs.EmpiricalBayes().fit(data)
    assert data.spins.shape == (1200, 8) and eb.gamma_ < 3 * eb.gamma_error_
