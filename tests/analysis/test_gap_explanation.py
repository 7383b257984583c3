"""GapExplanation: the same numbers as text, table, page and plot."""

import builtins
import io
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

from fairkernel import explain_gap

RNG = np.random.default_rng(0)
N, P = 100, 14
S = np.tile(["a", "b"], N // 2)
X = RNG.normal(size=(N, P)) + np.outer(S == "b", np.linspace(-1, 1, P))
HOSTILE = "</td><script>alert(1)</script>"


def explained(names=None, s=S, forest=False):
    frame = pd.DataFrame(X, columns=names or [f"column {j}" for j in range(P)])
    model = RandomForestRegressor(5, random_state=0) if forest else LinearRegression()
    return explain_gap(model.fit(frame, X.sum(axis=1)), frame, sensitive_features=s, n_repeats=2, random_state=0)


def without(library, monkeypatch):
    plain = builtins.__import__

    def absent(name, *rest):
        if name.split(".")[0] == library:
            raise ImportError(name)
        return plain(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)


def saved(figure):
    from matplotlib.image import imread

    file = io.BytesIO()
    figure.savefig(file, format="png")
    return imread(io.BytesIO(file.getvalue()), format="png")[..., :3]


def test_the_text_has_the_largest_parts_and_sums_up_the_others():
    found = explained()
    lines = repr(found).splitlines()
    assert lines[0] == f"{found.sentence}, by column (exact):"
    assert len(lines) == 12
    assert lines[1].split()[-1] == f"{found.columns['contribution'][0]:+.3g}"
    rest = found.columns["contribution"][10:].sum()
    assert lines[-1].split("columns")[1].strip() == f"{rest:+.3g}"
    assert "4 other columns" in lines[-1]


def test_the_text_of_estimates_has_errors_and_the_interaction():
    text = repr(explained(forest=True))
    assert "by permutation, ± standard error" in text
    assert text.splitlines()[-1].startswith("  interaction ")
    assert all("±" in line for line in text.splitlines()[1:])


def test_names_over_several_lines_stay_on_one():
    assert len(repr(explained(["two\nlines"] + [str(j) for j in range(P - 1)])).splitlines()) == 12


def test_the_frame_holds_every_column():
    found = explained()
    frame = found.to_frame()
    assert list(frame.columns) == ["name", "contribution", "standard_error"]
    np.testing.assert_array_equal(frame["contribution"], found.columns["contribution"])
    assert len(frame) == P


def test_the_page_shows_names_as_text():
    page = explained([HOSTILE, '"{{ 7 * 7 }}"'] + [str(j) for j in range(P - 2)], s=np.where(S == "a", "<i>", "b"))
    tags = []
    reader = HTMLParser()
    reader.handle_starttag = lambda tag, attributes: tags.append(tag)
    reader.feed(page._repr_html_())
    assert set(tags) == {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}
    assert "{{ 7 * 7 }}" in page._repr_html_()
    assert "&lt;i&gt;" in page._repr_html_()


def test_the_plot_has_a_bar_per_part_of_its_length():
    found = explained(forest=True)
    left = found.plot(max_columns=5).axes[0]
    contributions = [*found.columns["contribution"][:5], found.columns["contribution"][5:].sum(), found.interaction]
    np.testing.assert_allclose([bar.get_width() for bar in left.patches], contributions)
    labels = [label.get_text() for label in left.get_yticklabels()]
    assert labels == [*found.columns["name"][:5], "9 other columns", "interaction"]


def test_bars_that_widen_the_gap_differ_by_more_than_colour():
    found = explained(s=np.where(np.arange(N) < 50, "a", "b"))
    signs = np.sign(found.columns["contribution"])
    assert {-1, 1} <= set(signs)
    bars = found.plot(max_columns=P).axes[0].patches
    assert [bar.get_hatch() is None for bar in bars] == (signs > 0).tolist()


def test_the_lines_of_the_scores_add_up_to_all_rows_and_stand_at_the_means():
    found = explained()
    right = found.plot().axes[1]
    for stairs in right.patches:
        np.testing.assert_allclose(stairs.get_data().values.sum(), 1.0)
    assert [line.get_xdata()[0] for line in right.lines] == list(found.means)
    assert len({line.get_linestyle() for line in right.lines}) == 2


@pytest.mark.parametrize("name", ["word " * 60, "x" * 500, r"$\frac{ <b> _ ^", "", "$x$ and $y$"])
def test_no_label_is_cut_whatever_the_names(name):
    found = explained([name] + [f"other {j}" for j in range(P - 1)], s=np.where(S == "a", name or "a", "b"))
    figure = found.plot(max_columns=P)
    image = saved(figure)
    edges = [image[:2], image[-2:], image[:, :2], image[:, -2:]]
    assert all((edge == 1.0).all() for edge in edges)
    left = figure.axes[0]
    box = left.get_window_extent()
    assert box.width > 0.3 * figure.bbox.width  # names leave room for the bars
    for label, above in zip(left.get_yticklabels()[1:], left.get_yticklabels(), strict=False):
        assert label.get_window_extent().y1 <= above.get_window_extent().y0 + 1


def test_labels_that_would_read_alike_are_told_apart_in_the_plot():
    s = np.array([0, "0"], dtype=object)[np.arange(N) % 2]
    names = [text.get_text() for text in explained(s=s).plot().axes[1].get_legend().get_texts()]
    assert set(names) == {"0", "'0'"}


def test_a_score_without_differences_can_be_drawn():
    found = explain_gap(None, X, sensitive_features=S, score=lambda rows: np.zeros(len(rows)))
    assert saved(found.plot()).min() < 0.5


def test_without_optional_libraries_the_error_names_the_extra_and_a_notebook_shows_the_text(monkeypatch):
    found = explained()
    for library, ask in (("pandas", found.to_frame), ("matplotlib", found.plot)):
        with monkeypatch.context() as patch:
            without(library, patch)
            with pytest.raises(ImportError, match=rf'need {library}.*pip install "fairkernel\[app\]"'):
                ask()
    without("jinja2", monkeypatch)
    assert found._repr_html_() is None


@pytest.mark.parametrize("n", [0, -1, 2.5, "5"])
def test_the_number_of_bars_is_checked(n):
    with pytest.raises(ValueError, match=r"max_columns must be an integer of at least 1; got"):
        explained().plot(max_columns=n)
