"""The plot of an explained gap, from a plain dictionary."""

import io

import numpy as np
import pytest

from fairkernel.report.gap_plot import gap_figure


@pytest.fixture
def found():
    scores = np.linspace(-1.0, 1.0, 50)
    return {
        "sentence": "a gap of 0.5",
        "how": "exact",
        "score_name": "predict",
        "parts": [
            {"name": "first", "contribution": 0.7, "standard_error": 0.0},
            {"name": "second", "contribution": -0.2, "standard_error": 0.1},
        ],
        "groups": [
            {"name": "a", "mean": 0.5, "scores": scores + 0.5, "shares": np.full(50, 0.02)},
            {"name": "b", "mean": 0.0, "scores": scores, "shares": np.full(50, 0.02)},
        ],
    }


def png(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def test_the_same_gap_gives_the_same_bytes(found):
    assert png(gap_figure(found)) == png(gap_figure(found))


def test_what_widens_is_filled_and_what_narrows_is_hatched(found):
    assert [bar.get_hatch() for bar in gap_figure(found).axes[0].patches] == [None, "////"]


def test_of_a_negative_gap_negative_parts_widen_it(found):
    found["groups"].reverse()
    assert [bar.get_hatch() for bar in gap_figure(found).axes[0].patches] == ["////", None]


def test_text_is_shown_as_it_is(found):
    hostile = r"$\frac{ <b> _ ^"
    found["sentence"] = found["score_name"] = found["groups"][0]["name"] = found["parts"][0]["name"] = hostile
    figure = gap_figure(found)
    assert png(figure).startswith(b"\x89PNG")
    left, right = figure.axes
    assert left.get_yticklabels()[0].get_text() == right.get_legend().get_texts()[0].get_text() == hostile
    assert figure.get_suptitle() == hostile


@pytest.mark.parametrize("name", ["_hidden", "_", "__init__"])
def test_a_name_that_begins_with_an_underscore_stands_in_the_legend(found, name):
    found["groups"][0]["name"] = name
    figure = gap_figure(found)
    assert png(figure).startswith(b"\x89PNG")
    assert [text.get_text() for text in figure.axes[1].get_legend().get_texts()] == [name, "b"]


@pytest.mark.parametrize("level", [0.0, 0.3, -7.0, 1e20, 1e-20])
@pytest.mark.parametrize("rounding", [0.0, 1.0, 40.0])
def test_scores_that_are_constant_but_for_rounding_are_drawn_as_constant(found, level, rounding):
    rng = np.random.default_rng(0)
    for group in found["groups"]:
        group["scores"] = level * (1 + rounding * np.finfo(float).eps * rng.choice([-1, 0, 1], 50))
        group["mean"] = float(group["scores"].mean())
    figure = gap_figure(found)
    assert png(figure).startswith(b"\x89PNG")
    for stairs in figure.axes[1].patches:
        shares, edges, _ = stairs.get_data()
        np.testing.assert_allclose(shares.sum(), 1.0)
        assert edges[-1] - edges[0] >= 0.99


def test_error_bars_stand_where_there_are_errors(found):
    bars = gap_figure(found).axes[0].containers
    assert sum(getattr(bar, "errorbar", None) is not None for bar in bars) == 1
