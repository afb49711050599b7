"""Sphinx configuration: Markdown through MyST, runnable examples through sphinx-gallery."""

import bayesing

project = "bayesing"
author = "The bayesing developers"
release = version = bayesing.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["dollarmath"]
exclude_patterns = ["_build", "gallery/*.ipynb"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
html_theme = "furo"
html_title = "bayesing"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
}
suppress_warnings = ["config.cache"]
