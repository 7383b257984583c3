"""What a frontier shows: every comparison, numbered rows, and no more than was measured."""

import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge

from fairkernel import FairKernelClassifier, FairKernelRegressor, frontier
from fairkernel.baselines import MeanMatchedRidge
from fairkernel.datasets import make_two_groups
from fairkernel.kernels import RBF, Exponential

DATA = make_two_groups(300, random_state=0)
X, Y, S = DATA.data, np.where(DATA.target == 1, "reject", "accept"), DATA.sensitive_features
Z = X[:, 0] + np.random.default_rng(0).normal(size=len(X))
AGE = X[:, 1] + np.random.default_rng(1).normal(size=len(X))
FEW = {"alphas": [1.0], "disparity_kept": [0.0, 1.0]}


def traced(model=None, target=Y, attribute=S, **options):
    model = FairKernelClassifier(n_features=30, random_state=0) if model is None else model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frontier(model, X, target, sensitive_features=attribute, **options)


def regressor(**options):
    return FairKernelRegressor(n_features=30, random_state=0, **options)


class Table(HTMLParser):
    """The rows of cells with how each is aligned."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.aligned, self.inside = [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
            self.aligned.append([])
        self.inside = tag in ("td", "th")
        if self.inside:
            self.rows[-1].append("")
            self.aligned[-1].append(re.search("text-align: (left|right)", dict(attributes)["style"])[1])

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data


def shown(many):
    """The rows of the page as dictionaries; the text must have the same."""
    headers, *rows = Table(many._repr_html_()).rows
    text = repr(many).splitlines()[2:]
    assert [re.split(r"\s{2,}", line.strip())[0] for line in text] == [headers[0], *(row[0] for row in rows)]
    for row, line in zip(rows, text[1:], strict=True):
        assert all(cell in line for cell in row)
    return [dict(zip(headers, row, strict=True)) for row in rows]


# Rows ---------------------------------------------------------------------------------------------------------------


def test_every_comparison_is_shown_whether_or_not_it_is_worth_having():
    others = {"good": LogisticRegression(), "never": DummyClassifier(), "V2": MeanMatchedRidge(variant="V2", alpha=1e5)}
    many = traced(FairKernelClassifier(random_state=0), others=others)
    front = many.pareto().table["model"].tolist()
    assert front.count("fairkernel") > 12
    assert "good" in front  # thinned away before, by name
    models = [row["model"] for row in shown(many)]
    assert models == ["fairkernel"] * 12 + ["constant", "good", "never", "V2"]


def test_settings_are_counted_and_what_is_left_out_is_said():
    many = traced(FairKernelClassifier(random_state=0), others=LogisticRegression())
    worth = int((many.pareto().table["model"] == "fairkernel").sum())
    first, second, *_ = repr(many).splitlines()
    assert first == (
        f"255 settings, {worth} of them worth having: no row has both less error and less disparity "
        f"(12 of {worth} shown; to_frame() has all)"
    )
    assert "positive: 'reject'" in second
    assert len(many) == 257
    assert "255 settings" in " ".join(text.get_text() for text in many.plot().legends[0].get_texts())
    assert "shown" not in repr(traced(**FEW)).splitlines()[0]


def test_a_number_of_the_text_is_the_row_that_is_refitted():
    many = traced(max_decision_gap=[None], **FEW)
    for row in shown(many):
        number = int(row["row"])
        assert many.table["model"][number] == row["model"]
        if row["model"] == "fairkernel":
            assert many.refit(number).disparity_kept == float(row["disparity kept"])


def test_the_constant_is_neither_aware_nor_blind():
    assert [row["groups"] for row in shown(traced(**FEW)) if row["model"] == "constant"] == ["–"]
    known = traced(FairKernelClassifier(max_decision_gap=0.1, aware=True, random_state=0), **FEW)
    assert {row["groups"] for row in shown(known)} == {"aware", "–"} | {
        "blind" for row in shown(known) if row["max decision gap"] == "" and row["model"] == "fairkernel"
    }


def test_a_front_may_hold_only_the_constant():
    noise = np.random.default_rng(0).normal(size=(len(X), 2))
    rare = np.arange(len(X)) % 20 == 0
    model = FairKernelClassifier(kernel="linear", random_state=0)
    many = frontier(model, noise, rare, sensitive_features=S, max_decision_gap=[], **FEW)
    front = many.pareto()
    for each in (many, front):
        assert shown(each)[-1]["model"] == "constant"
        assert each.plot().axes


# Columns ------------------------------------------------------------------------------------------------------------


def test_kernels_have_their_names():
    scale = 0.123456789
    many = traced(kernels=["linear", Exponential(1 / 3), RBF(scale) + RBF(scale) * RBF(scale)], **FEW)
    names = {row["kernel"] for row in shown(many)} - {""}
    assert names <= {"0 linear", "1 Exponential(gamma=0.333)", "2 Sum(left=RBF(gamma=0.12…"}
    assert "kernel" not in shown(traced(**FEW))[0]


def test_columns_without_a_number_are_left_out():
    assert "max decision gap" not in shown(traced(max_decision_gap=[None], **FEW))[0]
    assert "distribution parity" not in shown(traced(regressor(), Z))[0]
    assert "distribution parity" in shown(traced(regressor(aware=True), Z))[0]


def test_numbers_stand_to_the_right_with_as_many_decimals_each():
    many = traced(others=LogisticRegression())
    table = Table(many._repr_html_())
    words = [header in ("model", "groups") for header in table.rows[0]]
    for aligned in table.aligned:
        assert aligned == ["left" if word else "right" for word in words]
    for name in ("error", "disparity", "positive rate", "noise floor", "disparity kept"):
        decimals = {len(number) for row in shown(many) for number in re.findall(r"\.(\d+)", row[name])}
        assert len(decimals) == 1


def test_scores_are_shown_in_their_unit():
    for unit, form in ((1.0, r"0\.\d{4}"), (1000.0, r"\d{2,3}\.\d")):
        rows = shown(traced(regressor(), Z * unit, alphas=[1.0]))
        assert re.match(rf"{form} \[", rows[0]["disparity"])
        assert rows[-1] | {"R²": "0.0000"} == rows[-1]


def test_a_regressor_is_promised_no_interval_it_does_not_have():
    first, second, *_ = repr(traced(regressor(), Z)).splitlines()
    assert "no row has both a higher R² and less disparity" in first
    assert "error" not in first + second
    assert "[95% intervals] of the disparity; disparity: largest difference of mean scores between groups" in second
    assert "positive" not in second


# Words --------------------------------------------------------------------------------------------------------------

MIXED = np.column_stack([AGE, S == "b"]).astype(object)


@pytest.mark.parametrize(
    ("model", "target", "attribute", "words"),
    [
        (FairKernelClassifier, Y, S, "largest difference of positive rates between groups"),
        (FairKernelClassifier, Y, AGE, "largest |covariance| of decision and standardised attribute"),
        (
            FairKernelClassifier,
            Y,
            MIXED,
            "largest difference of positive rates between groups or largest |covariance| of decision and standardised "
            "attribute",
        ),
        (FairKernelRegressor, Z, S, "largest difference of mean scores between groups"),
        (FairKernelRegressor, Z, AGE, "largest |covariance| of score and standardised attribute"),
    ],
)
@pytest.mark.parametrize("criterion", ["parity", "opportunity", "odds"])
def test_the_disparity_is_what_was_measured(model, target, attribute, words, criterion):
    many = traced(model(n_features=30, random_state=0, criterion=criterion), target, attribute, **FEW)
    classes = model is FairKernelClassifier
    within = {"parity": "", "odds": " within a class" if classes else " within a bin of y"}
    within["opportunity"] = " within the positive class" if classes else " within the highest bin of y"
    assert f"disparity: {words}{within[criterion]}" in repr(many).splitlines()[1]
    assert many.plot().axes[0].get_xlabel() == f"disparity out of fold: {words}{within[criterion]}"


def test_a_comparison_of_regressors_is_shown_too():
    assert [row["model"] for row in shown(traced(regressor(), Z, others=Ridge()))][-2:] == ["constant", "Ridge"]
