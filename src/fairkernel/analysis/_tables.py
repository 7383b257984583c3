"""Columns as a data frame: the only place of this layer that knows pandas."""

from typing import Any

import numpy as np


def to_pandas(columns: dict[str, np.ndarray]) -> Any:
    """Columns of equal length as a data frame.

    Parameters
    ----------
    columns : dict of str to ndarray

    Returns
    -------
    pandas.DataFrame
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError('data frames need pandas, which is not installed: pip install "fairkernel[app]"') from error
    return pandas.DataFrame(columns)
