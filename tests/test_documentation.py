"""All documentation runs. The Python of docstrings, of the README and of the pages is run by pytest's doctest."""

import ast
import doctest
import importlib
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import warnings
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import yaml
from click.testing import CliRunner
from threadpoolctl import threadpool_limits

import bayesing as bs
from bayesing import choice, couplings, plots, strength
from bayesing.cli import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks_of(page, kind):
    return re.findall(rf"^ *```{kind}\n(.*?)^ *```", page.read_text(), re.DOTALL | re.MULTILINE)


def test_every_block_of_the_pages_is_one_that_runs():
    for page in PAGES:
        kinds = re.findall(r"^ *```(\S.*)$", page.read_text(), re.MULTILINE)
        runs = {kind for kind in kinds if not kind.startswith("{")}  # directives
        shell = {"bash"} if page.name == "cli.md" else set()  # to be put into start-up files: see below
        assert runs <= {"python", "console"} | shell, page
        for block in blocks_of(page, "python"):
            assert block.startswith(">>> ") and block.endswith("\n\n"), block  # else doctest would not see it


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks_of(page, "console")], ids=lambda page: page.stem
)
def test_the_commands_of_a_page_print_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(page, "console")
    steps = [step for block in blocks for step in re.split(r"^\$ ", block, flags=re.MULTILINE) if step]
    assert len(steps) >= 2
    for step in steps:
        command, expected = step.split("\n", 1)
        program, *arguments = shlex.split(command)
        assert program == "bayesing"
        if page.name == "README.md":  # as it is run by users; elsewhere without starting Python again
            whole = [sys.executable, "-m", program, *arguments]
            output = subprocess.run(whole, capture_output=True, text=True, check=True).stdout
        else:
            output = CliRunner(catch_exceptions=False).invoke(cli, arguments).stdout
        # Another processor rounds differently, which makes other spins now and then.
        number = r"[-+]?\d+\.\d+"
        assert re.split(number, output) == re.split(number, expected)
        found, printed = (list(map(float, re.findall(number, text))) for text in (output, expected))
        assert found == pytest.approx(printed, abs=0.02)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(path, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.switch_backend("agg")
    with threadpool_limits(
        1
    ):  # small matrices, for which threads only wait for each other where cores are busy
        runpy.run_path(str(path))
    assert plt.get_fignums()
    plt.close("all")


@pytest.mark.parametrize("name", ["symptoms", "spikes", "votes"])
def test_the_three_tutorials_go_from_a_file_to_a_figure(name):
    """Each of them writes a file and reads it; those come first in the gallery, in the order of its introduction."""
    order = runpy.run_path(str(ROOT / "docs" / "_extensions" / "order.py"))["TutorialsFirst"]("")
    path = sorted((ROOT / "examples").glob("*.py"), key=lambda path: order(path.name))[
        ["symptoms", "spikes", "votes"].index(name)
    ]
    text = path.read_text()
    written, read = (
        text.index(f'"{name}.csv"'),
        re.search(r"bs\.read_spins\(path|np\.loadtxt\(path", text).start(),
    )
    assert written < read < text.index("plots.coupling_network(ax")
    assert "cleanup()" in text  # of the folder


def test_the_page_of_the_command_line_has_every_command():
    page = (ROOT / "docs" / "cli.md").read_text()
    assert sorted(re.findall(r"^```\{options\} (\S+)$", page, re.MULTILINE)) == sorted(cli.commands)
    assert set(cli.commands) <= set(re.findall(r"^## (\S+)$", page, re.MULTILINE))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_options_and_files(shell):
    def completion(task, **settings):
        # Under its own name, from which the variable has its own.
        program = [
            sys.executable,
            "-c",
            "import sys, bayesing.cli; sys.argv = ['bayesing']; bayesing.cli.main()",
        ]
        environment = os.environ | {"_BAYESING_COMPLETE": f"{shell}_{task}"} | settings
        return subprocess.run(program, capture_output=True, text=True, env=environment, check=True).stdout

    assert f"_BAYESING_COMPLETE={shell}_source bayesing" in (ROOT / "docs" / "cli.md").read_text()
    assert "_BAYESING_COMPLETE" in completion("source")
    for words, place, found in (("bayesing coup", 1, "couplings"), ("bayesing fit --meth", 2, "--method")):
        last = place if shell != "fish" else words.split()[-1]
        assert found in completion("complete", COMP_WORDS=words, COMP_CWORD=str(last))
    last = 2 if shell != "fish" else "data"
    assert "file" in completion("complete", COMP_WORDS="bayesing fit data", COMP_CWORD=str(last))


def test_the_reference_has_every_public_name():
    reference = (
        ROOT / "docs" / "api.rst"
    ).read_text()  # the build of the site looks for those of all modules
    for prefix, module in (("bayesing", bs), ("bayesing.plots", plots)):
        for name in module.__all__:
            assert re.search(rf"^\.\. auto\w+:: {prefix}\.{name}$", reference, re.MULTILINE), name
            assert getattr(module, name).__doc__, name


def method_tables():
    return runpy.run_path(str(ROOT / "docs" / "method_tables.py"))


def test_the_tables_of_methods_in_the_readme_are_made_from_the_methods():
    text = (ROOT / "README.md").read_text()
    tables = method_tables()
    assert all(f"<!-- methods {kind} -->" in text for kind in tables["KINDS"])
    assert tables["written"](text) == text, "python docs/method_tables.py README.md writes the tables anew"


def test_a_method_that_is_added_is_in_the_tables(monkeypatch, tmp_path):
    tables = method_tables()
    added = replace(strength.METHODS[0], name="guess", about="a | b", holds="nowhere", mean_coupling=False)
    monkeypatch.setattr(strength, "METHODS", (*strength.METHODS, added))
    pairs = replace(couplings.METHODS[-1], name="dice", needs_rows=True)
    monkeypatch.setattr(couplings, "METHODS", (*couplings.METHODS, pairs))
    assert tables["methods"]("strength").endswith('| `"guess"` | a \\| b | nowhere |\n')
    assert tables["methods_in_full"]("strength").endswith("| nowhere | gaussian prior; rows or batches |\n")
    assert tables["methods_in_full"]("couplings").count('| `"dice"` |') == 1
    assert tables["methods_in_full"]("couplings").endswith("| no prior; all rows |\n")
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n<!-- methods strength -->\n\noutdated\n\n<!-- end -->\n\nrest\n")
    assert tables["main"]([str(page)]) == 0
    head = "# Page\n\n<!-- methods strength -->\n\n| method | what it is | where it holds |\n|---|---|---|\n"
    assert page.read_text().startswith(head) and page.read_text().endswith("\n\n<!-- end -->\n\nrest\n")
    assert "guess" in page.read_text() and "outdated" not in page.read_text()


def test_the_site_has_the_methods_and_the_rules_as_they_are(monkeypatch, tmp_path):
    application = pytest.importorskip(
        "sphinx.application", reason="the site is built where Sphinx is installed"
    )
    pytest.importorskip("myst_parser")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    added = replace(strength.METHODS[0], name="guess")
    monkeypatch.setattr(strength, "METHODS", (*strength.METHODS, added))
    rule = replace(choice.COUPLINGS[0], when="$n = 3$", method="dice")
    monkeypatch.setattr(choice, "COUPLINGS", (rule, *choice.COUPLINGS))
    extensions = ["myst_parser", "_extensions.method_tables"]
    (tmp_path / "conf.py").write_text(f"extensions = {extensions}\nmyst_enable_extensions = ['dollarmath']\n")
    (tmp_path / "index.md").write_text("# A\n\n```{methods} strength\n```\n\n```{rules} couplings\n```\n")
    folders = [str(tmp_path), str(tmp_path), str(tmp_path / "out"), str(tmp_path / "trees")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of Sphinx and its extensions about each other
        app = application.Sphinx(*folders, "html", status=None, warningiserror=True)
        app.build()
    page = (tmp_path / "out" / "index.html").read_text()
    cells = [re.sub("<.*?>", "", cell).strip() for cell in re.findall(r"<td>(.*?)</td>", page, re.DOTALL)]
    columns, names = 4, [method.name for method in strength.METHODS]
    assert cells[: columns * len(names) : columns] == [f'"{name}"'.replace('"', "&quot;") for name in names]
    rules = cells[columns * len(names) :]
    assert rules[2::3] == [f"&quot;{rule.method}&quot;" for rule in choice.COUPLINGS]
    assert "n = 3" in rules[1] and "math" in page


def test_the_page_on_methods_has_all_tables():
    page = (ROOT / "docs" / "which-method.md").read_text()
    tables = re.findall(r"^```\{(methods|rules)\} (\w+)$", page, re.MULTILINE)
    assert tables == [(table, kind) for kind in method_tables()["KINDS"] for table in ("methods", "rules")]


def names_imported(source):
    """Packages that a piece of Python imports, at any depth."""
    nodes = list(ast.walk(ast.parse(source)))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return {
        name.split(".")[0] for name in [*plain, *(n.module for n in nodes if isinstance(n, ast.ImportFrom))]
    }


def core_packages():
    """What `make demo` installs by name, as it is imported."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.match(r"[\w-]+", line)[0].replace("-", "_") for line in declared}
    return names - {"scikit_learn"} | {"sklearn", "bayesing"}


def test_the_readme_is_short():
    text = (ROOT / "README.md").read_text()
    assert len(text.split()) < 1300  # in all: prose, tables, code and what it prints


def test_the_python_of_the_readme_needs_what_the_demo_installs_and_no_more(request):
    assert names_imported("import a.b as c, d\ndef f():\n    from e.g import h") == {"a", "d", "e"}
    examples = doctest.DocTestParser().get_examples((ROOT / "README.md").read_text())
    imported = names_imported("".join(example.source for example in examples))
    assert imported <= core_packages() | set(sys.stdlib_module_names)
    # What the library itself would import for an example is an error where pytest runs the README: see conftest.py.
    extras = request.config.pluginmanager.get_plugin(str(ROOT / "conftest.py")).EXTRAS
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    optional = {
        re.match(r"[\w-]+", line)[0] for extra in ("dask", "data", "network") for line in declared[extra]
    }
    assert optional <= set(extras) and not core_packages() & set(extras)


def test_other_commands_of_the_readme_are_understood_and_their_files_exist():
    page = ROOT / "README.md"
    steps = [
        line for block in blocks_of(page, "console") for line in re.findall(r"^\$ (.*)$", block, re.MULTILINE)
    ]
    written = {words[-1] for words in map(str.split, steps) if words[-2] == "-o"}
    others = [
        shlex.split(line, comments=True)
        for line in re.findall(r"^    (bayesing .*)$", page.read_text(), re.M)
    ]
    assert {words[1] for words in others} == {"fit", "report", "reproduce"}
    for _, name, *arguments in others:
        read = [
            Path(word).name
            for word in arguments
            if "." in word and arguments[arguments.index(word) - 1] != "-o"
        ]
        assert set(read) <= written, f"{name} reads a file that nothing in the README writes"
        cli.commands[name].make_context(name, list(arguments))  # a wrong option is an error


def test_links_are_checked(tmp_path, capsys):
    links = runpy.run_path(str(ROOT / "docs" / "links.py"))["main"]
    assert links([str(ROOT / "README.md"), str(ROOT / "CONTRIBUTING.md")]) == 0
    page, other = tmp_path / "page.html", tmp_path / "other.html"
    other.write_text('<h1 id="here">Other</h1><a href="page.html?x=1#">back</a>')
    page.write_text('<a href="other.html#here">good</a><a href="https://arxiv.org/abs/1906.06002">far</a>')
    assert links([str(tmp_path)]) == 0
    assert "3 links on 2 pages" in capsys.readouterr().out
    for broken in ("other.html#there", "nowhere.html", "#gone", "https:/arxiv.org", "../missing.png"):
        other.write_text(f'<h1 id="here">Other</h1><img src="{broken}"><a href="{broken}">broken</a>')
        links.__globals__["read"].cache_clear()
        assert links([str(tmp_path)]) == 1, broken
        assert broken in capsys.readouterr().err


def test_every_name_of_the_notation_exists():
    names = re.findall(r"`(bayesing\.[\w.]+)`", (ROOT / "docs" / "notation.md").read_text())
    assert len(names) > 25
    for name in names:
        module, attributes = name.split("."), []
        while True:
            try:
                value = importlib.import_module(".".join(module))
                break
            except ModuleNotFoundError:
                attributes.insert(0, module.pop())
        for attribute in attributes:
            fields = getattr(value, "__dataclass_fields__", {})
            value = fields[attribute] if attribute in fields else getattr(value, attribute)


def test_citation_and_changelog_speak_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == bs.__version__
    assert citation["references"][0]["identifiers"][0]["value"] == "arXiv:1906.06002"
    assert f"## {bs.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_layers_in_contributing_are_those_of_the_test():
    from test_layers import LEFT_ONLY, ROWS

    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = re.findall(r"^\s*\| (\w[\w ]*)(→?) \| (`.*?) \|$", text, re.MULTILINE)
    rows = [re.findall(r"`(\w+)/?`", modules) for _, _, modules in table]
    assert rows == ROWS[: len(rows)] and len(rows) == len(ROWS) - 1  # __main__ goes without saying
    assert [row for row, (_, arrow, _) in zip(rows, table, strict=True) if arrow] == LEFT_ONLY


def test_contributing_names_files_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    paths = re.findall(r"`((?:src|docs|benchmarks|tests)/[\w/.]+)`", text)
    assert len(paths) >= 5
    assert [path for path in paths if "NAME" not in path and not (ROOT / path).exists()] == []
