"""From a kernel and training rows to features: which map, how many, and why it stopped there."""

from typing import Any

import numpy as np

from ..backend import to_numpy
from ..exceptions import IndefiniteKernelWarning, KernelScaleWarning, warn
from ..kernels import RBF, Exponential, Kernel, Laplacian
from .clipped import clipped_eigenfeatures
from .fourier import fourier_features, pair_error_by_group
from .landmarks import pivoted_cholesky
from .map import Features

Array = Any
AUTO_FLOOR = 500  # landmarks always taken: below this an m×m solve costs nothing
AUTO_LIMIT = 2000
AUTO_RESIDUAL = 1e-3  # share of a group's kernel diagonal that may stay unexplained
AUTO_PAIR_ERROR = 0.02  # the same for Fourier features, as an error of k(x, z) itself
ISOLATED = 1e-3  # a row whose nearest neighbour is less similar stands alone; k(x, x) is 1
ISOLATED_ROWS, ISOLATED_AMONG, ISOLATED_AT_LEAST = 100, 2000, 20  # rows looked at, and the rows they are compared with
EXACT_GIB = 4.0  # refuse larger n×n work instead of failing inside an allocation


def build_features(
    kernel: Kernel,
    X: Array,
    codes: np.ndarray,
    weight: np.ndarray,
    *,
    kind: str = "landmarks",
    n_features: int | str = "auto",
    rng: np.random.RandomState,
) -> Features:
    """Build the features that stand in for a kernel.

    Parameters
    ----------
    kernel : Kernel
        Resolved: no parameter is None.
    X : array of shape (n, p)
    codes : ndarray of shape (n,)
        Group of each row.
    weight : ndarray of shape (n,)
        Positive.
    kind : {"landmarks", "exact", "fourier"}
    n_features : int or "auto"
        "auto" takes landmarks until every group's mean residual is at most 0.001 of its mean k(x, x), at
        least 500 and at most 2000 (fewer when the kernel's rank is lower).
    rng : RandomState

    Returns
    -------
    Features
    """
    n = X.shape[0]
    by_group = np.bincount(codes, weights=weight)
    _check_products(X, kernel)
    exact = kind == "exact"
    if exact:
        _refuse_too_large(n)
    _warn_of_isolated_rows(kernel, X)
    if kind == "fourier":
        return _fourier(kernel, X, codes, n_features, rng)
    limit = n if exact else min(n, AUTO_LIMIT if n_features == "auto" else int(n_features))
    with np.errstate(over="ignore", invalid="ignore"):  # looked at right below, with a sentence that helps
        diagonal = kernel.diag(X)
    _check_diagonal(diagonal, kernel)
    mean_diagonal = np.bincount(codes, weights=weight * np.abs(to_numpy(diagonal))) / by_group

    def error_by_group(residual: np.ndarray) -> np.ndarray:
        mean_residual = np.bincount(codes, weights=weight * residual) / by_group
        return mean_residual / np.where(mean_diagonal > 0, mean_diagonal, 1.0)

    if not kernel.is_psd:
        with np.errstate(over="ignore", invalid="ignore"):  # refused there, with a sentence that helps
            feature_map, training, residual, clipped = clipped_eigenfeatures(kernel, X, codes, limit=limit, rng=rng)
        if clipped:
            warn(
                f"kernel {kernel!r} is indefinite on these rows: {clipped:.1%} of its absolute spectrum is negative "
                "and was clipped to zero.",
                IndefiniteKernelWarning,
            )
        how = f"{feature_map.n_features} eigenfeatures of {limit} landmarks spread evenly over the groups"
        return Features(feature_map, training, error_by_group(residual), how, clipped)

    def enough(count: int, residual: np.ndarray) -> bool:
        if exact or n_features != "auto" or count < AUTO_FLOOR:
            return False
        return bool(error_by_group(residual).max() <= AUTO_RESIDUAL)

    feature_map, training, residual = pivoted_cholesky(
        kernel, X, weight / by_group[codes], limit=limit, enough=enough, rng=rng
    )
    errors = error_by_group(residual)
    return Features(feature_map, training, errors, _why(feature_map.n_features, limit, errors))


def _why(count: int, limit: int, errors: np.ndarray) -> str:
    worst = f"the group served worst misses {errors.max():.2g} of its mean k(x, x)"
    if count < limit and errors.max() < 1e-9:
        return f"{count} landmarks: the kernel's numerical rank on these rows"
    return f"{count} landmarks ({'the limit' if count == limit else 'the tolerance is met'}): {worst}"


def _fourier(
    kernel: Kernel, X: Array, codes: np.ndarray, n_features: int | str, rng: np.random.RandomState
) -> Features:
    count = 256 if n_features == "auto" else int(n_features)
    while True:
        feature_map = fourier_features(kernel, X, count, rng)
        training = feature_map(X)
        errors = pair_error_by_group(kernel, X, training, codes, rng)
        if n_features != "auto" or errors.max() <= AUTO_PAIR_ERROR or count >= 2 * AUTO_LIMIT:
            break
        count *= 2
    how = f"{feature_map.n_features} random Fourier features: root mean square error of k {errors.max():.2g} at worst"
    return Features(feature_map, training, errors, how)


def _refuse_too_large(n: int) -> None:
    gib = n * n * 8 / 2**30
    if gib > EXACT_GIB:
        raise ValueError(
            f"features='exact' on n = {n} rows may need an n×n array of {gib:.1f} GiB (limit {EXACT_GIB:g} GiB); "
            "use features='landmarks', which needs n × n_features."
        )


def _warn_of_isolated_rows(kernel: Kernel, X: Array) -> None:
    """Say so when most rows are similar to themselves alone: the scores of new rows would all be the intercept."""
    n = X.shape[0]
    if not isinstance(kernel, RBF | Laplacian | Exponential) or n < ISOLATED_AT_LEAST:
        return
    some, others = np.arange(0, n, max(1, n // ISOLATED_ROWS)), np.arange(0, n, max(1, n // ISOLATED_AMONG))
    alike = to_numpy(kernel(X[:: some[1], :], X[:: others[1], :]))
    nearest = np.where(some[:, None] == others, 0.0, alike).max(axis=1)
    if float(np.median(nearest)) < ISOLATED:
        warn(
            f"kernel {kernel!r} sees most rows as similar to no other row (k(x, z) is below {ISOLATED:g}), so that new "
            "rows all get much the same score. Lower gamma, or scale the columns of X, for instance with "
            "sklearn.preprocessing.StandardScaler, where that was not done.",
            KernelScaleWarning,
        )


def _check_products(X: Array, kernel: Kernel) -> None:
    # Squares of the columns appear in every kernel, also in those whose k(x, x) is 1.
    largest = float(np.abs(to_numpy(X)).max())
    if largest > np.sqrt(np.finfo(to_numpy(X).dtype).max) / 1e3:
        raise ValueError(
            f"kernel {kernel!r} overflows on these rows (values up to {largest:.3g}): scale the columns of X first, "
            "for instance with sklearn.preprocessing.StandardScaler."
        )


def _check_diagonal(diagonal: Array, kernel: Kernel) -> None:
    values = to_numpy(diagonal).astype(np.float64)
    if not np.isfinite(values).all() or np.abs(values).max() > 1e150:
        raise ValueError(
            f"kernel {kernel!r} overflows on these rows (k(x, x) up to {np.abs(values).max():.3g}): scale the columns "
            "of X first, for instance with sklearn.preprocessing.StandardScaler."
        )
    if kernel.is_psd and values.min() < 0:
        raise ValueError(f"kernel {kernel!r} has a negative k(x, x), so it is not a kernel.")
