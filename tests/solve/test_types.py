"""The embedding as a value."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fairkernel.solve import Embedding

FOUND = Embedding(np.arange(12.0).reshape(4, 3), np.array([3.0, 2.0, 1.0]), 3, "because")


@pytest.mark.parametrize("k", [0, 1, 3])
def test_the_first_k_are_the_k_best_with_their_eigenvalues(k):
    first = FOUND.first(k)
    assert_array_equal(first.directions, FOUND.directions[:, :k])
    assert_array_equal(first.eigenvalues, FOUND.eigenvalues[:k])
    assert (first.rank, first.reason) == (k, "because")


def test_asking_for_more_than_there_are_gives_all():
    assert FOUND.first(9).rank == 3
    assert FOUND.first(9).directions.shape == (4, 3)


def test_an_embedding_does_not_change():
    with pytest.raises(AttributeError):
        FOUND.rank = 2
