"""How far an embedding's span turns when the rows are drawn again.

The objective (Eq. 3) is rank one: every frame of k directions without a gap attains its minimum, and a solver that
stops there returns any of them. The rule of largest variance picks one; how firmly depends on e_k / e_{k+1}, and on how
well the rows tell the gap directions that are projected out.
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.base import clone
from sklearn.utils import check_random_state

from ..moments import Moments

RIGHT_ANGLE = 90.0


@dataclass(frozen=True, eq=False)
class SpanStability:
    """Principal angles between the span found on all rows and the spans found on resamples.

    Parameters
    ----------
    angles : ndarray of shape (n_resamples, k)
        In degrees, largest first: 0 is the same span, 90 a direction that is lost. A resample that supports fewer
        than k directions loses those it lacks.
    without_rule : ndarray of shape (n_resamples, k)
        The same between frames drawn at random among all that attain the objective's minimum.
    gap_angles : ndarray of shape (n_resamples, n_gap_directions)
        How far the gap directions themselves turn. Large: few rows, or groups that hardly differ.
    eigenvalue_ratio : float
        e_k / e_{k+1}: variance of the last direction kept over that of the first left out. Near 1 these two change
        places from sample to sample; infinite when none is left out.
    """

    angles: np.ndarray
    without_rule: np.ndarray
    gap_angles: np.ndarray
    eigenvalue_ratio: float

    @property
    def largest(self) -> float:
        """Largest angle over all resamples."""
        return float(self.angles.max())

    @property
    def mean(self) -> float:
        """Mean angle over resamples and directions."""
        return float(self.angles.mean())

    def __str__(self) -> str:
        resamples, k = self.angles.shape
        gap = f", the gap by {self.gap_angles.mean():.1f}°" if self.gap_angles.size else ""
        return (
            f"over {resamples} resamples the span of {k} component{'' if k == 1 else 's'} turns by {self.mean:.1f}° on "
            f"average and {self.largest:.1f}° at most (any other components without a gap: "
            f"{self.without_rule.mean():.1f}° and {self.without_rule.max():.1f}°){gap}; "
            f"e_k / e_k+1 = {self.eigenvalue_ratio:.3g}"
        )


def span_stability(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    n_resamples: int = 20,
    random_state: Any = None,
) -> SpanStability:
    """Embed rows and resamples of them in the same kernel features, and compare the spans.

    Parameters
    ----------
    estimator : FairFeatureEmbedding
        Supplies the parameters; it is not changed.
    X, y, sensitive_features, sample_weight
        As in ``fit``.
    n_resamples : int, default=20
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    SpanStability
    """
    _refuse(estimator, n_resamples)
    model, rng = clone(estimator), check_random_state(random_state)
    model._validate_params()
    rows = model._training_rows(X, y, sensitive_features, sample_weight)
    phi, cells = model._learn_features(rows), model._cells(rows)
    empty, targets = model._no_moments(rows, phi), model._targets(rows)

    def moments_of(weight: np.ndarray) -> Moments:
        return empty.update(phi, targets, cells.codes, cells.numeric, weight)

    whole = moments_of(rows.weight)
    found = model._embed(whole, None)
    if not found.rank:
        raise ValueError("X supports no direction without a gap, so there is no span: all of its rows look alike.")
    e, k, Q = found.eigenvalues, min(model._k(len(rows.X)), found.rank), model._gap_directions(whole)
    # Frames have a stream of their own: a seed draws the same rows whatever k is.
    frames = np.random.RandomState(rng.randint(2**31 - 1))
    span, arbitrary = found.directions[:, :k], _frame_without_gap(Q, k, frames)
    angles, without_rule, gap_angles = [], [], []
    for _ in range(n_resamples):
        again = moments_of(rows.weight * _times_drawn(cells.codes, rng))
        Q_again = model._gap_directions(again)
        angles.append(principal_angles(span, model._embed(again, None).directions[:, :k]))
        without_rule.append(principal_angles(arbitrary, _frame_without_gap(Q_again, k, frames)))
        gap_angles.append(principal_angles(Q, Q_again))
    ratio = float(e[k - 1] / e[k]) if k < len(e) else np.inf
    return SpanStability(np.array(angles), np.array(without_rule), np.array(gap_angles), ratio)


def principal_angles(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Angles between two spans in degrees, largest first.

    Parameters
    ----------
    A : ndarray of shape (m, k)
    B : ndarray of shape (m, any number)

    Returns
    -------
    ndarray of shape (k,)
        How far each direction of A is from the span of B; columns that B lacks are right angles.

    Examples
    --------
    >>> principal_angles(np.eye(3)[:, :2], np.array([[1.0], [0.0], [1.0]])).round()
    array([90., 45.])
    """
    lost = np.full(max(0, A.shape[1] - B.shape[1]), RIGHT_ANGLE)
    return np.append(lost, np.degrees(subspace_angles(A, B)) if A.shape[1] and B.shape[1] else [])


def _frame_without_gap(Q: np.ndarray, k: int, rng: np.random.RandomState) -> np.ndarray:
    """k random directions orthogonal to Q: as good a minimiser of Eq. 3 as any."""
    R = rng.normal(size=(len(Q), k))
    return np.linalg.qr(R - Q @ (Q.T @ R))[0]


def _times_drawn(codes: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """How often each row is drawn; every cell keeps its number of rows, so that none is lost."""
    times = np.empty(len(codes))
    for cell in np.unique(codes):
        members = np.flatnonzero(codes == cell)
        times[members] = rng.multinomial(len(members), np.full(len(members), 1.0 / len(members)))
    return times


def _refuse(estimator: Any, n_resamples: Any) -> None:
    if not isinstance(n_resamples, Integral) or n_resamples < 1:
        raise ValueError(f"n_resamples must be an integer of at least 1; got {n_resamples!r}.")
    for name, needed in (("objective", "discrepancy"), ("n_moments", 1)):
        if getattr(estimator, name) != needed:
            raise ValueError(
                f"span_stability looks at the rule of largest variance, which {name}={getattr(estimator, name)!r} does "
                f"not use; set {name}={needed!r}."
            )
