"""Boosted trees with the best of eight settings: the scorer to beat on tables."""

from functools import lru_cache

from outcomes import timed
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV
from tables import read_split

TREES = {"learning_rate": (0.03, 0.1), "max_leaf_nodes": (7, 31), "max_iter": (60, 200)}


@lru_cache(maxsize=64)
def _settings(name, split, include_sensitive):
    rows = read_split(name, split, include_sensitive=include_sensitive)
    search = GridSearchCV(HistGradientBoostingClassifier(random_state=0), TREES, scoring="accuracy", cv=5, refit=False)
    _, seconds = timed(lambda: search.fit(rows.X, rows.y))
    return search.best_params_, seconds


def tuned_trees(name, split, *, include_sensitive=False):
    """Unfitted trees with the settings of least five-fold error on the training rows, and the seconds of the search."""
    settings, seconds = _settings(name, split, include_sensitive)
    return HistGradientBoostingClassifier(random_state=0, **settings), seconds
