"""The plot of a frontier: every name and mark, and a range set by what is worth a look."""

import numpy as np
import pytest

from fairkernel.report.frontier_plot import frontier_figure


def point(model, disparity, score, *, aware=False, name="error", floor=None, reach=0.01):
    found = {"model": model, "aware": aware, "disparity": disparity, name: score}
    found |= {"disparity_low": max(0.0, disparity - reach), "disparity_high": disparity + reach}
    if name == "error":
        found |= {"error_low": score - reach, "error_high": score + reach}
    return found | ({} if floor is None else {"noise_floor": floor})


FRONT = [point("fairkernel", d, 0.2 - d / 2, floor=0.03) for d in (0.0, 0.05, 0.1)]
CONSTANT = point("constant", 0.0, 0.48)


def figure_of(*extra, front=FRONT, score="error"):
    points = [*front, *extra]
    return frontier_figure({"score": score, "disparity": "a difference", "points": points, "pareto": front})


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_marks_and_names_of_any_number_of_others_differ():
    others = [point(f"other {i}", 0.1, 0.2) for i in range(14)]
    figure = figure_of(*others)
    labels = legend_of(figure)
    marks = dict(zip(labels, figure.legends[0].legend_handles, strict=True))
    shapes = [str(marks[f"other {i} (blind)"].get_marker()) for i in range(14)]
    assert len(set(shapes)) == 14


@pytest.mark.parametrize("name", ["_hidden", "$x^2$", "_", "a_b", r"\frac{$"])
def test_a_name_is_shown_as_it_is(name):
    figure = figure_of(point(name, 0.1, 0.2))
    assert f"{name} (blind)" in legend_of(figure)
    figure.canvas.draw()


def test_a_front_of_both_kinds_tells_them_apart():
    front = [point("fairkernel", d, 0.2 - d, aware=d > 0.05) for d in (0.0, 0.05, 0.1)]
    labels = legend_of(figure_of(front=front))
    assert labels == ["3 settings", "worth having, groups known", "worth having, groups not known"]
    fills = {
        line.get_markerfacecolor(): len(line.get_xdata())
        for line in figure_of(front=front).axes[0].get_lines()
        if line.get_marker() == "o"
    }
    assert sorted(fills.values()) == [1, 2]


def test_what_is_far_worse_does_not_squeeze_what_is_worth_a_look():
    figure = figure_of(CONSTANT, point("fairkernel", 0.2, 0.6), point("weak", 0.1, 0.5), point("near", 0.1, 0.23))
    low, high = figure.axes[0].get_ylim()
    assert low < 0.15 - 0.01
    assert 0.23 < high < 0.3
    labels = legend_of(figure)
    assert "constant prediction at 0.480, off the plot" in labels
    assert "weak (blind) at 0.500, off the plot" in labels
    assert "near (blind)" in labels
    assert "4 settings (1 of them off the plot)" in labels


@pytest.mark.parametrize(("score", "better"), [("error", 0.01), ("r2", 0.9)])
def test_what_is_better_is_always_on_the_plot(score, better):
    front = [point("fairkernel", d, 0.2 + d, name=score) for d in (0.0, 0.05, 0.1)]
    low, high = figure_of(point("strong", 0.3, better, name=score), front=front, score=score).axes[0].get_ylim()
    assert low < better < high


def test_the_curve_does_not_lead_to_the_constant():
    lines = [line for line in figure_of(CONSTANT).axes[0].get_lines() if line.get_linestyle() == "-"]
    [curve] = [line for line in lines if line.get_marker() == "None"]
    np.testing.assert_array_equal(curve.get_ydata(), [p["error"] for p in FRONT])


def test_the_noise_floor_is_drawn_where_there_is_one():
    assert "noise floor: expected by chance under parity" in legend_of(figure_of())
    front = [point("fairkernel", d, 0.2, name="r2") for d in (0.0, 0.1)]
    assert not any("noise floor" in label for label in legend_of(figure_of(front=front, score="r2")))


def test_one_setting_is_enough():
    figure = figure_of(front=FRONT[:1])
    figure.canvas.draw()
    assert legend_of(figure)[:2] == ["1 settings", "worth having, groups not known"]
