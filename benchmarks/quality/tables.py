"""The tables, splits and preparation that every method of these comparisons shares."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairkernel.datasets import (
    fetch_communities_crime,
    fetch_compas,
    fetch_compas_two_years,
    fetch_credit_default,
    load_college_gpa,
    load_mortgage,
    load_recidivism,
    load_wages,
)
from fairkernel.experiments.context import Rows

FOLDS, REPEATS = 4, 5
SPLITS = tuple(range(FOLDS * REPEATS))  # split i is fold i % 4 of repeat i // 4: each repeat holds every row out once
TEST_SHARE = 1 / FOLDS
TWO_RACES = ("African-American", "Caucasian")  # the pair that studies of this table compare


class Source(NamedTuple):
    """Rows of a table as loaded: a data frame of inputs, the outcome, and the group of each row."""

    data: object
    y: np.ndarray
    s: np.ndarray


def _source(bunch):
    return Source(bunch.data, np.asarray(bunch.target), np.asarray(bunch.sensitive_features))


def _two_races(include_sensitive):
    """COMPAS two-year, the two largest groups only."""
    bunch = fetch_compas_two_years(include_sensitive=include_sensitive)
    kept = np.isin(np.asarray(bunch.sensitive_features), TWO_RACES)
    constant = [name for name in bunch.data if bunch.data[name][kept].nunique() == 1]  # the other races
    y, s = np.asarray(bunch.target)[kept], np.asarray(bunch.sensitive_features)[kept]
    return Source(bunch.data[kept].drop(columns=constant), y, s)


LOADERS: dict[str, Callable] = {
    "mortgage": lambda s: _source(load_mortgage(binary=True, include_sensitive=s)),
    "recidivism": lambda s: _source(load_recidivism(include_sensitive=s)),
    "compas_two_years": _two_races,
    "credit": lambda s: _source(fetch_credit_default(include_sensitive=s)),
    "crime": lambda s: _source(fetch_communities_crime(include_sensitive=s)),
    "compas": lambda s: _source(fetch_compas(include_sensitive=s)),
    "wages": lambda s: _source(load_wages(log=True, include_sensitive=s)),
    "college_gpa": lambda s: _source(load_college_gpa(binary=True, include_sensitive=s)),
}
FAIR = ("mortgage", "recidivism", "compas_two_years")  # no kernel, scale or order of kernel="auto" was chosen on them
CLASSES = ("mortgage", "recidivism", "compas_two_years", "credit", "crime", "compas")
NUMERIC = ("wages", "college_gpa")


@lru_cache(maxsize=4)
def load(name, include_sensitive):
    """A table, once."""
    return LOADERS[name](include_sensitive)


def preparation(X):
    """What a data frame needs before a kernel sees it: numbers scaled, text columns as 0/1 columns."""
    text = [name for name in X.columns if X[name].dtype.kind not in "biuf"]
    numbers = [name for name in X.columns if name not in text]
    return ColumnTransformer(
        [
            ("numbers", StandardScaler(), numbers),
            ("text", OneHotEncoder(handle_unknown="ignore", sparse_output=False), text),
        ],
        verbose_feature_names_out=False,
    )


def split_of(strata, split):
    """Training and test rows: a quarter held out, the same share of every stratum."""
    repeat, fold = divmod(split, FOLDS)
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=repeat).split(strata, strata))[fold]


def read_split(name, split, *, include_sensitive=False):
    """Rows of one split, prepared on its training rows; groups as text."""
    X, y, s = load(name, include_sensitive)
    groups = s.astype(str)
    strata = groups if name in NUMERIC else np.char.add(groups, y.astype(str))
    train, test = split_of(strata, split)
    return prepared(X, y, groups, train, test)


def prepared(X, y, s, train, test):
    """The rows of a split as arrays."""
    prepare = preparation(X).fit(X.iloc[train])
    parts = (prepare.transform(X.iloc[rows]) for rows in (train, test))
    return Rows(next(parts), y[train], s[train], next(parts), y[test], s[test])
