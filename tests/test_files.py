import os

import pytest

from bayesing.files import damaged, writing


def test_writing_is_all_or_nothing(tmp_path):
    path = tmp_path / "out.bin"

    def interrupted():
        with writing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []
    with writing(path) as file:
        file.write(b"whole")
    with pytest.raises(ValueError, match="force=True"), writing(path) as file:
        file.write(b"other")
    assert path.read_bytes() == b"whole"
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    with writing(path, force=True) as file:
        file.write(b"other")
    assert path.read_bytes() == b"other"
    with pytest.raises(ValueError, match="existing directory"), writing(tmp_path / "no" / "x.bin"):
        pass
    with pytest.raises(ValueError, match="found a directory"), writing(tmp_path, force=True):
        pass


def test_bytes_of_a_damaged_file_do_not_reach_a_message():
    error = damaged("a Parquet file", ValueError("found \x1b[31m\x00\nmore"))
    assert str(error) == (
        "expected a Parquet file, found one that is empty or damaged (found \\x1b[31m\\x00)."
    )
