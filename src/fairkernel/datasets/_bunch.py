"""Columns in, Bunch out: one shape and one generated description for every data set."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import numpy as np
from sklearn.utils import Bunch

Columns = Mapping[str, np.ndarray]
Splits = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Card:
    """What people must know about a table; ``cards/<name>.toml`` holds one.

    ``left_out`` says why a column is not among the inputs; it may name a column that some option puts back.
    """

    title: str
    source: str
    about: str
    columns: dict[str, str]
    sensitive: dict[str, str]
    left_out: dict[str, str] = field(default_factory=dict)
    caveats: list[str] = field(default_factory=list)
    target_names: list[str] | None = None


def read_card(name: str) -> Card:
    """Read the card of a data set that comes with the package."""
    return Card(**tomllib.loads(files(__package__).joinpath("cards", f"{name}.toml").read_text("utf-8")))


def make_bunch(
    card: Card,
    data: Columns,
    target: tuple[str, np.ndarray],
    sensitive: Columns,
    *,
    as_frame: bool,
    splits: Splits | None = None,
) -> Bunch:
    """Put the columns of a data set into the shape that every loader returns.

    Parameters
    ----------
    card : Card
        Describes every column of ``data`` and the target.
    data, sensitive : mapping of column name to array
        The inputs and the sensitive attributes, in order.
    target : (name, array)
    as_frame : bool
        pandas objects where True, arrays where False (``frame`` is then None).
    splits : list of (train indices, test indices), optional

    Returns
    -------
    Bunch
        With ``frame``, ``data``, ``target``, ``sensitive_features``, ``feature_names``, ``target_names``,
        ``splits`` and ``DESCR``.
    """
    name, y = target
    bunch = Bunch(
        feature_names=list(data),
        target_names=card.target_names,
        splits=splits,
        DESCR=describe(card, list(data), target, sensitive),
    )
    if as_frame:
        pandas = import_pandas()
        # a sensitive column may be an input too: it stands in the frame once
        bunch.frame = pandas.DataFrame({**data, **sensitive, name: y})
        bunch.data, bunch.target = bunch.frame[list(data)].copy(), bunch.frame[name].copy()
        attributes = bunch.frame[list(sensitive)].copy()
        bunch.sensitive_features = attributes.iloc[:, 0] if len(sensitive) == 1 else attributes
    else:
        bunch.frame = None
        bunch.data = np.column_stack([np.asarray(column, dtype=np.float64) for column in data.values()])
        bunch.target = np.array(y)  # a copy: pandas hands out read-only arrays
        columns = list(sensitive.values())
        bunch.sensitive_features = columns[0] if len(columns) == 1 else np.column_stack(columns)
    return bunch


def describe(card: Card, feature_names: Sequence[str], target: tuple[str, np.ndarray], sensitive: Columns) -> str:
    """Write the text of ``DESCR``; its numbers are computed from the rows it describes."""
    name, y = target
    present = {*feature_names, name}
    left_out = {column: why for column, why in card.left_out.items() if column not in present}
    inputs = {column: card.columns[column] for column in feature_names}
    attributes = {column: card.sensitive[column] for column in sensitive}
    parts = [
        f"{card.title}\n{'=' * len(card.title)}",
        card.about.strip(),
        f"Rows: {len(y)}. Inputs: {len(inputs)}.",
        f"Target\n{_definitions({name: card.columns[name]})}",
        f"Sensitive features\n{_definitions(attributes)}",
        f"Groups and base rates\n{_base_rates(y, sensitive, card.target_names)}",
        f"Inputs\n{_definitions(inputs)}",
        f"Left out of the inputs\n{_definitions(left_out)}" if left_out else "",
        "Caveats\n" + "\n".join(f"    - {caveat}" for caveat in card.caveats) if card.caveats else "",
        f"Source: {card.source}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def import_pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            'data frames need pandas, which is not installed: pip install "fairkernel[app]" '
            "(data sets that are fetched or made also come as arrays, without pandas: as_frame=False)"
        ) from error
    return pandas


def _definitions(meanings: Mapping[str, str]) -> str:
    return "\n".join(f"    {column}: {meaning}" for column, meaning in meanings.items())


def _base_rates(y: np.ndarray, sensitive: Columns, target_names: list[str] | None) -> str:
    measured = "mean" if target_names is None else f"share {target_names[1]}"
    members = np.array([" / ".join(map(str, row)) for row in zip(*sensitive.values(), strict=True)])
    rows = [("group", "rows", measured), ("all", str(len(y)), f"{y.mean():.4f}")]
    for group in np.unique(members):
        of_group = y[members == group]
        rows.append((str(group), str(len(of_group)), f"{of_group.mean():.4f}"))
    width = max(len(row[0]) for row in rows)
    return "\n".join(f"    {label:<{width}}  {count:>6}  {rate}" for label, count, rate in rows)
