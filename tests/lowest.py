"""Print the declared minimum of every dependency as an exact version, for ``make test-lowest``."""

import re
import tomllib
from pathlib import Path

EXTRAS = ("data", "dask", "network", "dev")  # what the tests need; others build the site and run benchmarks
OF_THAT_TIME = ("pyparsing==3.2.0",)  # what others need, where its newest version warns of their oldest


def lowest(pyproject: str) -> list[str]:
    """Requirements, such as ``numpy==2.2``, of dependencies and extras; every one must have a minimum."""
    project = tomllib.loads(pyproject)["project"]
    optional = project["optional-dependencies"]
    declared = [*project["dependencies"], *(line for extra in EXTRAS for line in optional[extra])]
    return [_exact(line) for line in declared if not line.startswith(project["name"])]


def _exact(requirement: str) -> str:
    found = re.fullmatch(r"([\w-]+)>=([\d.]+)(,<[\d.]+)?", requirement)
    if not found:
        raise ValueError(f"expected a requirement such as numpy>=2.2, found {requirement!r}.")
    return f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8")
    print(*lowest(text), *OF_THAT_TIME, sep="\n")
