"""Sphinx configuration: Markdown through MyST, tutorials through sphinx-gallery, formulas without a network."""

import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

import matplotlib as mpl
from docutils import nodes
from sphinx.ext.napoleon.docstring import GoogleDocstring
from sphinx.util import logging

import bayesing

sys.path.insert(0, str(Path(__file__).parent))  # for what is ours, here and in _extensions

project = "bayesing"
author = copyright = "The bayesing developers"
release = version = bayesing.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
    "_extensions.command_line",
    "_extensions.method_tables",
    "_extensions.modules_of",
]
exclude_patterns = ["_build", "_extensions", "gallery/*.ipynb"]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["attrs_block", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autosummary_generate = False  # tables only: the entries are on the same page
napoleon_preprocess_types = True

# Private modules, types in words, and libraries whose inventories would have to be fetched.
nitpick_ignore_regex = [
    ("py:mod", r"_\w+"),
    ("py:class", r"array( \([nk](,\))?)?|[nk]\)|data( frame)?|callable|path|optional|Generator"),
    ("py:class", r"numpy\..*|collections\.abc\..*"),
]

html_theme = "furo"
html_title = "bayesing"
html_copy_source = False
html_css_files = ["site.css"]
# One file of MathJax 3, from a package of PyPI: it draws formulas without a network, and without font files.
_mathjax = Path(str(importlib.import_module("sphinx-mathjax-offline").__file__)).parent / "static" / "mathjax"
html_static_path = ["_static", str(_mathjax / "tex-svg.js")]
mathjax_path = "tex-svg.js"
mathjax3_config = {"svg": {"fontCache": "global"}, "options": {"enableMenu": False}}

linkcheck_anchors = False
linkcheck_ignore = [r"gallery/"]

mpl.rcParams.update({"figure.dpi": 110, "savefig.dpi": 110})
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "_extensions.order.TutorialsFirst",
    "abort_on_example_error": True,
    "run_stale_examples": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "reset_modules": ("matplotlib",),
}

_log = logging.getLogger(__name__)
_NOT_FOR_USERS = {"__main__", "arguments", "cli", "experiments", "files", "report"}


# Of "This: that" in the docstring of a property napoleon would make the type This. There are no types in ours.
GoogleDocstring._consume_inline_attribute = lambda self: ("", self._dedent(self._consume_to_end()))


def public_names():
    """What must be in the reference: the names of the package, and all functions and classes of its modules."""
    yield from (f"bayesing.{name}" for name in bayesing.__all__)
    for info in pkgutil.walk_packages(bayesing.__path__, "bayesing."):
        parts = info.name.split(".")[1:]
        if _NOT_FOR_USERS & set(parts) or any(part.startswith("_") for part in parts):
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            own = getattr(value, "__module__", None) == info.name or name in getattr(module, "__all__", ())
            code = inspect.isfunction(value) or inspect.isclass(value)
            if own and code and not name.startswith("_") and name not in bayesing.__all__:
                yield f"{info.name}.{name}"


def check_reference(app, env):
    """A public name that the reference lacks is a warning, and so an error of the build."""
    documented = env.get_domain("py").objects
    for name in sorted(set(public_names())):
        if name not in documented:
            _log.warning("%s is public and not in the API reference (docs/api.rst, docs/modules.rst)", name)


def find_public(app, env, node, contnode):
    """Docstrings write EmpiricalBayes for bayesing.EmpiricalBayes, whatever module they are in."""
    name = node.get("reftarget", "")
    if node.get("refdomain") != "py" or name.split(".")[0] not in bayesing.__all__:
        return None
    domain, target = env.get_domain("py"), f"bayesing.{name}"
    return domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], target, node, contnode)


def trim(app, doctree):
    """A doctest needs an empty line below its output, and readers do not."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.rawsource, block.children = text, []
        block += nodes.Text(text)


def setup(app):
    app.connect("doctree-read", trim)
    app.connect("env-check-consistency", check_reference)
    app.connect("missing-reference", find_public)
