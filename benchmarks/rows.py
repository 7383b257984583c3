"""The rows all benchmarks run on: the paper's Credit table where it can be had, else synthetic ones of its shape."""

from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import StandardScaler

from fairkernel.datasets import fetch_credit_default, make_two_groups

CREDIT_TRAINING, CREDIT_ROWS, CREDIT_COLUMNS = 15_000, 20_000, 23


@dataclass(frozen=True)
class Rows:
    """Standardised inputs, 0/1 labels and groups; training rows first.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    y : ndarray of shape (n,)
    s : ndarray of shape (n,)
    n_training : int
    source : str
        Where the rows are from, for the reader of the table.
    """

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    n_training: int
    source: str

    def first(self, n):
        """X, y and s of the first n training rows."""
        n = min(n, self.n_training)
        return self.X[:n], self.y[:n], self.s[:n]


def load_rows():
    """Credit's first published shuffle, or synthetic rows where the table can be neither found nor downloaded."""
    try:
        credit = fetch_credit_default(as_frame=False)
    except OSError:
        return synthetic_rows(CREDIT_ROWS, CREDIT_TRAINING)
    order = np.concatenate(credit.splits[0])
    X, y, s = credit.data[order], credit.target[order], credit.sensitive_features[order]
    return _standardised(X, y, s, CREDIT_TRAINING, "the paper's Credit table, published shuffle 1")


def synthetic_rows(n, n_training):
    """Two groups in Credit's proportions.

    Parameters
    ----------
    n, n_training : int

    Returns
    -------
    Rows
    """
    made = make_two_groups(n, n_features=CREDIT_COLUMNS, base_rate=0.23, share_b=0.16, gap=0.1, random_state=0)
    s = (made.sensitive_features == "b").astype(np.int64)
    return _standardised(made.data, made.target, s, n_training, "synthetic rows of the Credit table's shape")


def _standardised(X, y, s, n_training, source):
    X = StandardScaler().fit(X[:n_training]).transform(X)
    size = f"{n_training} training and {len(X) - n_training} test rows of {X.shape[1]} columns"
    return Rows(np.ascontiguousarray(X), y, s, n_training, f"{source} ({size})")
