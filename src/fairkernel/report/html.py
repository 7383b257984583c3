"""A summary as one HTML file that loads nothing: no script, no remote address, every name escaped."""

import base64
import hashlib
from collections.abc import Sequence
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
    return _fill("demo.html", **page, plot=base64.b64encode(plot_png).decode())


def render_reproduction(page: dict[str, Any], figures_png: Sequence[bytes]) -> str:
    """Fill the template of the reproduction's page.

    Parameters
    ----------
    page : dict
        ``tables`` (title → "cells" and "verdict"), ``headers``, ``legend``, ``closest`` (cells, headers first),
        ``closest_legend``, ``findings`` and ``run`` (name → text).
    figures_png : sequence of bytes

    Returns
    -------
    str
    """
    return _fill("reproduction.html", **page, plots=[base64.b64encode(png).decode() for png in figures_png])


def render_gap(found: dict[str, Any]) -> str:
    """Fill the table a notebook shows of an explained gap.

    Parameters
    ----------
    found : dict
        ``sentence``, ``how`` and ``parts``, each with ``name`` and ``text``. Names may hold any characters.

    Returns
    -------
    str
        A piece of a page.
    """
    return _fill("gap.html", **found)


def render_frontier(found: dict[str, Any]) -> str:
    """Fill the table a notebook shows of a frontier.

    Parameters
    ----------
    found : dict
        ``sentences``, ``headers`` (each with whether its column is of numbers) and ``cells``. Names may hold any
        characters.

    Returns
    -------
    str
        A piece of a page.
    """
    return _fill("frontier.html", **found)


def _fill(name: str, **values: Any) -> str:
    jinja2 = _import_jinja2()
    templates = files(__package__) / "templates"
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"show": show, "show_interval": show_interval}
    style = (templates / "style.css").read_text("utf-8")
    return environment.from_string((templates / name).read_text("utf-8")).render(
        **values,
        style=environment.filters["safe"](style),
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
    )


def _import_jinja2() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError('HTML pages need jinja2, which is not installed: pip install "fairkernel[app]"') from error
    return jinja2
