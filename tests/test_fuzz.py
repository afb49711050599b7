"""Readers of every format, fed with damaged files and odd texts; `make fuzz` does the same for longer."""

import os

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bayesing.io._layout import DEFAULT_DELIMITER

from hostile import TEXTS, check_reader, check_text, hostile

EXAMPLES = int(os.environ.get("BAYESING_EXAMPLES", "300"))
bounded = settings(
    max_examples=EXAMPLES, deadline=None, derandomize="BAYESING_EXAMPLES" not in os.environ, database=None
)

cells = st.sampled_from(
    [*("0", "1", "-1", "", " ", "1.0", "NA", "#N/A", "yes", "no", "2", "x y", "é", "1,0", "1,000", "0.0000001"),
     *('"1"', '"1,0"', '"0', '0"', '"a""b"', '""', "#", "# 1", "\t", "\r", "\u00a0", "\u2028", "\x1c", "1" * 99)]
)  # fmt: skip
delimiters = st.sampled_from([",", ";", "\t", "|", " ", "  ", ", "])
ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n", ",\n", "\n# 1,0\n", "\n \n"])


@st.composite
def texts(draw):
    """Rows of odd cells, most of them of the same length."""
    width, delimiter, end = draw(st.integers(1, 4)), draw(delimiters), draw(ends)
    often = st.one_of(st.sampled_from(["0", "1"]), st.sampled_from(["0", "1"]), cells)
    rows = draw(st.lists(st.lists(often, min_size=width, max_size=width), min_size=1, max_size=6))
    body = end.join(delimiter.join(row) for row in rows * draw(st.sampled_from([1, 1, 9])))
    return draw(st.sampled_from(["", "\ufeff", "a,b\n", "0,1\n", "# a b\n", "a b\tc\n"])) + body + end


@given(st.integers(0, 2**63))
@bounded
def test_damaged_files_are_read_or_a_value_error(tmp_path_factory, seed):
    extension, content = hostile(seed)
    path = tmp_path_factory.getbasetemp() / f"hostile-{os.getpid()}{extension}"
    path.write_bytes(content)
    check_reader(path)
    if extension in DEFAULT_DELIMITER:
        check_text(path, chunk=5)


@given(texts(), st.sampled_from(list(DEFAULT_DELIMITER)))
@example('"1,0",1\n' * 9, ".csv")
@example("\r\n1,0\r\n0,1\r\n1,1\r\n", ".txt")
@bounded
def test_there_is_one_way_to_read_a_text(tmp_path_factory, text, extension):
    path = tmp_path_factory.getbasetemp() / f"odd-{os.getpid()}{extension}"
    path.write_bytes(text.encode())
    check_text(path, chunk=7)
    check_reader(path)


@pytest.mark.parametrize("text", TEXTS)
def test_seeds_are_good_files(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    assert len(check_text(path)) == 4 or "1,000" in text or "0\t1" in text
