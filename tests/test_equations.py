"""The paper, equation by equation (numbers in order of appearance), and the limits its method has.

Every test compares what the library returns with features="exact" against a formula written with n×n matrices in
``helpers``. The paper's regression has no intercept; ours is not penalised, which is the same regression on centred K
and y.
"""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge
from tests.helpers import (
    D_printed,
    M_exact,
    M_printed,
    centred,
    centring,
    exact_features,
    fair_ridge,
    gap_vector,
    maximal_variance,
    moments_of,
    on_all_rows,
    projector,
    rbf,
    relative,
    shrinkage,
    two_groups,
    with_signs_of,
    without_gap,
)

from fairkernel import FairFeatureEmbedding, FairKernelClassifier, FairKernelRegressor
from fairkernel.metrics import statistical_disparity
from fairkernel.solve import gap_directions

# All n - 2 features of 40 rows are more than a group's rows; here that is the point.
pytestmark = pytest.mark.filterwarnings("ignore:group:fairkernel.exceptions.SmallGroupWarning")

GAMMA = 0.5  # of the RBF kernel; K's condition number is about 300 here
RIDGE = 0.3
X, S, Y = two_groups()
X_NEW = two_groups(seed=1)[0]
N, N_U, N_P = len(S), (S == 0).sum(), (S == 1).sum()
K, K_NEW = rbf(X, X, GAMMA), rbf(X_NEW, X, GAMMA)
C = gap_vector(S)
D = C @ K @ C
S_CENTRED = S - S.mean()
K_C, K_C_NEW, Y_C = centred(K), centred(K, K_NEW), Y - Y.mean()


def embedding(k, **options):
    options = {"kernel": "rbf", "gamma": GAMMA, "features": "exact"} | options
    return FairFeatureEmbedding(k, **options).fit(X, sensitive_features=S)


def regressor(k=None, **options):
    options = {"alpha": RIDGE, "kernel": "rbf", "gamma": GAMMA, "features": "exact"} | options
    return FairKernelRegressor(k, **options).fit(X, Y, sensitive_features=S)


def coefficients(k, **options):
    """The paper's A, n × k."""
    return on_all_rows(embedding(k, **options), N)


@pytest.fixture(scope="module")
def phi():
    return exact_features(X, S, GAMMA)


@pytest.fixture(scope="module")
def moments(phi):
    return moments_of(phi.training, Y[:, None], S)


@pytest.fixture(scope="module")
def delta(moments):
    """The one gap direction, in feature coordinates."""
    return gap_directions(moments.group_means, moments.numeric_covariance, moments.numeric_variance)[:, 0]


def random_directions(columns, seed=0):
    return np.random.default_rng(seed).normal(size=(N, columns))


# Numbered equations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [0.0, 0.01, 1.0, 100.0])
def test_eq_1_fair_kernel_ridge_is_the_regressor_with_all_components(mu):
    # The penalty is the squared covariance: Eq. 1 prints it without the square, which has no minimum.
    kept = 1.0 / (1.0 + mu * shrinkage(K_C, S, RIDGE))
    expected = Y.mean() + K_C_NEW @ fair_ridge(K_C, Y_C, S, RIDGE, mu)
    assert_allclose(regressor(disparity_kept=kept).predict(X_NEW), expected, rtol=1e-9)


def test_eq_2_mean_discrepancy_is_the_squared_norm_of_the_gap_direction(delta):
    K_uu, K_pp, K_up = K[:N_U, :N_U], K[N_U:, N_U:], K[:N_U, N_U:]
    assert_allclose(delta @ delta, K_uu.mean() + K_pp.mean() - 2 * K_up.mean(), rtol=1e-12)


def test_eq_3_every_feature_attains_the_minimum_zero():
    Z = embedding(N - 2).transform(X)
    gaps = Z[S == 0].mean(axis=0) - Z[S == 1].mean(axis=0)
    assert np.abs(gaps).max() < 1e-12
    assert np.abs(random_directions(5).T @ K @ C).min() > 1e-3  # not every direction does


def test_eq_4_features_are_combinations_of_training_rows():
    model = embedding(3)
    assert_allclose(model.transform(X), K @ on_all_rows(model, N), atol=1e-12)


def test_eq_5_features_have_unit_norm():
    A = coefficients(5)
    assert_allclose(np.einsum("ij,ik,kj->j", A, K, A), np.ones(5), rtol=1e-11)


def test_eq_6_holds_with_eigenvalue_zero_for_the_exact_matrix():
    assert np.abs(M_exact(K, S) @ coefficients(N - 2)).max() < 1e-10


def test_eq_6_as_printed_holds_for_the_printed_embedding():
    model = embedding(6, objective="printed")
    A, M = on_all_rows(model, N), M_printed(K, S)
    assert relative((M + M.T) / 2 @ A, K @ A * model.eigenvalues_) < 1e-9


def test_eq_7_the_blocks_of_the_gram_matrix_are_the_second_moments_of_the_groups(phi, moments):
    assert_allclose(np.vstack([K[S == 0], K[S == 1]]), K)
    for g, block in enumerate((K[S == 0], K[S == 1])):
        found = phi.training @ moments.group_second_moments[g] @ phi.training.T
        assert relative(found, block.T @ block) < 1e-12


def test_eq_8_features_of_new_rows_are_kernel_expansions():
    model = embedding(4)
    assert_allclose(model.transform(X_NEW), K_NEW @ on_all_rows(model, N), atol=1e-12)


def test_eq_9_further_features_are_orthogonal_to_the_earlier_ones():
    A = coefficients(N - 2)
    assert np.abs(A.T @ K @ A - np.eye(N - 2)).max() < 1e-9
    # and they are further ones of the same sequence, not another set
    assert_allclose(A[:, :3], with_signs_of(coefficients(3), A[:, :3]), atol=1e-9)


def test_eq_10_to_12_the_training_matrix_is_KA():
    model = embedding(5)
    A, X_FS = on_all_rows(model, N), model.transform(X)
    assert X_FS.shape == (N, 5)
    assert_allclose(X_FS, K @ A, atol=1e-12)
    assert_allclose(model.transform(X[7:8])[0], K[:, 7] @ A, atol=1e-12)


@pytest.mark.parametrize("k", [1, 4, 12])
def test_eq_13_to_15_prediction_is_ridge_regression_on_the_features(k):
    model = embedding(k)
    ridge = Ridge(alpha=RIDGE).fit(model.transform(X), Y)
    assert_allclose(regressor(k).predict(X_NEW), ridge.predict(model.transform(X_NEW)), rtol=1e-9)


def test_eq_13_to_15_hold_for_the_printed_features_too():
    model = embedding(6, objective="printed")
    ridge = Ridge(alpha=1e-4).fit(model.transform(X), Y)
    found = regressor(6, objective="printed", alpha=1e-4)
    assert_allclose(found.predict(X_NEW), ridge.predict(model.transform(X_NEW)), rtol=1e-8)


def test_eq_16_statistical_disparity_is_the_difference_of_positive_rates():
    labels = (Y > np.median(Y)).astype(int)
    model = FairKernelClassifier(gamma=GAMMA, features="exact", disparity_kept=1.0)
    decided = model.fit(X, labels, sensitive_features=S).predict(X)
    expected = abs(decided[S == 1].mean() - decided[S == 0].mean())
    assert expected > 0.05
    assert_allclose(statistical_disparity(labels, decided, sensitive_features=S), expected, rtol=1e-14)


def test_eq_17_the_objective_is_the_squared_gap_for_any_coefficients(phi, delta):
    alpha = random_directions(20)
    f = K @ alpha
    gaps = f[S == 0].mean(axis=0) - f[S == 1].mean(axis=0)
    J = np.einsum("ij,ik,kj->j", alpha, M_exact(K, S), alpha)
    assert_allclose(J, gaps**2, rtol=1e-9)
    assert_allclose((delta @ phi.training.T @ alpha) ** 2, gaps**2, rtol=1e-9)


def test_eq_18_with_its_ones_restored_is_a_rank_one_matrix(phi, delta):
    M = M_exact(K, S)
    assert np.linalg.matrix_rank(M) == 1
    assert relative(M, np.outer(K @ C, K @ C)) < 1e-13
    assert relative(phi.training @ delta, K @ C) < 1e-12


def test_eq_19_the_norm_of_a_direction_is_its_quadratic_form_in_K(phi):
    directions = np.random.default_rng(0).normal(size=(phi.map.n_features, 7))
    alpha = np.zeros((N, 7))
    alpha[phi.map.landmarks] = phi.map.lift(directions)
    assert_allclose(np.einsum("ij,ik,kj->j", alpha, K, alpha), (directions**2).sum(axis=0), rtol=1e-10)


def test_eq_20_to_28_features_are_stationary_with_vanishing_multipliers():
    A, M = coefficients(N - 2), M_exact(K, S)
    assert np.abs(np.tril(A.T @ K @ A, -1)).max() < 1e-9  # Eq. 22 and 24
    assert np.abs(A.T @ M @ A).max() < 1e-12  # Eq. 27 and 28: the multiplier of the orthogonality is zero


# The exact objective: its spectrum, its null space and the choice within it ---------------------------------


def test_the_exact_pencil_has_one_positive_eigenvalue_the_mean_discrepancy():
    values = scipy.linalg.eigh(M_exact(K, S), K, eigvals_only=True)
    assert np.abs(values[:-1]).max() < 1e-12
    assert_allclose(values[-1], D, rtol=1e-10)


def test_the_features_are_the_zero_gap_features_of_largest_variance():
    model = embedding(6)
    A, e = maximal_variance(K, C, 6)
    assert_allclose(model.eigenvalues_, e, rtol=1e-11)
    assert_allclose(with_signs_of(model.transform(X_NEW), K_NEW @ A), K_NEW @ A, atol=1e-10)
    assert_allclose(N * model.transform(X).var(axis=0), e, rtol=1e-11)


def test_lanczos_on_products_with_K_finds_the_same_features():
    H, d = centring(N), K @ C

    def product(v):
        v = H @ v.ravel()
        return H @ (K @ v - d * (d @ v) / D)

    operator = scipy.sparse.linalg.LinearOperator((N, N), matvec=product, dtype=float)
    e, v = scipy.sparse.linalg.eigsh(operator, k=4, which="LA", v0=np.ones(N) + S)
    model = embedding(4)
    Z = model.transform(X)
    assert_allclose(model.eigenvalues_, e[::-1], rtol=1e-10)
    expected = v[:, ::-1] * np.sqrt(e[::-1])
    assert_allclose(with_signs_of(Z - Z.mean(axis=0), expected), expected, atol=1e-9)


def test_the_soft_trade_off_of_gap_against_variance_tends_to_our_features():
    H = centring(N)
    ours = projector(embedding(3).transform(X))

    def distance(tau):
        pencil = np.outer(K @ C, K @ C) - tau * K @ H @ K
        least = scipy.linalg.eigh(pencil, K, subset_by_index=[0, 2])[1]
        return np.abs(projector(K @ least) - ours).max()

    distances = [distance(tau) for tau in (1e-2, 1e-3, 1e-4, 1e-5)]
    # First order in tau: ten times less tau is ten times nearer.
    assert_allclose(np.array(distances[1:]) / distances[:-1], 0.1, rtol=0.15)
    assert distances[-1] < 1e-5


def test_the_number_of_features_is_the_rank_less_one_for_the_mean_and_one_for_the_gap():
    assert embedding(2).rank_ == N - 2


def test_duplicated_rows_make_a_singular_K_and_change_only_the_rank():
    rows = np.concatenate([np.arange(N), np.arange(0, N, 3)])
    A_gap = gap_vector(S[rows])
    K_twice = rbf(X[rows], X[rows], GAMMA)
    model = FairFeatureEmbedding(4, gamma=GAMMA, features="exact").fit(X[rows], sensitive_features=S[rows])
    A, e = maximal_variance(K_twice, A_gap, 4)
    assert np.linalg.matrix_rank(K_twice) == N
    assert model.rank_ == N - 2
    assert_allclose(model.eigenvalues_, e, rtol=1e-10)
    assert_allclose(with_signs_of(model.transform(X[rows]), K_twice @ A), K_twice @ A, atol=1e-9)


def test_permuting_rows_permutes_the_features():
    order = np.random.default_rng(3).permutation(N)
    moved = FairFeatureEmbedding(5, gamma=GAMMA, features="exact").fit(X[order], sensitive_features=S[order])
    expected = embedding(5).transform(X_NEW)
    assert_allclose(with_signs_of(moved.transform(X_NEW), expected), expected, atol=1e-10)


@pytest.mark.parametrize("objective", ["discrepancy", "printed"])
def test_swapping_the_groups_leaves_the_features(objective):
    swapped = FairFeatureEmbedding(5, gamma=GAMMA, features="exact", objective=objective)
    expected = embedding(5, objective=objective).transform(X_NEW)
    found = swapped.fit(X, sensitive_features=1 - S).transform(X_NEW)
    assert_allclose(with_signs_of(found, expected), expected, atol=1e-9)


@pytest.mark.parametrize("groups", [2, 3])
def test_second_moments_bring_the_variances_of_the_groups_together_at_gap_zero(groups):
    rng = np.random.default_rng(0)
    s = np.arange(300) % groups
    rows = rng.normal(size=(300, 6)) * (1 + s[:, None] * [0.8, 0, 0.8, 0, 0.8, 0]) + 0.5 * s[:, None]
    ratio = {}
    for n_moments in (1, 2):
        model = FairFeatureEmbedding(6, kernel="poly", degree=2, features="exact", n_moments=n_moments)
        Z = model.fit_transform(rows, sensitive_features=s)
        assert np.abs(model.mean_gap_).max() < 1e-11
        variance = np.array([Z[s == g].var(axis=0) for g in range(groups)])
        ratio[n_moments] = (variance.max(axis=0) / variance.min(axis=0)).max()
    assert ratio[2] < 0.5 * ratio[1]


# The printed matrix -----------------------------------------------------------------------------------------


def test_the_printed_matrix_is_not_symmetric_though_the_paper_calls_it_so():
    M = M_printed(K, S)
    assert np.abs(M - M.T).max() > 0.1 * np.abs(M).max()


def test_the_printed_form_is_not_the_squared_gap():
    alpha = random_directions(5)
    f = K @ alpha
    J = np.einsum("ij,ik,kj->j", alpha, M_printed(K, S), alpha)
    u, p = f[S == 0], f[S == 1]
    gaps = u.mean(axis=0) - p.mean(axis=0)
    printed = (u**2).sum(axis=0) / N_U**2 + (p**2).sum(axis=0) / N_P**2 - 2 * u.mean(axis=0) * p.mean(axis=0)
    assert_allclose(J, printed, rtol=1e-9)
    assert np.abs(J / gaps**2 - 1).min() > 0.05


def test_the_symmetric_part_of_the_printed_matrix_is_KDK():
    M = M_printed(K, S)
    assert relative((M + M.T) / 2, K @ D_printed(S) @ K) < 1e-13


@pytest.mark.parametrize(("n_u", "n_p"), [(25, 15), (3, 90), (200, 7)])
def test_the_printed_form_has_exactly_one_negative_eigenvalue(n_u, n_p):
    values = np.linalg.eigvalsh(D_printed(np.repeat([0, 1], [n_u, n_p])))
    g_u, g_p = 1 / n_u**2, 1 / n_p**2
    negative = (g_u + g_p - np.sqrt((g_u - g_p) ** 2 + 4 / (n_u * n_p))) / 2
    assert (values < 0).sum() == 1
    assert_allclose(values[0], negative, rtol=1e-10)
    assert values[1] > 0.99 * min(g_u, g_p)


def test_the_printed_embedding_solves_the_generalised_problem():
    M = M_printed(K, S)
    values, A = scipy.linalg.eigh((M + M.T) / 2, K)
    model = embedding(N, objective="printed")
    assert (model.eigenvalues_ < 0).sum() == 1
    assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    expected = K @ A[:, :8]
    assert_allclose(with_signs_of(model.transform(X)[:, :8], expected), expected, atol=1e-8)


def test_the_fairest_printed_feature_has_a_gap_and_one_sign():
    options = {"kernel": "poly", "degree": 3, "gamma": 0.25, "features": "exact"}  # the paper's kernel
    model = FairFeatureEmbedding(1, objective="printed", **options).fit(X, sensitive_features=S)
    f = model.transform(X)[:, 0]
    gap = abs(f[S == 0].mean() - f[S == 1].mean())
    assert_allclose(model.mean_gap_, [gap], rtol=1e-10)
    assert gap > 0.5 * f.std()
    assert (np.sign(f) == np.sign(f.sum())).all()
    # It maximises mean_u f · mean_p f, up to the small diagonal terms.
    K_poly = (0.25 * X @ X.T + 1) ** 3
    A = random_directions(200)
    others = K_poly @ A / np.sqrt(np.einsum("ij,ik,kj->j", A, K_poly, A))
    products = others[S == 0].mean(axis=0) * others[S == 1].mean(axis=0)
    assert f[S == 0].mean() * f[S == 1].mean() > products.max()
    assert_allclose(FairFeatureEmbedding(1, **options).fit(X, sensitive_features=S).mean_gap_, [0.0], atol=1e-12)


def test_the_next_printed_features_have_the_smallest_variance():
    Z = embedding(6, objective="printed").transform(X)
    largest = embedding(1).transform(X).var()
    square = (Z**2).mean(axis=0)
    assert square[1:].max() < 0.05 * min(square[0], largest)
    # No unit direction has a smaller second moment than K's least eigenvalue / n: these come near it.
    least = np.linalg.eigvalsh(K)[:5] / N
    assert (square[1:] < 4 * least).all()


# Closed forms of the regression on all features -------------------------------------------------------------


def ridge_on_all_features():
    A, _ = maximal_variance(K, C, N - 2)
    Z, Z_new = centring(N) @ K @ A, K_NEW @ A - (K @ A).mean(axis=0)
    return Z_new @ np.linalg.solve(Z.T @ Z + RIDGE * np.eye(N - 2), Z.T @ Y_C)


def ridge_with_the_projected_kernel():
    d, d_new = K_C @ C, K_C_NEW @ C
    K_tilde, K_tilde_new = without_gap(K_C, C), K_C_NEW - np.outer(d_new, d) / (C @ d)
    return K_tilde_new @ np.linalg.solve(K_tilde + RIDGE * np.eye(N), Y_C)


def ridge_constrained_to_no_gap():
    a_0, a_c = np.linalg.solve(K_C + RIDGE * np.eye(N), np.column_stack([Y_C, C])).T
    return K_C_NEW @ (a_0 - a_c * (C @ K_C @ a_0) / (C @ K_C @ a_c))


def fair_ridge_with_infinite_penalty():
    a_0, a = np.linalg.solve(K_C + RIDGE * np.eye(N), np.column_stack([Y_C, S_CENTRED])).T
    return K_C_NEW @ (a_0 - a * (S_CENTRED @ K_C @ a_0) / (S_CENTRED @ K_C @ a))


@pytest.mark.parametrize(
    "form",
    [
        ridge_on_all_features,
        ridge_with_the_projected_kernel,
        ridge_constrained_to_no_gap,
        fair_ridge_with_infinite_penalty,
    ],
)
def test_four_closed_forms_are_the_regressor_with_no_disparity_kept(form):
    assert_allclose(regressor(disparity_kept=0.0).predict(X_NEW) - Y.mean(), form(), rtol=1e-8, atol=1e-9)


def test_all_zero_gap_components_are_ridge_with_the_projected_kernel():
    expected = Y.mean() + ridge_with_the_projected_kernel()
    assert_allclose(regressor(N - 2).predict(X_NEW), expected, rtol=1e-8)
    assert relative(regressor(N - 3).predict(X_NEW), expected) > 1e-10  # one less is another predictor


def test_the_training_gap_of_the_regressor_is_zero():
    f = regressor().predict(X)
    assert abs(C @ f) < 1e-12
    assert abs(C @ regressor(disparity_kept=1.0).predict(X)) > 0.1


# Fair kernel ridge (FKRR) -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [1.0, 0.6, 0.05])
def test_the_gradient_of_the_objective_vanishes_at_our_solution(kept):
    mu = (1 / kept - 1) / shrinkage(K_C, S, RIDGE)
    model = regressor(disparity_kept=kept)
    alpha = on_all_rows(model, N)[:, 0]
    f = model.predict(X)
    by_alpha = K @ (f - Y + RIDGE * alpha + mu * S_CENTRED * (S_CENTRED @ f))
    assert np.abs(by_alpha).max() < 1e-9 * np.abs(K @ Y).max()
    assert abs((f - Y).sum()) < 1e-10


@pytest.mark.parametrize("mu", [1e-3, 1.0, 1e3])
def test_sherman_morrison_gives_the_direct_solution(mu):
    a_0, a = np.linalg.solve(K_C + RIDGE * np.eye(N), np.column_stack([Y_C, S_CENTRED])).T
    c_0, q = S_CENTRED @ K_C @ a_0, S_CENTRED @ K_C @ a
    direct = fair_ridge(K_C, Y_C, S, RIDGE, mu)
    assert_allclose(a_0 - a * mu * c_0 / (1 + mu * q), direct, rtol=1e-8, atol=1e-9)
    model = regressor(disparity_kept=1 / (1 + mu * q))
    assert_allclose(model.predict(X_NEW) - Y.mean(), K_C_NEW @ direct, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("kept", [0.9, 0.5, 0.1, 0.003])
def test_the_share_kept_is_the_law_of_the_penalty(kept):
    # s~ᵀf_μ = s~ᵀf_0 / (1 + μq), so μ = (1/ρ - 1)/q leaves the share ρ.
    mu = (1 / kept - 1) / shrinkage(K_C, S, RIDGE)
    penalised = S_CENTRED @ K_C @ fair_ridge(K_C, Y_C, S, RIDGE, mu)
    plain = S_CENTRED @ K_C @ fair_ridge(K_C, Y_C, S, RIDGE, 0.0)
    assert_allclose(penalised, kept * plain, rtol=1e-9)
    assert_allclose(regressor(disparity_kept=kept).mean_gap_, kept * regressor(disparity_kept=1.0).mean_gap_, rtol=1e-9)


def test_a_huge_penalty_is_no_disparity_kept():
    f = K_C @ fair_ridge(K_C, Y_C, S, RIDGE, 1e9)
    assert abs(C @ f) < 1e-8
    # The direct solution loses the digits: its matrix has a condition number near μ.
    assert_allclose(regressor().predict(X) - Y.mean(), f, atol=1e-5)


def test_the_bordered_system_is_the_same_unpenalised_intercept():
    mu = 0.7
    G = np.outer(S_CENTRED, S_CENTRED)
    system = np.block([[K + RIDGE * np.eye(N) + mu * G @ K, np.ones((N, 1))], [np.ones((1, N)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(Y, 0.0))
    model = regressor(disparity_kept=1 / (1 + mu * shrinkage(K_C, S, RIDGE)))
    assert_allclose(model.predict(X_NEW), K_NEW @ solution[:-1] + solution[-1], rtol=1e-8)
    assert_allclose(model.intercept_, solution[-1], rtol=1e-8)


@pytest.mark.parametrize("mu", [0.0, 0.2, 50.0])
def test_the_linear_kernel_is_the_primal_problem(mu):
    X_c = X - X.mean(axis=0)
    gap = X_c.T @ S_CENTRED
    w = np.linalg.solve(X_c.T @ X_c + RIDGE * np.eye(X.shape[1]) + mu * np.outer(gap, gap), X_c.T @ Y)
    kept = 1 / (1 + mu * shrinkage(X_c @ X_c.T, S, RIDGE))
    found = regressor(kernel="linear", disparity_kept=kept).predict(X_NEW)
    assert_allclose(found, Y.mean() + (X_NEW - X.mean(axis=0)) @ w, rtol=1e-9)


def test_the_kernel_on_s_only_scales_the_penalty():
    # H K_s H = κ s~s~ᵀ with κ = k(0,0) + k(1,1) - 2k(0,1): 1 for the linear kernel, 2 for the delta kernel.
    H = centring(N)
    K_s = (S[:, None] == S[None, :]).astype(float)
    delta_kernel = np.linalg.solve(K_C + RIDGE * np.eye(N) + 0.35 * H @ K_s @ H @ K_C, Y_C)
    linear_kernel = fair_ridge(K_C, Y_C, S, RIDGE, 0.7)
    assert_allclose(delta_kernel, linear_kernel, rtol=1e-9, atol=1e-11)
    kept = 1 / (1 + 0.7 * shrinkage(K_C, S, RIDGE))
    assert_allclose(regressor(disparity_kept=kept).predict(X) - Y.mean(), K_C @ delta_kernel, atol=1e-9)


@pytest.mark.parametrize("kept", [0.0, 0.4])
def test_swapping_the_groups_leaves_the_predictions(kept):
    model = FairKernelRegressor(alpha=RIDGE, gamma=GAMMA, features="exact", disparity_kept=kept)
    swapped = model.fit(X, Y, sensitive_features=1 - S).predict(X_NEW)
    assert_allclose(swapped, regressor(disparity_kept=kept).predict(X_NEW), rtol=1e-10)


@pytest.mark.parametrize("estimator", [FairKernelRegressor(), FairKernelClassifier(), FairFeatureEmbedding()])
def test_a_constant_sensitive_attribute_is_refused(estimator):
    with pytest.raises(ValueError, match=r"one group only \(1\): a disparity needs at least two groups"):
        estimator.fit(X, (Y > 0).astype(int), sensitive_features=np.ones(N, dtype=int))
