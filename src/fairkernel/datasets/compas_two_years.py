"""ProPublica's two-year COMPAS table, read without the columns that identify people."""

import csv
import io
from typing import Literal

import numpy as np
from sklearn.utils import Bunch

from ._bunch import make_bunch, read_card
from .fetch import SOURCES, read_source

COUNTS = ("age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count")
SENSITIVE = {"race": ("race",), "sex": ("sex",), "both": ("race", "sex")}
MAX_DAYS_FROM_SCREENING = 30


def fetch_compas_two_years(
    *,
    sensitive: Literal["race", "sex", "both"] = "race",
    usual_filter: bool = True,
    include_sensitive: bool = False,
    as_frame: bool = True,
) -> Bunch:
    """New charges within two years by race or sex: 6172 defendants of Broward County, Florida.

    Looked for in the folder ``$FAIRKERNEL_DATA``, then in the user's cache, then downloaded (2.5 MB). Names,
    birth dates, case numbers and row identifiers are dropped on load.

    Parameters
    ----------
    sensitive : {"race", "sex", "both"}, default="race"
        Which attributes ``sensitive_features`` holds.
    usual_filter : bool, default=True
        Keep the 6172 rows that ProPublica's analysis keeps: arrest within 30 days of the screening, a
        case found, no ordinary traffic offence, a score given. False keeps all 7214.
    include_sensitive : bool, default=False
        Whether ``data`` also holds the attributes asked for, as 0/1 columns.
    as_frame : bool, default=True
        pandas objects where True, arrays where False.

    Returns
    -------
    Bunch
        ``frame``, ``data``, ``target`` (1 = a new charge), ``sensitive_features``, ``feature_names``,
        ``target_names``, ``splits`` (None) and ``DESCR``.
    """
    if not isinstance(sensitive, str) or sensitive not in SENSITIVE:
        raise ValueError(f"sensitive must be one of {list(SENSITIVE)}, got {sensitive!r}")
    table = _read_table()
    if usual_filter:
        kept = _usual_rows(table)
        table = {column: values[kept] for column, values in table.items()}
    data = {column: table[column].astype(np.int64) for column in COUNTS}
    data["charge_felony"] = (table["c_charge_degree"] == "F").astype(np.int64)
    chosen = SENSITIVE[sensitive]
    if include_sensitive or "sex" not in chosen:
        data["male"] = (table["sex"] == "Male").astype(np.int64)
    if include_sensitive and "race" in chosen:
        for race in np.unique(table["race"]):
            column = "race_" + race.lower().replace("-", "_").replace(" ", "_")
            data[column] = (table["race"] == race).astype(np.int64)
    return make_bunch(
        read_card("compas_two_years"),
        data,
        ("two_year_recid", table["two_year_recid"].astype(np.int64)),
        {column: table[column].astype(object) for column in chosen},
        as_frame=as_frame,
    )


def _read_table() -> dict[str, np.ndarray]:
    """The columns in use, as text: nothing else of the file is kept."""
    filtered_by = ("days_b_screening_arrest", "is_recid", "c_charge_degree", "score_text")
    wanted = (*COUNTS, *filtered_by, "race", "sex", "two_year_recid")
    lines = csv.reader(io.StringIO(read_source(SOURCES["compas_two_years"]).decode("utf-8"), newline=""))
    header = next(lines)
    places = [header.index(column) for column in wanted]
    rows = [[line[place] for place in places] for line in lines]
    return dict(zip(wanted, np.array(rows).T, strict=True))


def _usual_rows(table: dict[str, np.ndarray]) -> np.ndarray:
    days = table["days_b_screening_arrest"]
    days = np.where(days == "", "nan", days).astype(np.float64)  # no day on record: not within 30 days
    return (
        (np.abs(days) <= MAX_DAYS_FROM_SCREENING)
        & (table["is_recid"] != "-1")
        & (table["c_charge_degree"] != "O")
        & (table["score_text"] != "N/A")
    )
