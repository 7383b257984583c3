"""Kernels k(x, z), their sums and products, and the one place that turns a name into a kernel.

Parameters mean what they mean in ``sklearn.metrics.pairwise``; ``gamma=None`` is one over the number of columns.

>>> import numpy as np
>>> X = np.array([[0.0, 1.0], [2.0, 0.0]])
>>> (Linear() + 2.0 * RBF(gamma=0.5)).resolve(2)(X, X).round(3)
array([[3.   , 0.164],
       [0.164, 6.   ]])
"""

from .base import Kernel, Product, Scaled, Sum
from .dot import Linear, Polynomial, Sigmoid
from .given import Precomputed, UserFunction
from .named import NAMED, make_kernel
from .scaled_columns import ColumnScaled
from .stationary import RBF, Exponential, Laplacian

__all__ = [
    "NAMED",
    "RBF",
    "ColumnScaled",
    "Exponential",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "UserFunction",
    "make_kernel",
]
