"""The objective of the prejudice remover with its derivatives, and the search for its lowest minimum."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit, kl_div, logit
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from ..exceptions import warn
from ..rows import TrainingRows

SMALLEST_RATE = 1e-10  # q_s and r stay this far from 0 and 1, where their logits end
FIRST_STEP, STEP_FACTOR = 0.5, 4.0  # continuation: η = 0, 0.5, 2, 8, ... and the η asked for
NEWTON_STEPS = 20
HESSIAN_SIDE = 2000  # groups × columns; beyond, the Hessian is too large to be worth forming


@dataclass(frozen=True)
class PrejudiceObjective:
    """The objective and its derivatives, as functions of all weight vectors in one flat array.

    One vector for all groups is the problem with one per group, restricted to equal ones: its derivatives are sums
    over the groups' blocks.
    """

    Z: list[np.ndarray]  # [x, 1] of each group
    y: list[np.ndarray]
    weight: list[np.ndarray]
    group_weight: np.ndarray
    eta: float
    alpha: float
    shared: bool

    @classmethod
    def of(cls, rows: TrainingRows, eta: float, alpha: float, *, shared: bool) -> "PrejudiceObjective":
        Z = np.column_stack([rows.X, np.ones(len(rows.X))])
        members = [np.flatnonzero(rows.sensitive.codes == s) for s in range(len(rows.sensitive.groups))]
        weight = [rows.weight[at] for at in members]
        group_weight = np.array([w.sum() for w in weight])
        return cls([Z[at] for at in members], [rows.y[at] for at in members], weight, group_weight, eta, alpha, shared)

    @property
    def n_vectors(self) -> int:
        return 1 if self.shared else len(self.Z)

    @property
    def n_parameters(self) -> int:
        return self.n_vectors * self.Z[0].shape[1]

    def scores(self, w: np.ndarray) -> list[np.ndarray]:
        vectors = np.broadcast_to(w.reshape(self.n_vectors, -1), (len(self.Z), self.Z[0].shape[1]))
        return [Z @ v for Z, v in zip(self.Z, vectors, strict=True)]

    def rates(self, scores: list[np.ndarray]) -> tuple[np.ndarray, float]:
        """q_s and r."""
        sums = np.array([weight @ expit(m) for weight, m in zip(self.weight, scores, strict=True)])
        q, r = sums / self.group_weight, sums.sum() / self.group_weight.sum()
        return np.clip(q, SMALLEST_RATE, 1 - SMALLEST_RATE), np.clip(r, SMALLEST_RATE, 1 - SMALLEST_RATE)

    def prejudice_index(self, w: np.ndarray) -> float:
        # Equal rates leave a rounding error of either sign.
        return max(0.0, self._divergence(*self.rates(self.scores(w))))

    def _divergence(self, q: np.ndarray, r: float) -> float:
        """R = Σ_s n_s KL(q_s ‖ r)."""
        return float(self.group_weight @ (kl_div(q, r) + kl_div(1 - q, 1 - r)))

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        scores = self.scores(w)
        q, r = self.rates(scores)
        L = logit(q) - logit(r)
        loss, blocks = 0.0, []
        for s, (Z, y, weight, m) in enumerate(zip(self.Z, self.y, self.weight, scores, strict=True)):
            # -y ln p - (1 - y) ln(1 - p), finite for every score
            loss += weight @ (np.logaddexp(0.0, m) - y * m)
            p = expit(m)
            blocks.append(((p - y + self.eta * L[s] * p * (1 - p)) * weight) @ Z)
        gradient = np.sum(blocks, axis=0) if self.shared else np.concatenate(blocks)
        value = float(loss + self.eta * self._divergence(q, r) + self.alpha / 2 * (w @ w))
        return value, gradient + self.alpha * w

    def hessian(self, w: np.ndarray) -> np.ndarray:
        scores = self.scores(w)
        q, r = self.rates(scores)
        L = logit(q) - logit(r)
        d = self.Z[0].shape[1]
        curvature = np.zeros((len(self.Z), d, len(self.Z), d))
        slopes = np.empty((len(self.Z), d))  # n_s dq_s/dw_s = n dr/dw_s
        for s, (Z, weight, m) in enumerate(zip(self.Z, self.weight, scores, strict=True)):
            p = expit(m)
            v = p * (1 - p)
            slopes[s] = (weight * v) @ Z
            through_q = self.eta / (self.group_weight[s] * q[s] * (1 - q[s]))
            curvature[s, :, s] = (Z.T * (weight * v * (1 + self.eta * L[s] * (1 - 2 * p)))) @ Z
            curvature[s, :, s] += through_q * np.outer(slopes[s], slopes[s])
        through_r = self.eta / (self.group_weight.sum() * r * (1 - r))
        curvature -= through_r * np.multiply.outer(slopes, slopes)
        H = curvature.sum(axis=(0, 2)) if self.shared else curvature.reshape(self.n_parameters, self.n_parameters)
        return H + self.alpha * np.eye(self.n_parameters)


def lowest_minimum(problem: PrejudiceObjective, max_iter: int, tol: float) -> tuple[np.ndarray, int]:
    """The best minimum found, and the iterations spent."""
    gtol = tol * problem.group_weight.sum()

    def descend(eta: float, start: np.ndarray) -> Any:
        # ftol=0: the gradient decides, not a small decrease.
        return minimize(
            replace(problem, eta=eta).value_and_gradient,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": max_iter, "maxfun": 2 * max_iter + 100, "gtol": gtol, "ftol": 0.0, "maxcor": 20},
        )

    # NumPy and SciPy bring a thread pool each; taking turns on small problems, the idle one starves the other.
    with threadpool_limits(limits=1, user_api="blas"):
        zero = np.zeros(problem.n_parameters)
        runs = [descend(0.0, zero)]
        eta = FIRST_STEP
        while eta < problem.eta:
            runs.append(descend(eta, runs[-1].x))
            eta *= STEP_FACTOR
        if problem.eta > 0:
            ends = [descend(problem.eta, start) for start in (runs[-1].x, runs[0].x, zero)]
            best = min(ends, key=lambda run: run.fun)
            runs += ends
        else:
            best = runs[0]
        w, steepest = _finish(problem, best.x)
    if steepest > gtol:
        warn(
            f"PrejudiceRemover did not converge at eta={problem.eta}: the largest partial derivative is "
            f"{steepest:.3g}, {gtol:.3g} is asked for. L-BFGS-B stopped with {best.message!r}. Standardise X, or "
            "raise max_iter or tol.",
            ConvergenceWarning,
        )
    return w, sum(run.nit for run in runs)


def _finish(problem: PrejudiceObjective, w: np.ndarray) -> tuple[np.ndarray, float]:
    """Newton steps while they shorten, and the largest partial derivative that is left."""
    _, gradient = problem.value_and_gradient(w)
    small = len(problem.Z) * problem.Z[0].shape[1] <= HESSIAN_SIDE
    for _ in range(NEWTON_STEPS if small else 0):
        try:
            factor = cho_factor(problem.hessian(w))
        except LinAlgError:  # no minimum nearby
            break
        step = cho_solve(factor, gradient)
        _, left = problem.value_and_gradient(w - step)
        # Steps are compared, not gradients: with a large η the gradient is steep across the valley R = 0 and says
        # little about the way along it.
        if not np.linalg.norm(cho_solve(factor, left)) < np.linalg.norm(step):
            break
        w, gradient = w - step, left
    return w, float(np.abs(gradient).max())
