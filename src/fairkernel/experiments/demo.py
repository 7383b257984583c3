"""The demonstration: every kind of model on repeated splits of one table, as plain numbers."""

import platform
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from .. import FairKernelClassifier, __version__
from ..estimators.out_of_fold import out_of_fold_scores
from ..metrics import error_rate, parity_noise_floor, positive_rate, statistical_disparity

LIBRARIES = ("numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class DemoSettings:
    """What the demonstration fits, and how often.

    Parameters
    ----------
    n_splits, seed : int
    test_share : float
        Share of the rows that each split holds out.
    kernels, alphas, n_components : tuple
        The grid that cross-validation on the training rows of each split chooses from.
    disparity_kept : tuple of float
        Levels of the family that leads from plain kernel ridge (1) to equal mean scores (0).
    n_features : int
        Landmarks.
    """

    n_splits: int = 20
    seed: int = 2026
    test_share: float = 0.25
    kernels: tuple[str, ...] = ("rbf", "laplacian")
    alphas: tuple[float, ...] = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
    n_components: tuple[int, ...] = (5, 10, 20, 40, 80, 160)
    disparity_kept: tuple[float, ...] = (1.0, 0.75, 0.5, 0.25, 0.0)
    n_features: int = 300


def run_demo(
    table: Bunch,
    settings: DemoSettings | None = None,
    *,
    n_jobs: int = 1,
    on_split: Callable[[], Any] | None = None,
) -> dict:
    """Fit and measure every model on every split.

    Parameters
    ----------
    table : Bunch
        A data set of two classes, coded 0 and 1, and two groups, as arrays (``as_frame=False``).
    settings : DemoSettings, optional
    n_jobs : int
        Splits at a time; the numbers do not depend on it.
    on_split : function, optional
        Called after each split.

    Returns
    -------
    dict
        Plain values only: ``trials`` (one dict per split and model), ``chosen`` (what cross-validation took,
        one dict per split), ``settings``, ``groups``, ``n_train``, ``n_test``, ``labels``, ``description`` and
        ``versions``.

    Examples
    --------
    >>> from fairkernel.datasets import make_two_groups
    >>> settings = DemoSettings(n_splits=2, kernels=("rbf",), n_components=(5,))
    >>> found = run_demo(make_two_groups(200, random_state=0), settings)
    >>> [trial["method"] for trial in found["trials"][:3]]
    ['constant', 'plain kernel ridge', 'disparity_kept 0.75']
    >>> found["trials"][0]["statistical_disparity"]
    0.0
    """
    settings = settings or DemoSettings()
    X, y, s = table.data, table.target, table.sensitive_features
    # Stratified by class and group: a split never moves rows between groups, nor the base rates.
    strata = np.unique(np.column_stack([y.astype(str), s.astype(str)]), axis=0, return_inverse=True)[1].ravel()
    splitter = StratifiedShuffleSplit(settings.n_splits, test_size=settings.test_share, random_state=settings.seed)
    splits = list(splitter.split(X, strata))
    # One thread per split: threads would change the last bits with the number of jobs, and fight over cores.
    with threadpool_limits(limits=1):
        work = Parallel(n_jobs=n_jobs, backend="threading", return_as="generator")(
            delayed(_run_split)(X, y, s, train, test, settings) for train, test in splits
        )
        chosen, trials = [], []
        for split, (taken, measured) in enumerate(work):
            chosen.append({"split": split} | taken)
            trials += [{"split": split} | trial for trial in measured]
            if on_split is not None:
                on_split()
    train, test = splits[0]
    return {
        "trials": trials,
        "chosen": chosen,
        "settings": asdict(settings),
        "groups": _describe_groups(y, s, test),
        "n_train": len(train),
        "n_test": len(test),
        "labels": list(table.target_names),
        "description": table.DESCR,
        "versions": {
            "fairkernel": __version__,
            "Python": platform.python_version(),
            **{library: version(library) for library in LIBRARIES},
        },
    }


def _run_split(
    X: np.ndarray, y: np.ndarray, s: np.ndarray, train: np.ndarray, test: np.ndarray, settings: DemoSettings
) -> tuple[dict, list[dict]]:
    scaler = StandardScaler().fit(X[train])
    seen, unseen = scaler.transform(X[train]), scaler.transform(X[test])
    chosen = _choose(seen, y[train], s[train], settings)
    majority = Counter(y[train].tolist()).most_common(1)[0][0]
    trials = [_measure("constant", "constant", None, y[test], np.full(len(test), majority), s[test])]
    for name, family, kept, model in _models(chosen, settings):
        model.fit(seen, y[train], sensitive_features=s[train])
        trials.append(_measure(name, family, kept, y[test], model.predict(unseen), s[test]))
    return chosen, trials


def _choose(X: np.ndarray, y: np.ndarray, s: np.ndarray, settings: DemoSettings) -> dict:
    """Kernel and penalty of plain ridge, components and penalty of FKR-F²E: least squared error out of fold."""
    found = []
    for kernel in settings.kernels:
        scores = out_of_fold_scores(
            FairKernelClassifier(kernel=kernel, n_features=settings.n_features, random_state=settings.seed),
            X,
            y,
            sensitive_features=s,
            n_components=[*settings.n_components, None],
            alphas=settings.alphas,
        )
        target = scores.targets[:, None, None, :]
        plain = ((scores.plain[:, -1:] - target) ** 2).mean(axis=(0, 3))[0]
        parity = ((scores.parity[:, :-1] - target) ** 2).mean(axis=(0, 3))
        k, penalty = np.unravel_index(parity.argmin(), parity.shape)
        taken = {
            "kernel": kernel,
            "alpha": settings.alphas[plain.argmin()],
            "n_components": settings.n_components[k],
            "embedding_alpha": settings.alphas[penalty],
        }
        found.append((plain.min(), taken))
    return min(found, key=lambda pair: pair[0])[1]


def _models(chosen: dict, settings: DemoSettings) -> Iterator[tuple[str, str, float | None, Any]]:
    """Name, family, disparity_kept and estimator of each row of the table after the constant."""
    shared = {
        "kernel": chosen["kernel"],
        "n_features": settings.n_features,
        "random_state": settings.seed,
    }
    for kept in settings.disparity_kept:
        name = "plain kernel ridge" if kept == 1 else f"disparity_kept {kept:g}"
        yield name, "ridge", kept, FairKernelClassifier(alpha=chosen["alpha"], disparity_kept=kept, **shared)
    embedded = shared | {"n_components": chosen["n_components"], "alpha": chosen["embedding_alpha"]}
    yield "FKR-F²E exact", "embedding", None, FairKernelClassifier(objective="discrepancy", **embedded)
    yield "FKR-F²E as printed", "printed", None, FairKernelClassifier(objective="printed", **embedded)


def _measure(name: str, family: str, kept: float | None, y: np.ndarray, predicted: np.ndarray, s: np.ndarray) -> dict:
    rate = positive_rate(y, predicted, pos_label=1)
    groups, sizes = np.unique(s, return_counts=True)
    return {
        "method": name,
        "family": family,
        "disparity_kept": kept,
        "error": error_rate(y, predicted),
        "statistical_disparity": statistical_disparity(y, predicted, sensitive_features=s, pos_label=1),
        "positive_rate": rate,
        "group_positive_rates": {str(g): float(np.mean(predicted[s == g] == 1)) for g in groups},
        "noise_floor": parity_noise_floor(sizes, rate),
    }


def _describe_groups(y: np.ndarray, s: np.ndarray, test: np.ndarray) -> list[dict]:
    return [
        {
            "group": str(g),
            "n_rows": int((s == g).sum()),
            "n_test": int((s[test] == g).sum()),
            "base_rate": float(np.mean(y[s == g] == 1)),
        }
        for g in np.unique(s)
    ]
