import sys

import numpy as np
import pandas as pd
import pytest

from fairkernel.datasets._bunch import Card, make_bunch

SHAPE = {
    "frame", "data", "target", "sensitive_features", "feature_names", "target_names", "splits", "DESCR",
}  # fmt: skip
CARD = Card(
    title="Four rows",
    source="made up",
    about="Two groups.",
    columns={"x": "a number", "t": "1 = yes"},
    sensitive={"g": "the group", "h": "another group"},
    left_out={"x": "may be left out", "z": "is t"},
    caveats=["few rows"],
    target_names=["no", "yes"],
)
X = {"x": np.array([1, 2, 3, 4])}
T = ("t", np.array([0, 1, 1, 1]))
G = {"g": np.array(["u", "u", "v", "v"], dtype=object)}
H = {"h": np.array(["p", "q", "p", "q"], dtype=object)}


@pytest.mark.parametrize("as_frame", [True, False])
def test_every_bunch_has_the_same_entries(as_frame):
    assert set(make_bunch(CARD, X, T, G, as_frame=as_frame)) == SHAPE


def test_frame_and_arrays_hold_the_same_values():
    framed, plain = (make_bunch(CARD, X, T, G | H, as_frame=as_frame) for as_frame in (True, False))
    assert plain.frame is None
    np.testing.assert_array_equal(framed.data.to_numpy(), plain.data)
    np.testing.assert_array_equal(framed.target.to_numpy(), plain.target)
    np.testing.assert_array_equal(framed.sensitive_features.to_numpy(), plain.sensitive_features)
    assert plain.data.dtype == np.float64


def test_one_sensitive_attribute_is_one_dimensional_and_named():
    framed = make_bunch(CARD, X, T, G, as_frame=True)
    assert isinstance(framed.sensitive_features, pd.Series)
    assert framed.sensitive_features.name == "g"
    assert make_bunch(CARD, X, T, G, as_frame=False).sensitive_features.shape == (4,)


def test_a_sensitive_column_among_the_inputs_stands_once_in_the_frame():
    card = Card(**{**CARD.__dict__, "columns": {**CARD.columns, "g": "the group"}})
    bunch = make_bunch(card, {**X, **G}, T, G, as_frame=True)
    assert list(bunch.frame.columns) == ["x", "g", "t"]


def test_changing_what_a_loader_returned_changes_nothing_else():
    values = np.array([0, 1, 1, 1])
    values.flags.writeable = False
    plain = make_bunch(CARD, X, ("t", values), G, as_frame=False)
    plain.target[0] = 7
    assert values[0] == 0
    framed = make_bunch(CARD, X, ("t", values), G, as_frame=True)
    framed.data["new"] = 0
    framed.target.iloc[0] = 7
    assert list(framed.frame.columns) == ["x", "g", "t"]
    assert framed.frame["t"].iloc[0] == 0


def test_the_description_states_rates_per_group_and_per_intersection():
    one = make_bunch(CARD, X, T, G, as_frame=False).DESCR
    assert "all         4  0.7500" in one
    assert "u           2  0.5000" in one
    assert "v           2  1.0000" in one
    assert "share yes" in one
    both = make_bunch(CARD, X, T, G | H, as_frame=False).DESCR
    assert "u / p       1  0.0000" in both
    assert "h: another group" in both


def test_the_description_lists_as_left_out_only_what_is_left_out():
    kept = make_bunch(CARD, X, T, G, as_frame=False).DESCR
    assert "x: a number" in kept
    assert "x: may be left out" not in kept
    assert "z: is t" in kept
    assert "x: may be left out" in make_bunch(CARD, {}, T, G, as_frame=True).DESCR


def test_an_input_the_card_does_not_describe_is_refused():
    with pytest.raises(KeyError, match="undescribed"):
        make_bunch(CARD, {"undescribed": X["x"]}, T, G, as_frame=False)


def test_without_pandas_frames_say_what_to_install_and_arrays_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "fairkernel\[app\]".*as_frame=False'):
        make_bunch(CARD, X, T, G, as_frame=True)
    assert make_bunch(CARD, X, T, G, as_frame=False).data.shape == (4, 1)
