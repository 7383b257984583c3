"""The paper's three tables as its authors published them, each with its 50 published shuffles."""

import io

import numpy as np
from sklearn.utils import Bunch

from ._bunch import Splits, make_bunch, read_card
from .fetch import SOURCES, read_member, read_source

TRAINING_SHARE = 0.75


def fetch_credit_default(*, include_sensitive: bool = True, as_frame: bool = True) -> Bunch:
    """Credit card default by education: 20000 clients, 23 inputs.

    Looked for in the folder ``$FAIRKERNEL_DATA``, then in the user's cache, then downloaded (2.5 MB).

    Parameters
    ----------
    include_sensitive : bool, default=True
        Whether ``data`` holds the sensitive attribute, in its published place. The paper assumes "s is
        contained in x", so the default of the paper's tables keeps it; False leaves the model blind to it.
    as_frame : bool, default=True
        pandas objects where True, arrays where False.

    Returns
    -------
    Bunch
        ``frame``, ``data``, ``target`` (0/1), ``sensitive_features`` (0/1), ``feature_names``,
        ``target_names``, ``splits`` (50 pairs of training and test indices, counted from 0, in the published
        order) and ``DESCR``.
    """
    archive = read_source(SOURCES["credit_default"])
    table = _read_table(archive, "creditcarddefault.csv")
    training = _read_indices(archive, "creditdefault_index.csv")
    everyone = np.arange(len(table))
    splits = [(train, np.setdiff1d(everyone, train)) for train in training]
    return _assemble("credit_default", table, "EDUCATION", splits, include_sensitive, as_frame)


def fetch_communities_crime(*, drop_leak: bool = True, include_sensitive: bool = True, as_frame: bool = True) -> Bunch:
    """Crime rate above or below one half, by racial composition: 1993 communities, 100 inputs.

    Looked for in the folder ``$FAIRKERNEL_DATA``, then in the user's cache, then downloaded (0.4 MB).

    Parameters
    ----------
    drop_leak : bool, default=True
        The published table holds the continuous crime rate, of which the label is a function. It is dropped;
        False restores the published table.
    include_sensitive, as_frame : bool, default=True
        As in :func:`fetch_credit_default`.

    Returns
    -------
    Bunch
        The shape of :func:`fetch_credit_default`.
    """
    archive = read_source(SOURCES["communities_crime"])
    table = _read_table(archive, "communitycrime/crimecommunity.csv")
    splits = _first_three_quarters(_read_indices(archive, "communitycrime/crimecommunity_index.csv"))
    dropped = ("ViolentCrimesPerPop",) if drop_leak else ()
    return _assemble("communities_crime", table, "race", splits, include_sensitive, as_frame, dropped)


def fetch_compas(*, include_sensitive: bool = True, as_frame: bool = True) -> Bunch:
    """The paper's COMPAS table by race: 16000 rows, 15 inputs, and a label that carries no signal.

    Half of the rows are duplicates and no input predicts the label: ``DESCR`` says what follows from that.
    :func:`~fairkernel.datasets.fetch_compas_two_years` is ProPublica's table. Looked for in the folder
    ``$FAIRKERNEL_DATA``, then in the user's cache, then downloaded (2.0 MB).

    Parameters
    ----------
    include_sensitive, as_frame : bool, default=True
        As in :func:`fetch_credit_default`.

    Returns
    -------
    Bunch
        The shape of :func:`fetch_credit_default`.
    """
    archive = read_source(SOURCES["compas"])
    table = _read_table(archive, "compas/compas.csv")
    splits = _first_three_quarters(_read_indices(archive, "compas/compas_index.csv"))
    return _assemble("compas", table, "race", splits, include_sensitive, as_frame)


def _read_table(archive: bytes, member: str) -> np.ndarray:
    return np.loadtxt(io.BytesIO(read_member(archive, member)), delimiter=",", dtype=np.float64)


def _read_indices(archive: bytes, member: str) -> np.ndarray:
    return np.loadtxt(io.BytesIO(read_member(archive, member)), delimiter=",", dtype=np.int64)


def _first_three_quarters(shuffles: np.ndarray) -> Splits:
    """Each column is a shuffle of the rows, counted from 1."""
    n_training = int(TRAINING_SHARE * len(shuffles))
    return [(shuffle[:n_training], shuffle[n_training:]) for shuffle in (shuffles - 1).T]


def _assemble(
    name: str,
    table: np.ndarray,
    sensitive: str,
    splits: Splits,
    include_sensitive: bool,
    as_frame: bool,
    dropped: tuple[str, ...] = (),
) -> Bunch:
    card = read_card(name)
    # the files have no header: the card names their columns in order, the label last
    columns = dict(zip(card.columns, table.T, strict=True))
    target, label = columns.popitem()
    columns[sensitive] = columns[sensitive].astype(np.int64)
    left_out = {*dropped} if include_sensitive else {*dropped, sensitive}
    return make_bunch(
        card,
        {column: values for column, values in columns.items() if column not in left_out},
        (target, label.astype(np.int64)),
        {sensitive: columns[sensitive]},
        as_frame=as_frame,
        splits=splits,
    )
