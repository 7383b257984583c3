"""Which features a kernel gets, how many, and what is said about it."""

import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from fairkernel import FairFeatureEmbedding
from fairkernel.exceptions import IndefiniteKernelWarning, KernelScaleWarning
from fairkernel.features import build_features
from fairkernel.features.build import AUTO_FLOOR, AUTO_LIMIT, AUTO_PAIR_ERROR, AUTO_RESIDUAL, EXACT_GIB
from fairkernel.kernels import RBF, Exponential, Laplacian, Linear, Polynomial, Precomputed, Sigmoid, UserFunction

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3))


def build(kernel, X, codes=None, weight=None, seed=0, **options):
    codes = np.arange(len(X)) % 2 if codes is None else codes
    weight = np.ones(len(X)) if weight is None else weight
    return build_features(kernel, X, codes, weight, rng=np.random.RandomState(seed), **options)


@pytest.mark.parametrize(
    "kernel", [RBF(0.5), Laplacian(0.2), Linear(), Polynomial(0.3, 3), RBF(0.1) * Linear() + Laplacian(1.0)]
)
@pytest.mark.parametrize("kind", ["landmarks", "exact"])
def test_few_rows_are_represented_to_numerical_rank(kernel, kind):
    features = build(kernel, X, kind=kind)
    gram = kernel(X, X)
    np.testing.assert_allclose(features.training @ features.training.T, gram, atol=1e-8 * gram.max())
    np.testing.assert_allclose(features.map(X), features.training, atol=1e-5 * gram.max() ** 0.5)
    assert features.error_by_group.max() < 1e-9


def test_the_error_of_each_group_is_its_share_of_the_diagonal_that_is_missed():
    codes, weight = np.repeat([0, 1], [70, 30]), RNG.uniform(0.5, 2.0, 100)
    features = build(RBF(2.0), X, codes, weight, n_features=20)
    missed = 1.0 - (features.training**2).sum(axis=1)
    for g in range(2):
        expected = np.average(missed[codes == g], weights=weight[codes == g])
        assert features.error_by_group[g] == pytest.approx(expected, rel=1e-9)


def test_more_landmarks_leave_less_of_every_group():
    errors = np.array([build(RBF(1.0), X, n_features=m).error_by_group for m in (5, 20, 50, 100)])
    assert np.all(np.diff(errors, axis=0) < 0)


# n_features="auto"


def test_auto_on_low_rank_takes_the_rank_and_says_so():
    features = build(Linear(), RNG.normal(size=(1500, 4)))
    assert features.map.n_features == 4
    assert features.how == "4 landmarks: the kernel's numerical rank on these rows"


def test_auto_stops_when_the_tolerance_is_met_and_says_so():
    rows = RNG.normal(size=(1500, 3))
    features = build(RBF(0.3), rows)
    assert AUTO_FLOOR <= features.map.n_features < 700
    assert 1e-12 < features.error_by_group.max() <= AUTO_RESIDUAL
    assert features.how.startswith(
        f"{features.map.n_features} landmarks (the tolerance is met): the group served worst misses"
    )


def test_auto_goes_on_until_the_worst_served_group_meets_the_tolerance(monkeypatch):
    monkeypatch.setattr("fairkernel.features.build.AUTO_FLOOR", 0)
    # One landmark serves all rows but two: 0.07% of them, below the tolerance, and all of their group.
    rows, minority = np.zeros((3000, 2)), np.arange(3000) < 2
    rows[minority] = [[100.0, 0.0], [0.0, 100.0]]
    by_group = build(RBF(1.0), rows, minority.astype(int))
    pooled = build(RBF(1.0), rows, np.zeros(3000, dtype=int))
    assert by_group.error_by_group.max() <= AUTO_RESIDUAL
    missed = 1.0 - (pooled.training[minority] ** 2).sum(axis=1)
    assert pooled.error_by_group[0] <= AUTO_RESIDUAL < missed.mean()


@pytest.mark.filterwarnings("ignore::fairkernel.exceptions.KernelScaleWarning")
def test_auto_stops_at_the_limit_and_says_what_is_missed(monkeypatch):
    monkeypatch.setattr("fairkernel.features.build.AUTO_LIMIT", 600)
    features = build(RBF(5.0), RNG.normal(size=(900, 8)))
    assert features.map.n_features == 600
    assert features.how.startswith("600 landmarks (the limit): the group served worst misses 0.")
    assert features.error_by_group.max() > AUTO_RESIDUAL


def test_a_number_of_features_is_taken_at_its_word():
    features = build(RBF(1.0), X, n_features=17)
    assert features.map.n_features == features.training.shape[1] == 17
    assert features.how.startswith("17 landmarks (the limit)")


def test_more_features_than_rows_are_as_many_as_rows():
    assert build(RBF(1.0), X, n_features=5000).map.n_features == 100


@pytest.mark.filterwarnings("ignore::fairkernel.exceptions.KernelScaleWarning")
def test_exact_features_ignore_the_limits_and_reach_the_rank():
    rows = RNG.normal(size=(700, 8))
    features = build(RBF(5.0), rows, kind="exact", n_features=3)
    assert features.map.n_features == 700


def test_auto_fourier_features_double_until_the_pairs_agree():
    features = build(RBF(0.3), X, kind="fourier")
    assert features.map.n_features in {256 * 2**i for i in range(5)}
    assert features.error_by_group.max() <= AUTO_PAIR_ERROR or features.map.n_features >= 2 * AUTO_LIMIT
    assert features.how.startswith(f"{features.map.n_features} random Fourier features: root mean square error")
    assert features.map.landmarks is None


def test_rows_of_equal_inputs_work():
    features = build(RBF(1.0), np.ones((50, 2)))
    assert features.map.n_features == 1
    np.testing.assert_array_equal(features.error_by_group, 0.0)


def test_a_weight_of_two_is_the_row_twice():
    weight = np.where(np.arange(100) < 10, 2.0, 1.0)
    twice = np.r_[np.repeat(np.arange(10), 2), np.arange(10, 100)]
    weighted = build(RBF(1.0), X, np.arange(100) % 2, weight, n_features=30)
    repeated = build(RBF(1.0), X[twice], (np.arange(100) % 2)[twice], n_features=30)
    np.testing.assert_array_equal(twice[repeated.map.landmarks], weighted.map.landmarks)
    np.testing.assert_allclose(weighted.error_by_group, repeated.error_by_group, rtol=1e-9)


# Indefinite kernels


def test_an_indefinite_kernel_is_clipped_with_the_share():
    with pytest.warns(
        IndefiniteKernelWarning, match=r"Sigmoid.*indefinite on these rows: \d+\.\d% of its absolute spectrum"
    ) as caught:
        features = build(Sigmoid(0.5, 1.0), X)
    assert f"{features.clipped_share:.1%}" in str(caught[0].message)
    assert features.clipped_share > 0.01
    assert features.how.endswith("eigenfeatures of 100 landmarks spread evenly over the groups")


def test_the_clipping_warning_points_at_the_line_that_called_fit():
    s = np.arange(100) % 2
    for fit in (FairFeatureEmbedding(kernel="sigmoid").fit, FairFeatureEmbedding(kernel="sigmoid").fit_transform):
        with pytest.warns(IndefiniteKernelWarning) as caught:
            fit(X, sensitive_features=s)
        assert Path(caught[0].filename).name == Path(__file__).name


def test_a_positive_callable_is_not_said_to_be_clipped():
    features = build(UserFunction(lambda A, B: RBF(0.5)(A, B)), X)
    assert features.clipped_share == 0.0


def test_a_positive_gram_matrix_is_not_said_to_be_clipped():
    assert build(Precomputed(), RBF(0.5)(X, X)).clipped_share == 0.0


# Refusals


def test_exact_features_of_too_many_rows_are_refused_before_anything_is_allocated():
    n = int((EXACT_GIB * 2**30 / 8) ** 0.5) + 1000
    rows, codes, weight = np.zeros((n, 1)), np.arange(n) % 2, np.ones(n)
    tracemalloc.start()
    start = time.perf_counter()
    with pytest.raises(ValueError, match=rf"n = {n} rows.* GiB \(limit {EXACT_GIB:g} GiB\); use features='landmarks'"):
        build(RBF(1.0), rows, codes, weight, kind="exact")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
    assert time.perf_counter() - start < 2.0


def test_a_kernel_that_overflows_says_scale_the_columns():
    with pytest.raises(ValueError, match=r"overflows on these rows \(k\(x, x\) up to .*\): scale the columns of X"):
        build(Polynomial(1.0, 6), X * 1e30)


def test_a_kernel_object_with_a_negative_diagonal_is_no_kernel():
    class Negative(Linear):
        def diag(self, X):
            return -super().diag(X)

    with pytest.raises(ValueError, match="negative k\\(x, x\\), so it is not a kernel"):
        build(Negative(), X)


@pytest.mark.parametrize("kernel", [RBF(1.0), Laplacian(1.0), Exponential(1.0)])
def test_columns_that_were_not_scaled_are_said(kernel):
    X = np.random.default_rng(0).normal(size=(300, 3))
    build_features(kernel, X, np.zeros(300, dtype=int), np.ones(300), rng=np.random.RandomState(0))  # says nothing
    with pytest.warns(KernelScaleWarning, match="similar to no other row .* scale the columns of X"):
        build_features(kernel, 1000 * X, np.zeros(300, dtype=int), np.ones(300), rng=np.random.RandomState(0))
    twice = np.repeat(1000 * X[:150], 2, axis=0)  # every row has a twin
    build_features(kernel, twice, np.zeros(300, dtype=int), np.ones(300), rng=np.random.RandomState(0))
