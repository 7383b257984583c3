"""The plot, by its pixels."""

import builtins
import io

import numpy as np
import pytest

from fairkernel.report import plots


def pixels(png):
    from matplotlib.image import imread

    return imread(io.BytesIO(png), format="png")[..., :3]


def test_the_plot_is_a_png_with_something_on_it(summary):
    image = pixels(plots.tradeoff_png(summary, "title"))
    assert min(image.shape[:2]) > 600
    assert 0.02 < np.mean(image.min(axis=2) < 0.9) < 0.5


def test_nothing_touches_the_edge_so_no_label_is_cut(summary):
    image = pixels(plots.tradeoff_png(summary, "title"))
    edges = [image[:2], image[-2:], image[:, :2], image[:, -2:]]
    assert all((edge == 1.0).all() for edge in edges)


def test_families_differ_by_more_than_colour():
    shapes = [(look["marker"], look.get("markerfacecolor") == "white") for look in plots.LOOKS.values()]
    assert len(set(shapes)) == len(shapes)


def test_a_title_may_hold_any_character(summary):
    assert plots.tradeoff_png(summary, r"$\frac{ <b> _ ^").startswith(b"\x89PNG")


def test_the_same_summary_gives_the_same_bytes(summary):
    assert plots.tradeoff_png(summary, "title") == plots.tradeoff_png(summary, "title")


def test_without_matplotlib_the_error_names_the_extra(summary, monkeypatch):
    plain = builtins.__import__

    def absent(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return plain(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError, match=r'plots need matplotlib.*pip install "fairkernel\[app\]"'):
        plots.tradeoff_png(summary, "title")
