"""The projector of rank d whose largest loss over groups is least (Samadi et al. 2018), from the groups' covariances.

    min_P max_g loss_g(P)  =  max_w g(w),   g(w) = Σ_g w_g α_g − (sum of the d largest eigenvalues of Σ_g w_g S_g)

with weights w on the simplex; g is concave. Two groups: a root. More: cutting planes.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.optimize import brentq, linprog
from sklearn.exceptions import ConvergenceWarning

from ..backend import eigh
from ..exceptions import warn

LEVEL = 1e-13  # losses this close, as a share of the groups' mean variance, are equal
NEARLY_WHOLE = (1e-6, 1e-8, 1e-10, 1e-12)  # eigenvalues of P this close to 0 or 1 are rounded, if the loss allows it


@dataclass(frozen=True)
class Losses:
    """loss_g(P) = α_g − <S_g, P> for maps of dimension d."""

    S: np.ndarray
    alpha: np.ndarray
    d: int

    @classmethod
    def of(cls, S: np.ndarray, d: int) -> "Losses":
        return cls(S, np.array([eigh(S_g)[0][:d].sum() for S_g in S]), d)

    def combined(self, w: np.ndarray) -> np.ndarray:
        return np.tensordot(w, self.S, axes=1)

    def of_map(self, basis: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Losses of P = basis diag(share) basisᵀ."""
        return self.alpha - np.einsum("ij,gij->g", (basis * share) @ basis.T, self.S)

    def best_for(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The projector that minimises Σ w_g loss_g, as a basis, and its losses; w @ losses = g(w)."""
        V = eigh(self.combined(w))[1][:, : self.d]
        return V, self.of_map(V, np.ones(self.d))


@dataclass(frozen=True)
class Optimum:
    """Weights w, the bound g(w), and projectors (share, basis) whose mixture attains it up to ``gap``."""

    weights: np.ndarray
    bound: float
    mixture: list[tuple[float, np.ndarray]]
    gap: float
    n_decompositions: int


def level_two(losses: Losses) -> Optimum:
    """Two groups: the root of g'(w) = h(w) = loss_A − loss_B, or the w at which h jumps over zero.

    h does not increase, and h(0) ≥ 0 ≥ h(1). It jumps where eigenvalues d and d + 1 of C_w cross; projectors from
    both sides are then optimal, and so is the mixture whose losses are equal.
    """
    seen: dict[float, tuple] = {}  # by the sign of h; the last look on either side is an end of Brent's bracket
    looks = 0

    def h(w: float) -> float:
        nonlocal looks
        looks += 1
        weights = np.array([w, 1.0 - w])
        V, loss = losses.best_for(weights)
        slope = loss[0] - loss[1] if abs(loss[0] - loss[1]) > LEVEL else 0.0
        seen[np.sign(slope)] = (slope, V, weights, weights @ loss)
        return slope

    # Equal groups, and d = p, are settled by the first look.
    if h(0.5) != 0.0 and h(end := 1.0 if 1.0 in seen else 0.0) != 0.0:
        brentq(h, 0.5, end, xtol=1e-16, rtol=4 * np.finfo(float).eps)
    if 0.0 in seen:
        _, V, w, bound = seen[0.0]
        return Optimum(w, bound, [(1.0, V)], 10 * LEVEL, looks)
    (above, V, w, bound), (below, U, _, _) = seen[1.0], seen[-1.0]
    share = below / (below - above)
    return Optimum(w, bound, [(share, V), (1.0 - share, U)], 10 * LEVEL, looks)


def level_several(losses: Losses, tol: float, max_iter: int) -> Optimum:
    """Any number of groups: Kelley's cutting planes.

    Every w seen gives a plane w ↦ w @ losses above g. The top of the lowest planes is a linear program: its weights
    are looked at next, its value bounds the optimum from above, and its multipliers mix the projectors into a map
    whose largest loss IS that value.
    """
    n_groups = len(losses.alpha)
    w = best = np.full(n_groups, 1.0 / n_groups)
    bound, gap, share = -np.inf, np.inf, np.empty(0)
    planes: list[np.ndarray] = []
    bases: list[np.ndarray] = []
    # A tenth of the tolerance is for the mixture; the rest is left to rounding it.
    while gap > tol / 10 and len(planes) < max_iter:
        V, loss = losses.best_for(w)
        planes.append(loss)
        bases.append(V)
        if w @ loss > bound:
            bound, best = float(w @ loss), w
        w, share = _top_of_the_lowest(np.array(planes))
        gap = float((share @ np.array(planes)).max()) - bound
    if gap > tol:
        warn(
            f"max_iter={max_iter} cutting planes leave a duality gap of {gap:.1e} times the groups' mean variance, "
            f"above tol={tol:.1e}. Raise max_iter or tol.",
            ConvergenceWarning,
        )
    mixture = [(m, V) for m, V in zip(share.tolist(), bases, strict=True) if m > 0.0]
    return Optimum(best, bound, mixture, max(gap, tol), len(planes))


def _top_of_the_lowest(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights w that maximise min_k w @ planes[k], and the multipliers of the planes."""
    n_planes, n_groups = planes.shape
    program = linprog(
        np.append(np.zeros(n_groups), -1.0),  # maximise z
        A_ub=np.column_stack([-planes, np.ones(n_planes)]),  # z ≤ w @ planes[k]
        b_ub=np.zeros(n_planes),
        A_eq=np.append(np.ones(n_groups), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0.0, None)] * n_groups + [(None, None)],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    w, share = np.clip(program.x[:n_groups], 0.0, None), np.clip(-program.ineqlin.marginals, 0.0, None)
    return w / w.sum(), share / share.sum()


def least_rank(found: Optimum, losses: Losses) -> tuple[np.ndarray, np.ndarray]:
    """The mixture as a basis and eigenvalues in (0, 1], of the least rank that keeps its loss."""
    P = sum(m * (V @ V.T) for m, V in found.mixture)
    for near in NEARLY_WHOLE:
        share, basis = eigh(P)
        share[share < near], share[share > 1.0 - near] = 0.0, 1.0
        middle = np.abs(share - 0.5).argmin()
        # The trace is d: the fraction with most room takes what rounding has given or taken.
        share[middle] = np.clip(share[middle] + losses.d - share.sum(), 0.0, 1.0)
        basis, share = fewer_fractions(basis[:, share > 0.0], share[share > 0.0], losses)
        keeps_trace = abs(share.sum() - losses.d) <= NEARLY_WHOLE[-1] * len(P)
        if keeps_trace and losses.of_map(basis, share).max() <= found.bound + found.gap:
            break
    return basis, share


def fewer_fractions(basis: np.ndarray, share: np.ndarray, losses: Losses) -> tuple[np.ndarray, np.ndarray]:
    """A map of no larger losses with fewer eigenvalues between 0 and 1.

    While r of them have r(r + 1)/2 > (number of groups), there is a symmetric Δ on their span with tr Δ = 0 that
    lowers all losses by the same amount (zero at the optimum): follow it until an eigenvalue reaches 0 or 1. Two
    groups end with none, for the trace leaves no lone fraction; three to five end with two at most.
    """
    ones = basis[:, share == 1.0]
    basis, share = basis[:, share < 1.0], share[share < 1.0]
    while (r := len(share)) > 1 and r * (r + 1) // 2 > len(losses.alpha):
        change = _level_change(basis.T @ losses.S @ basis)
        share, rotation = eigh(np.diag(share) + _longest_step(share, change) * change)
        basis = basis @ rotation
        ones = np.column_stack([ones, basis[:, share > 1.0 - NEARLY_WHOLE[-1]]])
        kept = np.minimum(share, 1.0 - share) > NEARLY_WHOLE[-1]
        basis, share = basis[:, kept], share[kept]
    if r == 1:  # the trace is whole
        ones, basis, share = np.column_stack([ones, basis[:, share > 0.5]]), basis[:, :0], share[:0]
    return np.column_stack([ones, basis]), np.append(np.ones(ones.shape[1]), share)


def _level_change(S: np.ndarray) -> np.ndarray:
    """Symmetric Δ ≠ 0 with tr Δ = 0 and <S_g, Δ> the same nonnegative number for every g."""
    n_groups, r = S.shape[:2]
    i, j = np.triu_indices(r)
    if r > n_groups:  # diagonal ones suffice, and are few
        i = j = np.arange(r)
    twice = np.where(i == j, 1.0, 2.0)
    level = S[:-1] - S[-1:]
    entries = scipy.linalg.null_space(np.vstack([np.eye(r)[i, j], level[:, i, j]]) * twice)[:, 0]
    change = np.zeros((r, r))
    change[i, j] = change[j, i] = entries
    return change if np.sum(S[0] * change) >= 0.0 else -change


def _longest_step(share: np.ndarray, change: np.ndarray) -> float:
    """Largest t with 0 ⪯ diag(share) + t Δ ⪯ I."""
    down, up = np.sqrt(share), np.sqrt(1.0 - share)
    lowest, highest = eigh(change / np.outer(down, down))[0][-1], eigh(change / np.outer(up, up))[0][0]
    return 1.0 / max(-lowest, highest)


def on_principal_axes(basis: np.ndarray, share: np.ndarray, C: np.ndarray) -> np.ndarray:
    """The same map on its principal axes under C_w, largest variance first, with settled signs."""
    ones, rest = basis[:, share == 1.0], basis[:, share < 1.0]
    basis = np.column_stack([ones @ eigh(ones.T @ C @ ones)[1], rest])
    largest = basis[np.abs(basis).argmax(axis=0), np.arange(basis.shape[1])]
    return basis * np.where(largest < 0.0, -1.0, 1.0)
