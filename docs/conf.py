"""How Sphinx builds the site from these pages: ``python docs/build.py``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import bayesieve

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_site"))
# notebooks call the command of this interpreter; a narrow, plain console suits a page
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
paths = [HERE / "_site", HERE / "experiments", os.environ.get("PYTHONPATH", "")]  # what executed pages import
os.environ["PYTHONPATH"] = os.pathsep.join(str(path) for path in paths if str(path))
os.environ.update({"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"})

project = "bayesieve"
author = "The bayesieve developers"
version = release = bayesieve.__version__
project_copyright = author
language = "en-GB"

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc"]
extensions += ["access", "api", "charts", "commands", "formulas", "links", "terms"]  # in _site
root_doc = "index"
exclude_patterns = ["_site", "_static", "experiments/*.py"]
nitpicky = True
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_render_markdown_format = "myst"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "bayesieve"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/sieve.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # would ask for pages, which a browser refuses to those opened from disk
html_math_renderer = "mathml"
html_last_updated_fmt = None
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "gallery": []}
html_theme_options = {
    "logo": {
        "text": "bayesieve",
        "image_light": "_static/sieve.svg",
        "image_dark": "_static/sieve.svg",
        "alt_text": "",
    },
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navigation_depth": 3,
    "show_nav_level": 1,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": ["page-toc"],
}
