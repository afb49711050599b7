import math
import warnings
from itertools import pairwise
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose
from scipy.stats import norm

import bayesing as bs
from bayesing import plots
from bayesing.calibration import Interval
from bayesing.couplings._causes import Hidden
from bayesing.edges import Coupling
from bayesing.plots import _layout
from bayesing.plots._network import draw_network, layout, network_of
from bayesing.plots._spectrum import largest_of_noise, marchenko_pastur
from bayesing.plots._style import name_of
from bayesing.prediction import predict
from bayesing.replica import at_line
from bayesing.strength.spectral import law

from samples import random_spins, stats, with_answer


@pytest.fixture
def ax():
    plt.switch_backend("agg")
    figure, ax = plt.subplots(figsize=(4.6, 4.2), dpi=50)
    yield ax
    figure.canvas.draw()  # whatever was drawn can be rendered, without a warning
    plt.close(figure)


@pytest.fixture(scope="module")
def votes():
    data = bs.load_senate109(missing="drop")
    return pd.DataFrame(data.spins, columns=data.names)


@pytest.fixture(scope="module")
def senate(votes):
    return bs.BoltzmannMachine(prior="laplace", series=True).fit(votes)


@pytest.fixture(scope="module")
def sim():
    return bs.simulate(n_spins=40, n_samples=80, J=0.6, H=0.2, seed=1)


def machine(J, names=None, error=0.01, W=None):
    """What pictures need of a BoltzmannMachine."""
    J = np.asarray(J, dtype=float)
    names = [f"x{i}" for i in range(len(J))] if names is None else names

    def strongest(k):
        i, j = np.triu_indices(len(J), 1)
        order = np.argsort(-np.abs(J[i, j]), kind="stable")[:k]
        return [
            Coupling(
                int(a),
                int(b),
                names[a],
                names[b],
                float(J[a, b]),
                error,
                float(norm.cdf(abs(J[a, b]) / error)),
            )
            for a, b in zip(i[order], j[order], strict=True)
        ]

    def edges():
        return [c for c in strongest(len(J) ** 2) if c.probability > 0.95]

    W = np.empty((len(J), 0)) if W is None else np.asarray(W, dtype=float)
    hidden = Hidden(W, np.full(W.shape, error), *np.zeros((3, W.shape[1])))
    answer = SimpleNamespace(n_hidden=W.shape[1], hidden=hidden)
    return SimpleNamespace(
        couplings_=J, names=lambda: names, strongest=strongest, edges=edges, answer_=answer
    )


def texts(ax):
    """All that is written in the picture: notes, legend, title."""
    legend = ax.get_legend().get_texts() if ax.get_legend() else []
    return "\n".join([*(text.get_text() for text in [*ax.texts, *legend]), ax.get_title(loc="left")])


# The evidence

ENDLESS = [[1, -1, -1], [1, -1, 1], [1, 1, 1]]  # the paper's gamma is infinite


def test_the_curve_is_the_evidence_and_reaches_beyond_the_estimate(ax, sim):
    eb = bs.EmpiricalBayes(method="spectral").fit(sim.spins)
    assert plots.evidence_curve(ax, eb, J_max=0.1, J_true=0.6) is ax
    J, curve = ax.lines[0].get_data()
    assert J[0] == 0 and J[-1] == pytest.approx(1.3 * max(eb.J_, 0.6)) and ax.get_xlim()[1] == J[-1]
    assert_allclose(curve, 40 * 80 * eb.evidence(eb.H_, J**2))
    assert ax.lines[1].get_xdata()[0] == eb.J_ and f"{eb.J_:.3f} ± {eb.J_error_:.3f}" in texts(ax)
    assert ax.lines[2].get_xdata()[0] == 0.6 and ax.get_ylim()[1] > curve.max()


def test_the_curve_without_couplings_and_without_a_maximum(ax):
    zero = bs.EmpiricalBayes(method="plefka").fit(bs.simulate(30, 40, J=0.0, seed=3).spins)
    assert zero.case_ == "zero"
    plots.evidence_curve(ax, zero)
    assert "= 0.000" in texts(ax) and ax.get_ylim()[0] >= -3
    ax.clear()
    with pytest.warns(bs.BoundWarning):
        infinite = bs.EmpiricalBayes(method="plefka").fit(ENDLESS)
    assert math.isinf(infinite.J_)
    plots.evidence_curve(ax, infinite)
    assert "unbounded" in texts(ax)


@pytest.fixture
def coarse(monkeypatch):
    monkeypatch.setattr("bayesing.plots._evidence._GRID", (15, 31))


def test_the_surface_is_highest_at_the_estimate(ax, coarse):
    spins = bs.simulate(100, 60, J=0.5, H=0.1, seed=1).spins
    eb = bs.EmpiricalBayes(method="plefka").fit(spins)
    assert plots.evidence_surface(ax, eb) is ax
    (point,) = (line for line in ax.lines if line.get_marker() == "o")
    assert_allclose(point.get_xydata()[0], [eb.J_, eb.H_])
    highest = max(ax.collections[1].levels)
    path = ax.collections[1].get_paths()[list(ax.collections[1].levels).index(highest)]
    assert highest == -0.5 and path.contains_point(
        (eb.J_, eb.H_)
    )  # the innermost contour is around the estimate
    J, H = path.vertices[len(path.vertices) // 3]
    drop = 100 * 60 * (eb.evidence(H, J**2) - eb.evidence(eb.H_, eb.gamma_))
    assert drop == pytest.approx(-0.5, abs=0.1)


def test_the_surface_of_other_cases(ax, sim, coarse):
    for method, found in (
        ("spectral", "has one of J alone. Use evidence_curve"),
        ("susceptibility", "has none"),
    ):
        with pytest.raises(ValueError, match=f"depends on H: the method {method} {found}"):
            plots.evidence_surface(ax, bs.EmpiricalBayes(method=method).fit(sim.spins))
    with pytest.warns(bs.BoundWarning):
        infinite = bs.EmpiricalBayes(method="plefka").fit(ENDLESS)
    plots.evidence_surface(ax, infinite)
    assert "unbounded" in texts(ax) and any(line.get_marker() == ">" for line in ax.lines)


def test_recovery(ax):
    assert plots.recovery(ax, [0.0, 0.5], [[0.1, 0.2], [0.4, 0.6]]) is ax
    assert_allclose(ax.lines[-1].get_xydata(), [[0, 0.15], [0.5, 0.5]])


# Phases


def bar_ends(ax):
    """Ends of the error bars of J and of H."""
    return [np.array(c.get_segments()[0]) for c in ax.containers[0].lines[2]]


def test_the_data_lie_where_they_belong(ax, sim):
    eb = bs.EmpiricalBayes().fit(sim.spins)
    assert plots.phase_diagram(ax, eb) is ax
    assert_allclose(ax.containers[0].lines[0].get_xydata()[0], [eb.J_, eb.H_])
    horizontal, vertical = bar_ends(ax)
    assert_allclose(horizontal[:, 0], [eb.J_ - eb.J_error_, eb.J_ + eb.J_error_])
    assert_allclose(vertical[:, 1], [eb.H_ - eb.H_error_, eb.H_ + eb.H_error_])
    J, H = ax.lines[0].get_data()
    assert J.min() == pytest.approx(1, abs=1e-3) and abs(H[J.argmin()]) < 1e-3
    for k in (20, 130):
        assert J[k] == pytest.approx(at_line(H[k]))
    assert f"{eb.at_distance_:.2f}" in texts(ax)


def test_a_calibrated_interval_takes_the_place_of_errors(ax, sim):
    eb = bs.EmpiricalBayes().fit(sim.spins)
    plots.phase_diagram(ax, eb, Interval((0.4, math.inf), (0.1, 0.3), 0.7, 0.2, 0.9, 40))
    horizontal, vertical = bar_ends(ax)
    assert_allclose(horizontal[:, 0], [0.4, ax.get_xlim()[1]])
    assert_allclose(vertical[:, 1], [0.1, 0.3])
    assert any(line.get_marker() == ">" for line in ax.lines)  # the bar has no end


def test_a_mean_coupling_acts_as_a_field(ax, sim):
    eb = bs.EmpiricalBayes(mean_coupling=True).fit(sim.spins)
    plots.phase_diagram(ax, eb)
    found = ax.containers[0].lines[0].get_ydata()[0]
    assert found == pytest.approx(eb.H_ + eb.J0_ * eb.moments_.M) and found != eb.H_
    assert "J_0 M" in ax.get_ylabel()


@pytest.mark.parametrize("J", [0.0, 50.0, math.inf])
def test_any_strength_is_in_the_picture(ax, sim, J):
    eb = bs.EmpiricalBayes().fit(sim.spins)
    error, H = math.nan if J == 50 else math.inf, -math.inf if math.isinf(J) else -9.0
    plots.phase_diagram(ax, with_answer(eb, gamma=J**2, gamma_error=error, H=H))
    x, y = ax.containers[0].lines[0].get_xydata()[0]
    assert ax.get_xlim()[0] <= x <= ax.get_xlim()[1] and ax.get_ylim()[0] <= y <= ax.get_ylim()[1]
    assert ("unbounded" in texts(ax)) == math.isinf(J)


# The spectrum


@pytest.mark.parametrize(("n", "nu"), [(60, 99), (99, 60)])
def test_the_density_of_marchenko_and_pastur(n, nu):
    """Its edges, its mass and mean, and the limit of weak couplings."""
    x, density = marchenko_pastur(n, nu)
    c = n / nu
    low, high = (1 - math.sqrt(c)) ** 2, (1 + math.sqrt(c)) ** 2
    assert low < x[0] < low + 1e-3 and high - 1e-3 < x[-1] < high

    def mean(power):
        return np.trapezoid(density * x**power, x)

    assert mean(0) == pytest.approx(min(1, nu / n), rel=1e-3)
    assert mean(1) == pytest.approx(1, rel=1e-3)
    assert mean(2) == pytest.approx(1 + c, rel=1e-3)
    weak = law(1e-4, nu, n)
    assert weak.w @ weak.d**3 / n == pytest.approx(mean(3), rel=2e-3)


def test_independent_spins_pass_the_edge_in_one_of_100():
    rng = np.random.default_rng(0)
    n, N, passed = 30, 60, 0
    for _ in range(600):
        X = np.where(rng.random((N, n)) < 0.4, 1, -1)
        passed += np.linalg.eigvalsh(np.corrcoef(X.T))[-1] > largest_of_noise(n, N - 1)
    assert 0 < passed < 14  # 6 expected, give or take 2.4


def bars(ax):
    return sum(patch.get_height() for patch in ax.patches)


def test_the_spectrum_is_that_of_the_correlation_matrix(ax):
    X = bs.simulate(40, 200, J=0.7, H=0.3, seed=3).spins
    assert plots.correlation_spectrum(ax, X, gamma=0.49) is ax
    d = np.linalg.eigvalsh(np.corrcoef(X.T))
    assert bars(ax) == 40
    edge = largest_of_noise(40, 199)
    marked = next(line for line in ax.lines if line.get_marker() == "v")
    assert_allclose(np.sort(marked.get_xdata()), d[d > edge], rtol=1e-6)
    assert f"{(d > edge).sum()} beyond" in texts(ax) and "0.70" in texts(ax)
    # Either curve, summed over the bins, is the number of eigenvalues.
    width = ax.patches[0].get_width()
    for line in ax.lines[:2]:
        x, y = line.get_data()
        assert np.trapezoid(y, x) / width == pytest.approx(40, rel=0.02)


@pytest.mark.parametrize("N", [30, 200])
def test_a_spectrum_that_is_known_makes_the_same_picture(N, monkeypatch):
    X = bs.simulate(40, N, J=0.7, H=0.3, seed=3).spins
    drawn = []
    for data in (X, stats(X).spectrum):
        figure, ax = plt.subplots()
        plots.correlation_spectrum(ax, data, gamma=0.49)
        drawn.append(
            (texts(ax), [patch.get_height() for patch in ax.patches], ax.lines[1].get_xydata().tolist())
        )
        monkeypatch.setattr("numpy.linalg.eigvalsh", lambda _: pytest.fail("found again"))
        plt.close(figure)
    assert drawn[0] == drawn[1] and f"$N$ = {N}" in drawn[0][0]


def test_zero_eigenvalues_are_stated_and_constant_spins_left_out(ax):
    X = bs.simulate(60, 25, J=0.5, seed=3).spins.copy()
    X[:, :3] = 1
    varying = int((np.abs(X.mean(axis=0)) < 1).sum())
    plots.correlation_spectrum(ax, X)
    assert bars(ax) == 24 and f"{varying - 24} of {varying} eigenvalues are 0" in texts(ax)


def test_far_eigenvalues_make_the_axis_logarithmic(ax, votes):
    plots.correlation_spectrum(ax, votes)
    assert ax.get_xscale() == "log" and "2 beyond" in texts(ax)
    assert ax.get_xlim()[1] > np.linalg.eigvalsh(np.corrcoef(votes.T))[-1]


# Couplings


def test_the_two_parties_are_blocks(ax, senate, votes):
    assert plots.coupling_matrix(ax, senate) is ax
    order = plots.order_of(senate.couplings_)
    shown = ax.images[0].get_array()
    assert_allclose(shown, senate.couplings_[np.ix_(order, order)])
    republican = np.array(["(R" in votes.columns[i] for i in order])
    if republican[:20].mean() > 0.5:
        republican = ~republican
    first = int((~republican).sum())
    assert (
        republican ^ (np.arange(84) >= first)
    ).sum() <= 8  # four who vote with the other party, and those in their places
    inside, across = shown[:first, :first].mean() + shown[first:, first:].mean(), shown[:first, first:].mean()
    assert inside > 10 * abs(across)
    written = [label.get_text() for label in ax.get_yticklabels()]
    assert "1 name in 4" in ax.get_xlabel() and written[0] == votes.columns[order[2]]


def test_colours_are_symmetric_and_end_at_a_percentile(ax):
    J = np.random.default_rng(0).normal(0, 0.1, (30, 30))
    J = np.triu(J, 1) + np.triu(J, 1).T
    J[3, 7] = J[7, 3] = 5.0
    plots.coupling_matrix(ax, machine(J))
    low, high = ax.images[0].get_clim()
    assert low == -high and high == pytest.approx(np.percentile(np.abs(J[np.triu_indices(30, 1)]), 98))
    assert "98th percentile" in ax.figure.axes[1].get_xlabel()
    assert_allclose(ax.images[0].get_cmap()(0.5)[:3], to_rgb(ax.get_facecolor()), atol=0.02)  # 0 is not seen
    assert len(ax.get_yticks()) == len(ax.get_xticks()) == 30 or "1 name in" in ax.get_xlabel()


def test_groups_that_couplings_make_of_a_chain_are_found(ax):
    """Two chains, mixed up: members are mostly not coupled directly."""
    n, rng = 20, np.random.default_rng(1)
    mixed = rng.permutation(n)
    J = np.zeros((n, n))
    for chain in (mixed[:10], mixed[10:]):
        for a, b in pairwise(chain):
            J[a, b] = J[b, a] = 1.0
    order = plots.order_of(J)
    assert set(order[:10].tolist()) in ({*mixed[:10].tolist()}, {*mixed[10:].tolist()})
    assert all(J[a, b] for a, b in pairwise(order[:10]))
    plots.coupling_matrix(ax, machine(J))


def test_an_order_that_is_known_is_not_found_again(ax, monkeypatch):
    J = np.random.default_rng(2).normal(size=(9, 9))
    J = J + J.T
    order = np.random.default_rng(3).permutation(9)
    monkeypatch.setattr("bayesing.plots._couplings.order_of", lambda _: pytest.fail("found again"))
    plots.coupling_matrix(ax, machine(J, list("abcdefghi")), order=order)
    assert_allclose(ax.images[0].get_array(), J[np.ix_(order, order)])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["abcdefghi"[i] for i in order]


def test_many_spins_are_averaged(ax):
    n = 1250
    rng = np.random.default_rng(0)
    block = np.where(np.arange(n) < 500, 1, -1)
    noise = np.triu(rng.normal(0, 0.05, (n, n)), 1)
    mixed = rng.permutation(n)
    J = (noise + noise.T + 0.02 * np.outer(block, block))[np.ix_(mixed, mixed)]
    np.fill_diagonal(J, 0)
    plots.coupling_matrix(ax, machine(J))
    shown = ax.images[0].get_array()
    assert shown.shape == (417, 417) and "means of 3 × 3" in ax.figure.axes[1].get_xlabel()
    edge = min(500, 750) // 3
    corners = [shown[:edge, :edge].mean(), shown[-edge:, -edge:].mean(), -shown[:edge, -edge:].mean()]
    assert_allclose(corners, 0.02, rtol=0.1)


def test_the_network_has_the_strongest_couplings(ax, senate):
    assert plots.coupling_network(ax, senate, k=12) is ax
    strongest = senate.strongest(12)
    names = {name for c in strongest for name in (c.name_i, c.name_j)}
    there = {(c.i, c.j) for c in senate.edges()}
    assert {text.get_text() for text in ax.texts} == names
    spins = sorted({spin for c in strongest for spin in (c.i, c.j)})
    place = dict(zip(spins, ax.lines[12].get_xydata(), strict=True))
    lines = ax.lines[:12][::-1]
    for line, c in zip(lines, strongest, strict=True):
        assert_allclose(line.get_xydata()[[0, -1]], [place[c.i], place[c.j]])
        assert (line.get_linestyle() == "-") == ((c.i, c.j) in there)
    widths = [line.get_linewidth() for line in lines]
    assert widths == sorted(widths, reverse=True)


def test_a_network_is_laid_out_once_and_drawn_often(ax, senate, monkeypatch):
    network = network_of(senate.strongest(12), (300.0, 200.0))
    assert network.positions.shape == (len(network.names), 2)
    assert (network.positions <= [300, 200]).all() and (network.positions >= 0).all()
    monkeypatch.setattr("bayesing.plots._network.layout", lambda *_: pytest.fail("laid out again"))
    assert draw_network(ax, network) is ax
    place = dict(zip(network.names.values(), network.positions.tolist(), strict=True))
    for line, c in zip(ax.lines[:12][::-1], network.edges, strict=True):
        assert_allclose(line.get_xydata()[[0, -1]], [place[c.name_i], place[c.name_j]])
    assert ax.get_xlim() == (0, 300) and ax.get_ylim() == (0, 200)


def test_signs_and_doubts_are_told_apart(ax):
    J = np.zeros((4, 4))
    J[0, 1], J[1, 2], J[2, 3] = 0.9, -0.5, 0.1
    plots.coupling_network(ax, machine(J + J.T, error=0.1))
    weak, negative, strong = ax.lines[:3]
    assert weak.get_color() == strong.get_color() != negative.get_color()
    assert weak.get_linestyle() == "--" and strong.get_linestyle() == "-"
    assert "may be 0" in texts(ax) and "0.9" in texts(ax)


def test_common_causes_are_squares(ax):
    J, W = np.zeros((6, 6)), np.zeros((6, 2))
    J[0, 1] = J[1, 0] = 0.3
    W[:4, 0], W[5, 1] = (0.9, 0.6, 0.019, -0.5), 0.01  # errors are 0.01: the last one is not clear
    plots.coupling_network(ax, machine(J, W=W), k=6)
    squares, points = ax.lines[-2:]
    assert (squares.get_marker(), points.get_marker()) == ("s", "o")
    assert len(squares.get_xdata()) == 2 and len(points.get_xdata()) == 6
    assert squares.get_color() not in {line.get_color() for line in ax.lines if line is not squares}
    assert {text.get_text() for text in ax.texts} == {*(f"x{i}" for i in range(6)), "cause 1", "cause 2"}
    place = dict(zip([0, 1, 2, 3, 4, 5], points.get_xydata().tolist(), strict=True))
    one, two = squares.get_xydata().tolist()
    ends = {tuple(map(tuple, line.get_xydata()[[0, -1]].tolist())) for line in ax.lines[:-2]}
    # Half of the six lines are for two causes: the first has none to spare for its third.
    assert ends == {
        (tuple(place[0]), tuple(one)),
        (tuple(place[5]), tuple(two)),
        (tuple(place[0]), tuple(place[1])),
    }
    assert "common cause" in texts(ax) and "$|W_{ia}|$ = 0.9" in texts(ax) and "may be 0" not in texts(ax)


def test_spins_without_a_line_are_drawn_unless_they_are_many(ax):
    J = np.zeros((7, 7))
    J[1, 4] = J[4, 1] = 0.5
    plots.coupling_network(ax, machine(J))
    assert {text.get_text() for text in ax.texts} == {f"x{i}" for i in range(7)}
    assert len(ax.lines[-1].get_xdata()) == 7  # points
    ax.clear()
    wide = np.zeros((61, 61))
    wide[1, 4] = wide[4, 1] = 0.5
    plots.coupling_network(ax, machine(wide))
    assert {text.get_text() for text in ax.texts} == {"x1", "x4"}


@pytest.mark.parametrize("m", [2, 12, 60])
def test_names_do_not_overlap(m):
    rng = np.random.default_rng(m)
    J = np.triu((rng.random((m, m)) < 1.5 / m) * 1.0, 1)
    boxes, frame = np.stack([rng.uniform(20, 60, m), np.full(m, 14.0)], axis=1), np.array([320.0, 300.0])
    xy = layout(J + J.T, boxes, frame)
    assert_allclose(xy, layout(J + J.T, boxes, frame), rtol=0)
    assert (xy >= boxes / 2 - 1e-9).all() and (xy <= frame - boxes / 2 + 1e-9).all()
    apart = np.abs(xy[:, None] - xy) - (boxes[:, None] + boxes) / 2
    i, j = np.triu_indices(m, 1)
    assert (apart[i, j].max(axis=1) > -1e-6).all()


def test_coupled_spins_stand_together():
    J = np.zeros((30, 30))
    for a in range(0, 30, 3):
        J[a, a + 1] = J[a + 1, a + 2] = 1
    J = J + J.T
    xy = layout(J, np.full((30, 2), 10.0), np.array([300.0, 300.0]))
    distance = np.linalg.norm(xy[:, None] - xy, axis=2)
    assert distance[J > 0].mean() < 0.4 * distance[J == 0].mean()


def test_groups_stand_apart_by_lines_that_are_not_drawn():
    """Two groups of ten, each with a few lines that are drawn, and many that only pull."""
    rng = np.random.default_rng(0)
    group = rng.permutation(np.repeat([0, 1], 10))
    i, j = np.triu_indices(20, 1)
    together = group[i] == group[j]
    all_of_them = [
        Coupling(int(a), int(b), f"x{a}", f"x{b}", 0.3, 0.1, 1.0)
        for a, b in zip(i[together], j[together], strict=True)
    ]
    names = [f"x{k}" for k in range(20)]
    network = network_of(all_of_them[::9], (400.0, 300.0), None, names, (), all_of_them)
    assert len(network.edges) == len(all_of_them[::9]) and list(network.names) == list(range(20))
    middles = np.array([network.positions[group == k].mean(axis=0) for k in (0, 1)])
    own = np.linalg.norm(network.positions - middles[group], axis=1)
    other = np.linalg.norm(network.positions - middles[1 - group], axis=1)
    assert (own < other).all()


def test_lines_go_around_names():
    """A name in the middle of a line: the line is bent, and the ends stay where they are."""
    xy = np.array([[20.0, 100.0], [100.0, 100.0], [180.0, 100.0]])
    sizes, lines = np.full((3, 2), [30.0, 10.0]), np.array([[0, 2]])
    centres = xy.copy()
    centres[[0, 2], 1] += 10  # above their points; that of the middle one lies on the line
    bends = _layout._bends(xy, centres, sizes, lines)
    assert _layout.names_met(xy, centres, sizes, lines, np.zeros(1)).tolist() == [[False, True, False]]
    assert bends[0] != 0 and not _layout.names_met(xy, centres, sizes, lines, bends).any()
    path = _layout.curves(xy, lines, bends)[0]
    assert_allclose(path[[0, -1]], xy[[0, 2]])
    assert abs(path[:, 1] - 100).max() == pytest.approx(
        80 * abs(bends[0]), rel=0.01
    )  # half of what the control has
    found, straight = _layout.written(xy, sizes, lines, np.array([200.0, 200.0]))
    assert abs(found[1, 1] - 100) > 5 or straight[0] != 0


def test_a_line_meets_flat_names_wherever_it_crosses_them():
    """Against a slow twin: very many places on straight and bent lines, and whether they are inside a name."""
    rng = np.random.default_rng(5)
    xy, centres = rng.uniform(0, 600, (12, 2)), rng.uniform(0, 600, (40, 2))
    sizes = np.stack([rng.uniform(20, 90, 40), np.full(40, 9.0)], axis=1)
    lines = np.array([(i, j) for i in range(12) for j in range(i)] + [(3, 3)])
    xy[1, 0], xy[3, 1] = xy[0, 0], xy[2, 1]  # upright and level
    bends = np.where(np.arange(len(lines)) % 2, 0.0, rng.uniform(-0.3, 0.3, len(lines)))
    found = _layout.names_met(xy, centres, sizes, lines, bends)
    t = np.linspace(0, 1, 4001)[:, None]
    for k, (i, j) in enumerate(lines):
        path = _layout.curves(xy, lines[k : k + 1], bends[k : k + 1])[0]
        pieces = np.concatenate([a + t * (b - a) for a, b in pairwise(path)])
        inside = (np.abs(pieces[:, None] - centres) < sizes / 2 - 1).all(axis=2).any(axis=0)
        assert found[k].tolist() == inside.tolist(), (i, j)
    assert 0.02 < found.mean() < 0.3


def test_long_names_are_beside_rows_and_short_ones_below_columns():
    name = "I felt sad or down, most days"
    for size, rows in (((8, 8), name), ((3, 3), "I felt sad or d…")):
        figure, ax = plt.subplots(figsize=size)
        plots.coupling_matrix(ax, machine(np.zeros((3, 3)), [name, "b", "c"]))
        assert ax.get_yticklabels()[0].get_text() == rows
        assert ax.get_xticklabels()[0].get_text() == "I felt sad or d…"
        plt.close(figure)


def test_few_lines_go_through_names(senate):
    """Of the 40 strongest couplings of the Senate, straight lines with all names above their points meet many."""
    strongest, edges = senate.strongest(40), senate.edges()
    network = network_of(strongest, (500.0, 420.0), None, (), (), edges)
    above = network.positions + np.array([0, 8])
    sizes, ends = network.sizes, network.ends
    before = _layout.names_met(network.positions, above, sizes, ends, np.zeros(len(ends))).sum()
    assert network.names_met <= min(5, before / 8)
    overlap = np.abs(network.labels[:, None] - network.labels) < (sizes[:, None] + sizes) / 2 - 1
    assert np.triu(overlap.all(axis=2), 1).sum() <= 2


def test_the_number_of_active_spins(ax):
    data, model, free = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.4, 0.4, 0.2, 0.0]), np.full(4, 0.25)
    assert plots.active_counts(ax, data, model, free, n_data=50) is ax
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["independent", "model", "data"]
    points = next(line for line in ax.lines if line.get_marker() == "o")
    assert_allclose(points.get_xydata(), [(0, 0.5), (1, 0.3), (2, 0.2)])  # none with 3, on this scale
    assert ax.get_yscale() == "log"
    (bars,) = ax.collections
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    assert_allclose(np.diff(ends).ravel(), 2 * np.sqrt(data[:3] * (1 - data[:3]) / 50))


def test_the_number_active_in_a_series_that_is_worth_fewer_samples_than_it_has(ax):
    data = np.array([0.6, 0.399, 0.001])  # 1 row of 1000, which are worth 100
    plots.active_counts(ax, data, data, data, n_data=100)
    assert ax.get_ylim()[0] < 0.001
    (bars,) = ax.collections
    assert all(segment[0, 1] < share for segment, share in zip(bars.get_segments(), data, strict=True))


# Predictions


@pytest.fixture(scope="module")
def prediction(sim):
    return predict(bs.IsingModel(sim.couplings, sim.fields), sim.spins, n_samples=500)


def test_predictions_against_observations(ax, prediction):
    assert plots.predicted_correlations(ax, prediction) is ax
    x, y = ax.lines[0].get_data()
    assert_allclose(x, prediction.pairs.predicted)
    assert_allclose(y, prediction.pairs.observed)
    assert f"{prediction.pairs.correlation:.2f}" in texts(ax) and f"{prediction.pairs.chi2:.2f}" in texts(ax)
    horizontal, vertical = bar_ends(ax)
    assert np.ptp(horizontal[:, 0]) == pytest.approx(2 * np.median(prediction.pairs.predicted_error))
    assert np.ptp(vertical[:, 1]) == pytest.approx(2 * np.median(prediction.pairs.observed_error))
    means = next(line for line in ax.lines if line.get_label() == "means of tenths").get_data()
    lowest = np.argsort(prediction.pairs.predicted)[:78]
    assert means[1][0] == pytest.approx(prediction.pairs.observed[lowest].mean())


def test_many_points_are_counted(ax, prediction):
    plots.predicted_correlations(ax, prediction, order=3)
    assert ax.collections[0].get_array().sum() == math.comb(40, 3) == len(prediction.triplets.observed)
    assert "triplet" in ax.get_xlabel()


def test_nothing_to_compare(ax):
    two = predict(bs.IsingModel([[0, 0.5], [0.5, 0]]), [[1, 1], [1, -1], [-1, -1]])
    plots.predicted_correlations(ax, two, order=3)
    assert "no triplets" in texts(ax)
    ax.clear()
    plots.predicted_correlations(ax, two)
    assert len(ax.lines[0].get_xdata()) == 1
    with pytest.raises(ValueError, match="order must be"):
        plots.predicted_correlations(ax, two, order=1)


# All of them


ODD = {
    "free": "default",
    "two spins": "dark_background",
    "few samples": "default",
    "constant columns": "dark_background",
    "copies": "ggplot",
}


def odd(kind):
    rng = np.random.default_rng(0)
    if kind == "free":
        return np.where(rng.random((60, 12)) < 0.5, 1, -1)
    if kind == "two spins":
        return random_spins(12, 2)
    if kind == "few samples":
        return random_spins(4, 6, seed=2)
    X = random_spins(30, 8)
    X[:, 0] = 1
    if kind == "copies":
        X[:, 1] = X[:, 2]
    return X


@pytest.mark.parametrize(("kind", "style"), ODD.items())
def test_odd_data(kind, style):
    X = odd(kind)
    frame = pd.DataFrame(X, columns=[NAMES[i % len(NAMES)] + str(i) for i in range(X.shape[1])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        eb = bs.EmpiricalBayes(method="spectral").fit(X)
        paper = bs.EmpiricalBayes(method="plefka").fit(X)
        bm = bs.BoltzmannMachine(method="spectral").fit(frame)
        found = predict(bm.model_, X)
    pictures = [
        (plots.evidence_curve, eb),
        (plots.evidence_curve, paper),
        (plots.phase_diagram, paper),
        (plots.correlation_spectrum, X, eb.gamma_),
        (plots.coupling_matrix, bm),
        (plots.coupling_network, bm),
        (plots.predicted_correlations, found),
        (plots.predicted_correlations, found, 3),
    ]
    for draw, *arguments in pictures:
        with plt.style.context(style):
            figure, ax = plt.subplots(figsize=(4.6, 4.2), dpi=50)
            draw(ax, *arguments)
            figure.canvas.draw()
            assert "black" not in {text.get_color() for text in ax.texts} or style != "dark_background"
            plt.close(figure)


NAMES = [
    "a$b",
    "$x_1$",
    "a_very_long_name_that_nobody_would_like_to_read",
    "Müller Ωμέγα",
    "line\nbreak",
    "100%",
]


def test_names_are_written_as_they_are(ax):
    J = np.ones((6, 6)) - np.eye(6)
    plots.coupling_network(ax, machine(J, NAMES))
    ax.figure.canvas.draw()
    assert len(ax.texts) == 6 and all(text.get_window_extent().width > 0 for text in ax.texts)
    assert name_of("$x_1$") == r"\$x_1\$" and name_of("line\nbreak") == "line break"
    assert name_of(NAMES[2]).endswith("…") and len(name_of(NAMES[2])) == 24


def test_no_couplings_at_all(ax):
    plots.coupling_network(ax, machine(np.zeros((5, 5))))
    assert "no couplings" in texts(ax)
    plots.coupling_matrix(ax, machine(np.zeros((5, 5))))
    assert ax.images[0].get_clim() == (-1, 1)


def test_a_transparent_background_is_told_by_the_text():
    with plt.rc_context({"axes.facecolor": "none", "figure.facecolor": "none", "text.color": "white"}):
        figure, ax = plt.subplots()
        plots.coupling_matrix(ax, machine(np.zeros((3, 3))))
        assert_allclose(ax.images[0].get_cmap()(0.5)[:3], 0, atol=0.02)
        plt.close(figure)


# Hidden units


@pytest.fixture(scope="module")
def hidden():
    rng = np.random.default_rng(2)
    W = rng.normal(0, 0.7, (9, 1))
    X = bs.RestrictedModel(W, rng.normal(0, 0.2, 9), [0.1]).sample(600, seed=0)
    names = [f"item_{i}$" for i in range(9)]
    return bs.RestrictedBoltzmannMachine("auto").fit(pd.DataFrame(X, columns=names))


def test_the_evidence_of_hidden_units_is_drawn_below_the_best(ax, hidden):
    assert plots.hidden_evidence(ax, hidden) is ax
    sizes, below = ax.lines[0].get_data()
    values = hidden.evidence_by_n_hidden_
    assert list(sizes) == list(values) and len(hidden.hidden_fields_) == 1
    assert_allclose(below, [max(values.values()) - value for value in values.values()])
    assert [*ax.lines[1].get_xdata()] == [1] and "1 hidden unit" in texts(ax)
    low, high = ax.get_ylim()
    assert low > max(below) and high < 0  # the best is on top
    with pytest.raises(ValueError, match=r"several numbers of units.*found 1"):
        plots.hidden_evidence(ax, bs.RestrictedBoltzmannMachine(0).fit(np.eye(3)))


def test_loadings_are_bars_with_their_errors(ax, hidden):
    assert plots.hidden_loadings(ax, hidden, 0, k=4) is ax
    top = hidden.loadings(0, 4)
    assert_allclose([bar.get_width() for bar in ax.patches], [loading.weight for loading in top])
    assert [label.get_text() for label in ax.get_yticklabels()] == [name_of(loading.name) for loading in top]
    (ends,) = (line.get_segments() for line in ax.collections)
    assert_allclose(ends[0][1][0] - ends[0][0][0], 2 * 1.645 * top[0].error)
    signs = {to_rgb(bar.get_facecolor()[:3]) for bar in ax.patches}
    assert len(signs) == len({loading.weight > 0 for loading in top})
    assert "hidden unit 0" in texts(ax)
