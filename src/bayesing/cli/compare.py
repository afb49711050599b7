"""``bayesing compare``: which couplings differ between groups, as a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ._options import check_jobs, dask_option, force_option, json_option
from ._reading import ReadGroups, Reading, reading_options

if TYPE_CHECKING:
    from ..differences import Comparison
    from ._cluster import Cluster

_MOST_GROUPS = 20  # beyond that, a column most probably does not name groups


@click.command(short_help="Compare the couplings of two groups or more, and write the differences to a file.")
@click.argument("data", nargs=-1, required=True, metavar="A [B]", type=click.Path(readable=False))
@click.option("-o", "--output", required=True, help="The .csv file to write.")
@click.option("--by", metavar="NAME", help="The column of a single file that names the group of each sample.")
@click.option(
    "--fdr",
    type=float,
    default=0.05,
    show_default=True,
    help="Expected share of false ones among the couplings that are said to differ.",
)
@click.option(
    "--permutations",
    type=int,
    default=0,
    show_default=True,
    help="Permutations for a test that nothing differs at all.",
)
@click.option("--picture", metavar="FILE", help="A .png or .svg file to draw both networks to.")
@reading_options
@click.option("--jobs", type=int, default=-1, help="Processes for permutations; all cores by default.")
@dask_option("read the files and make the permutations")
@click.option("--seed", type=int, default=None, help="Seed of the permutations.")
@json_option
@force_option
def compare(
    data: tuple[str, ...],
    output: str,
    by: str | None,
    fdr: float,
    permutations: int,
    picture: str | None,
    reading: Reading,
    jobs: int,
    cluster: Cluster | None,
    seed: int | None,
    as_json: bool,
    force: bool,
) -> None:
    """Which couplings differ between the groups in A and B, and by how much? Differences are A minus B.

    A and B are two files with the same columns; the formats are those of 'bayesing fit'. Or A is one file with a
    column that names the group of each sample, given by '--by'; more than two groups are compared in pairs.
    Couplings are inferred with a sparse prior. The file that is written has a row for every pair of columns: their
    numbers (from 0) and names, the coupling in both groups, the difference with its standard error, the probability
    that it differs, and 1 if it is said to differ.
    """
    import joblib

    from ..arguments import number
    from ..comparison import compare_groups
    from ._json import comparison_as_json, dumps
    from ._output import check_output, echo
    from ._picture import check_picture, draw_comparisons
    from ._progress import Progress
    from ._text import comparison_as_text

    number("--fdr", fdr, least=0, most=1)
    check_jobs(jobs)
    for path in data:
        check_output(output, ".csv", force, path)
    if picture is not None:
        check_picture(picture, force, (*data, output))
    read = _groups_in(data, by, reading, cluster)
    with Progress(f"comparing {' and '.join(read.groups)}") as progress, joblib.parallel_config(n_jobs=jobs):
        found = compare_groups(read.groups, permutations=permutations, seed=seed, progress=progress.advance)
        if picture is not None:
            progress.begin(f"drawing {picture}")
            draw_comparisons(picture, list(found.values()), fdr, force)
        progress.begin(f"writing {output}")
        rows = _write(list(found.values()), output, by is not None, fdr, force)
    each = [(answer, (read.groups[a], read.groups[b])) for (a, b), answer in found.items()]
    if as_json:
        answers = [comparison_as_json(*one, fdr) for one in each]
        how = {"encoding": read.encoding, "notes": read.notes, "output": output, "picture": picture}
        click.echo(dumps({"comparisons": answers} | how))
    else:
        for one in each:
            echo(comparison_as_text(*one, fdr))
        echo(f"wrote {output}: {rows} differences")
        if picture is not None:
            echo(f"wrote {picture}")


def _groups_in(
    data: tuple[str, ...], by: str | None, reading: Reading, cluster: Cluster | None
) -> ReadGroups:
    """The groups of one file, or two files that are a group each."""
    from ._reading import read_by, read_data

    if by is not None:
        if len(data) != 1:
            raise ValueError(f"Expected one file with --by, which holds all groups: found {len(data)}.")
        found = read_by(data[0], by, reading, cluster=cluster)
        if not 2 <= len(found.groups) <= _MOST_GROUPS:
            raise ValueError(
                f"{data[0]}: expected from 2 to {_MOST_GROUPS} different groups in the column {by!r}, found "
                f"{len(found.groups)}. Choose another column with --by."
            )
        return found
    if len(data) != 2:
        raise ValueError(
            "Expected two files, one for each group, or one file and --by with the name of a column: found "
            f"{len(data)} file(s)."
        )
    names = [os.path.basename(path) for path in data]
    labels = data if names[0] == names[1] else tuple(names)
    if labels[0] == labels[1]:
        raise ValueError(f"Expected two files, one for each group: found {data[0]} twice.")
    a, b = (read_data(path, reading, None, None, series=True, cluster=cluster) for path in data)
    encoding = a.encoding if a.encoding == b.encoding else f"{a.encoding} and {b.encoding}"
    groups = {labels[0]: a.statistics, labels[1]: b.statistics}
    return ReadGroups(groups, encoding, tuple(dict.fromkeys((*a.notes, *b.notes))))


def _write(found: list[Comparison], output: str, with_groups: bool, fdr: float, force: bool) -> int:
    """A row for every pair of columns, and of groups; their number."""
    from ..differences import Difference
    from ._output import writing_table

    rows = 0
    with writing_table(output, force) as table:
        table.writerow([*(["group_a", "group_b"] if with_groups else []), *Difference._fields, "differs"])
        for answer in found:
            before = answer.groups if with_groups else ()
            for pair, flag in zip(answer.pairs(), answer.edge_flags(fdr).tolist(), strict=True):
                table.writerow([*before, *pair, int(flag)])
                rows += 1
    return rows
