"""Data sets: bundled, fetched with pinned hashes, and synthetic. Each loader returns a Bunch of one shape."""

from .bundled import load_college_gpa, load_mortgage, load_recidivism, load_wages
from .compas_two_years import fetch_compas_two_years
from .paper import fetch_communities_crime, fetch_compas, fetch_credit_default
from .synthetic import make_two_groups

__all__ = [
    "fetch_communities_crime",
    "fetch_compas",
    "fetch_compas_two_years",
    "fetch_credit_default",
    "load_college_gpa",
    "load_mortgage",
    "load_recidivism",
    "load_wages",
    "make_two_groups",
]
