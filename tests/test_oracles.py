"""Other libraries and exact laws that the library must reproduce.

scikit-learn's KernelRidge has no intercept and ours is not penalised: KernelRidge on the centred Gram matrix and
centred targets is the same regression.
"""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import pairwise_kernels
from tests.helpers import centred, projector, rbf, relative, several_groups, two_groups, with_signs_of

from fairkernel import FairFeatureEmbedding, FairKernelClassifier, FairKernelRegressor
from fairkernel.features import build_features
from fairkernel.features.landmarks import pivoted_cholesky
from fairkernel.kernels import RBF, Linear

X, S, Y = two_groups(50, 30)
X_NEW = two_groups(50, 30, seed=1)[0]
WEIGHT = np.random.default_rng(2).integers(1, 5, size=len(Y)) / 2.0
EXACT = {"features": "exact", "disparity_kept": 1.0}


def kernel_ridge(K, K_new, y, alpha, weight=None):
    """scikit-learn's KernelRidge with an intercept that is not penalised."""
    mean = np.average(y, axis=0, weights=weight)
    model = KernelRidge(alpha=alpha, kernel="precomputed").fit(
        centred(K, weight=weight), y - mean, sample_weight=weight
    )
    return mean + model.predict(centred(K, K_new, weight=weight))


def cauchy(A, B, *, scale=1.0):
    """A user's kernel."""
    return 1.0 / (1.0 + ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2) / scale**2)


KERNELS = {
    "linear": ({"kernel": "linear"}, lambda A, B: A @ B.T),
    "rbf": ({"kernel": "rbf"}, lambda A, B: pairwise_kernels(A, B, metric="rbf")),
    "rbf of given width": (
        {"kernel": "rbf", "gamma": 1.3},
        lambda A, B: pairwise_kernels(A, B, metric="rbf", gamma=1.3),
    ),
    "poly": ({"kernel": "poly"}, lambda A, B: pairwise_kernels(A, B, metric="poly")),
    "poly of given shape": (
        {"kernel": "poly", "degree": 4, "coef0": 0.1, "gamma": 0.2},
        lambda A, B: pairwise_kernels(A, B, metric="poly", degree=4, coef0=0.1, gamma=0.2),
    ),
    "laplacian": ({"kernel": "laplacian"}, lambda A, B: pairwise_kernels(A, B, metric="laplacian")),
    "callable": ({"kernel": cauchy}, cauchy),
    "callable with parameters": (
        {"kernel": cauchy, "kernel_params": {"scale": 2.0}},
        lambda A, B: cauchy(A, B, scale=2.0),
    ),
    "sum": (
        {"kernel": RBF(0.3) + 0.5 * Linear()},
        lambda A, B: pairwise_kernels(A, B, metric="rbf", gamma=0.3) + 0.5 * A @ B.T,
    ),
    "product": (
        {"kernel": RBF(0.3) * Linear()},
        lambda A, B: pairwise_kernels(A, B, metric="rbf", gamma=0.3) * (A @ B.T),
    ),
}


# Kernel ridge -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("name", KERNELS)
def test_keeping_all_disparity_is_scikit_learns_kernel_ridge(name, alpha):
    options, gram = KERNELS[name]
    model = FairKernelRegressor(alpha=alpha, **options, **EXACT).fit(X, Y, sensitive_features=S)
    expected = kernel_ridge(gram(X, X), gram(X_NEW, X), Y, alpha)
    assert relative(model.predict(X_NEW), expected) < 1e-8


@pytest.mark.parametrize("name", ["linear", "rbf", "callable"])
def test_weights_are_scikit_learns_weights(name):
    options, gram = KERNELS[name]
    model = FairKernelRegressor(alpha=0.5, **options, **EXACT)
    model.fit(X, Y, sensitive_features=S, sample_weight=WEIGHT)
    expected = kernel_ridge(gram(X, X), gram(X_NEW, X), Y, 0.5, WEIGHT)
    assert relative(model.predict(X_NEW), expected) < 1e-8


def test_precomputed_gram_matrices_are_scikit_learns():
    K, K_new = rbf(X, X, 0.4), rbf(X_NEW, X, 0.4)
    model = FairKernelRegressor(alpha=0.1, kernel="precomputed", **EXACT).fit(K, Y, sensitive_features=S)
    assert relative(model.predict(K_new), kernel_ridge(K, K_new, Y, 0.1)) < 1e-8


def test_several_targets_are_scikit_learns():
    targets = np.column_stack([Y, X[:, 0] ** 2, np.arange(len(Y))])
    model = FairKernelRegressor(alpha=0.5, **EXACT).fit(X, targets, sensitive_features=S)
    gram = KERNELS["rbf"][1]
    assert relative(model.predict(X_NEW), kernel_ridge(gram(X, X), gram(X_NEW, X), targets, 0.5)) < 1e-8


@pytest.mark.parametrize("groups", [3, 5])
def test_several_groups_do_not_matter_when_all_disparity_is_kept(groups):
    X, s, y = several_groups(groups=groups)
    model = FairKernelRegressor(alpha=0.5, **EXACT).fit(X, y, sensitive_features=s)
    gram = KERNELS["rbf"][1](X, X)
    assert relative(model.predict(X), kernel_ridge(gram, gram, y, 0.5)) < 1e-8


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 30.0])
def test_the_linear_kernel_is_ridge_regression(alpha, weight):
    model = FairKernelRegressor(alpha=alpha, kernel="linear", **EXACT)
    model.fit(X, Y, sensitive_features=S, sample_weight=weight)
    ridge = Ridge(alpha=alpha).fit(X, Y, sample_weight=weight)
    assert_allclose(model.predict(X_NEW), ridge.predict(X_NEW), rtol=1e-9)


# Classification ---------------------------------------------------------------------------------------------


def test_two_classes_are_kernel_ridge_above_one_half():
    labels = np.where(Y > np.median(Y), "yes", "no")
    model = FairKernelClassifier(alpha=0.5, **EXACT).fit(X, labels, sensitive_features=S)
    gram = KERNELS["rbf"][1]
    scores = kernel_ridge(gram(X, X), gram(X_NEW, X), (labels == "yes").astype(float), 0.5)
    assert_allclose(model.decision_function(X_NEW), scores - 0.5, atol=1e-9)
    assert_array_equal(model.predict(X_NEW), np.where(scores >= 0.5, "yes", "no"))
    assert set(model.predict(X_NEW)) == {"yes", "no"}


def test_more_classes_are_kernel_ridge_on_indicators_and_the_largest_score():
    labels = np.digitize(Y, np.quantile(Y, [0.3, 0.6])) + 5
    model = FairKernelClassifier(alpha=0.1, **EXACT).fit(X, labels, sensitive_features=S)
    gram = KERNELS["rbf"][1]
    indicators = (labels[:, None] == [5, 6, 7]).astype(float)
    scores = kernel_ridge(gram(X, X), gram(X_NEW, X), indicators, 0.1)
    assert_allclose(model.decision_function(X_NEW), scores, atol=1e-9)
    assert_array_equal(model.predict(X_NEW), scores.argmax(axis=1) + 5)
    assert len(set(model.predict(X_NEW))) == 3
    assert_allclose(model.decision_function(X_NEW).sum(axis=1), 1.0, rtol=1e-9)


def test_more_classes_lose_the_gap_of_every_score():
    labels = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))
    model = FairKernelClassifier(alpha=0.1, features="exact").fit(X, labels, sensitive_features=S)
    scores = model.decision_function(X)
    assert np.abs(scores[S == 0].mean(axis=0) - scores[S == 1].mean(axis=0)).max() < 1e-12
    assert_allclose(scores.sum(axis=1), 1.0, rtol=1e-9)


# Kernel PCA -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_equal_groups_have_kernel_pca_as_embedding(kernel):
    rows, s = np.vstack([X, X]), np.repeat(["a", "b"], len(X))
    found = FairFeatureEmbedding(4, kernel=kernel, features="exact").fit(rows, sensitive_features=s)
    oracle = KernelPCA(4, kernel=kernel, eigen_solver="dense").fit(rows)
    assert "plain kernel PCA" in found.embedding_chosen_
    assert_allclose(found.eigenvalues_, oracle.eigenvalues_, rtol=1e-9)
    ours, theirs = found.transform(X_NEW), oracle.transform(X_NEW)
    train = found.transform(rows).mean(axis=0)  # theirs are centred on the training rows
    assert_allclose(with_signs_of(ours - train, theirs), theirs, atol=1e-8)
    assert_allclose(projector(found.transform(rows) - train), projector(oracle.transform(rows)), atol=1e-8)


def test_equal_groups_leave_the_regressor_as_it_is_at_every_share_kept():
    rows, s, y = np.vstack([X, X]), np.repeat(["a", "b"], len(X)), np.concatenate([Y, Y + 1])
    gram = KERNELS["rbf"][1]
    expected = kernel_ridge(gram(rows, rows), gram(X_NEW, rows), y, 0.5)
    for kept in (0.0, 0.5, 1.0):
        model = FairKernelRegressor(alpha=0.5, features="exact", disparity_kept=kept).fit(rows, y, sensitive_features=s)
        assert relative(model.predict(X_NEW), expected) < 1e-8


def test_the_linear_embedding_of_equal_groups_is_pca():
    rows, s = np.vstack([X, X]), np.repeat([0, 1], len(X))
    found = FairFeatureEmbedding(3, kernel="linear", features="exact").fit(rows, sensitive_features=s)
    expected = PCA(3).fit(rows).transform(rows)
    Z = found.transform(rows)
    assert_allclose(with_signs_of(Z - Z.mean(axis=0), expected), expected, atol=1e-10)


# A kernel is a kernel, whichever way it is given ------------------------------------------------------------


@pytest.mark.parametrize("kept", [0.0, 0.5])
@pytest.mark.parametrize("weight", [None, WEIGHT * (np.arange(len(Y)) % 7 != 0)], ids=["plain", "with absent rows"])
def test_precomputed_is_rbf(weight, kept):
    K, K_new = rbf(X, X, 0.4), rbf(X_NEW, X, 0.4)
    labels = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))
    fit = {"sensitive_features": S, "sample_weight": weight}
    for kind, y in ((FairKernelRegressor, Y), (FairKernelClassifier, labels)):
        direct = kind(6, gamma=0.4, features="exact", disparity_kept=kept).fit(X, y, **fit)
        given = kind(6, kernel="precomputed", features="exact", disparity_kept=kept).fit(K, y, **fit)
        assert relative(given.predict(K_new), direct.predict(X_NEW)) < 1e-9
        assert relative(given.mean_gap_ + 1, direct.mean_gap_ + 1) < 1e-9
    direct = FairFeatureEmbedding(6, gamma=0.4, features="exact").fit(X, **fit)
    given = FairFeatureEmbedding(6, kernel="precomputed", features="exact").fit(K, **fit)
    expected = direct.transform(X_NEW)
    assert_allclose(with_signs_of(given.transform(K_new), expected), expected, atol=1e-9)
    assert_allclose(given.eigenvalues_, direct.eigenvalues_, rtol=1e-9)


def test_a_callable_that_is_rbf_is_rbf():
    def user(A, B, gamma):
        return rbf(A, B, gamma)

    options = {"features": "exact", "alpha": 0.1}
    given = FairKernelRegressor(6, kernel=user, kernel_params={"gamma": 0.4}, **options)
    named = FairKernelRegressor(6, kernel="rbf", gamma=0.4, **options)
    found, expected = (m.fit(X, Y, sensitive_features=S).predict(X_NEW) for m in (given, named))
    assert relative(found, expected) < 1e-9


def test_as_many_landmarks_as_rows_are_exact():
    options = {"alpha": 0.5, "random_state": 3}
    landmarks = FairKernelRegressor(features="landmarks", n_features=len(X), **options)
    exact = FairKernelRegressor(features="exact", **options)
    found, expected = (m.fit(X, Y, sensitive_features=S).predict(X_NEW) for m in (landmarks, exact))
    assert relative(found, expected) < 1e-8


def test_many_fourier_features_approach_the_kernel():
    exact = FairKernelRegressor(features="exact").fit(X, Y, sensitive_features=S).predict(X_NEW)

    def error(count):
        models = (FairKernelRegressor(features="fourier", n_features=count, random_state=seed) for seed in range(8))
        found = [model.fit(X, Y, sensitive_features=S).predict(X_NEW) for model in models]
        return np.sqrt(np.mean((np.array(found) - exact) ** 2))

    # The error falls like one over the root of the number of features: 16 times more, 4 times less.
    assert_allclose(error(512) / error(32), 1 / 4, rtol=0.3)


# The law of the landmarks -----------------------------------------------------------------------------------


def exact_pivoting_law(K, weight, count):
    """Probability of every ordered choice of landmarks, drawing one at a time (Chen et al. 2023)."""
    law = {}
    for chosen in permutations(range(len(K)), count):
        left, probability = K.copy(), 1.0
        for pivot in chosen:
            mass = weight * np.diagonal(left)
            probability *= mass[pivot] / mass.sum()
            left = left - np.outer(left[:, pivot], left[pivot]) / left[pivot, pivot]
        law[chosen] = probability
    return law


def landmarks_over_seeds(K, weight, count, seeds):
    class Given(Linear):
        """Rows are positions in K, so that K need not come from vectors."""

        def __call__(self, A, B):
            return K[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))]

        def diag(self, A):
            return np.diagonal(self(A, A)).copy()

    rows = np.arange(len(K), dtype=float)[:, None]
    for seed in range(seeds):
        rng = np.random.RandomState(seed)
        drawn = pivoted_cholesky(Given(), rows, weight, limit=count, enough=lambda *_: False, rng=rng)[0].landmarks
        yield tuple(int(i) for i in drawn)


@pytest.mark.parametrize("weight", [np.ones(5), np.array([0.5, 0.5, 3.0, 1.0, 1.0])], ids=["plain", "weighted"])
def test_proposing_several_at_a_time_with_rejection_keeps_the_law_of_one_at_a_time(weight):
    # Two pairs of near duplicates: without rejection both of a pair would be taken far too often.
    K = rbf(np.array([[0.0], [0.2], [1.0], [1.15], [3.0]]), np.array([[0.0], [0.2], [1.0], [1.15], [3.0]]), 1.0)
    K = K * np.outer([1.0, 1.5, 1.0, 0.7, 1.0], [1.0, 1.5, 1.0, 0.7, 1.0])
    law = exact_pivoting_law(K, weight, 3)
    assert_allclose(sum(law.values()), 1.0)
    draws = 3000
    found = dict.fromkeys(law, 0)
    for chosen in landmarks_over_seeds(K, weight, 3, draws):
        found[chosen] += 1

    def p_value(law):
        expected = draws * np.array(list(law.values()))
        counts, rare = np.array(list(found.values())), expected < 5  # too few for the test: one cell together
        cells = [(counts[rare].sum(), expected[rare].sum())] if rare.any() else []
        cells += list(zip(counts[~rare], expected[~rare], strict=True))
        return stats.chisquare(*zip(*cells, strict=True)).pvalue

    assert p_value(law) > 0.01
    # The same number of draws tells the law from that of drawing without looking at what is left.
    blind = exact_pivoting_law(np.diag(np.diagonal(K)), weight, 3)
    assert p_value(blind) < 1e-12


def test_group_weighting_represents_a_minority_that_uniform_landmarks_do_not_see():
    rng = np.random.default_rng(0)
    n, minority, count, gamma = 4000, 20, 200, 0.15
    s = np.repeat([0, 1], [n - minority, minority])
    X = rng.normal(size=(n, 5)) + 4.0 * s[:, None] * rng.choice([-1, 1], size=(n, 5))

    def residual(landmarks):
        K_mm, K_nm = rbf(X[landmarks], X[landmarks], gamma), rbf(X, X[landmarks], gamma)
        left = 1.0 - np.einsum("ij,ji->i", K_nm, np.linalg.solve(K_mm + 1e-12 * np.eye(count), K_nm.T))
        return left[s == 0].mean(), left[s == 1].mean()

    def weighted(weight):
        draw = np.random.RandomState(0)
        return pivoted_cholesky(RBF(gamma), X, weight, limit=count, enough=lambda *_: False, rng=draw)[0].landmarks

    uniform = residual(rng.choice(n - minority, size=count, replace=False))
    plain = residual(weighted(np.ones(n)))
    by_group = residual(weighted(1.0 / np.bincount(s)[s]))
    assert uniform[1] > 0.9
    assert 0.1 < plain[1] < 0.8
    assert by_group[1] < 0.01
    assert by_group[0] < 2 * plain[0] + 0.02  # the price the majority pays is small
    # and this is what the features are built with, and what they report
    built = build_features(RBF(gamma), X, s, np.ones(n), n_features=count, rng=np.random.RandomState(0))
    assert_allclose(built.error_by_group, by_group, atol=1e-6)
