"""A summary as one HTML file that loads nothing: no script, no remote address, every name escaped."""

import base64
import hashlib
from importlib.resources import files
from typing import Any

from .summary import show, show_interval


def render(page: dict[str, Any], plot_png: bytes) -> str:
    """Fill the template of the demonstration's page.

    Parameters
    ----------
    page : dict
        ``title``, ``summary`` (of :func:`fairkernel.report.summary.summarise`), ``sentences``, ``groups``,
        ``positive_label``, ``settings`` and ``versions`` (name → text), ``description``. Names and texts may
        hold any characters.
    plot_png : bytes

    Returns
    -------
    str
    """
    jinja2 = _import_jinja2()
    templates = files(__package__) / "templates"
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"show": show, "show_interval": show_interval}
    style = (templates / "style.css").read_text("utf-8")
    template = environment.from_string((templates / "demo.html").read_text("utf-8"))
    return template.render(
        **page,
        style=environment.filters["safe"](style),
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        plot=base64.b64encode(plot_png).decode(),
    )


def _import_jinja2() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError('HTML pages need jinja2, which is not installed: pip install "fairkernel[app]"') from error
    return jinja2
