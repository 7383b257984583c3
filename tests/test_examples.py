"""The examples run as a reader would run them, and print what they promise."""

import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
PROMISED = {
    "loans": [
        r"\d+ settings, \d+ of them worth having",
        r"on the 498 applications kept apart:\n +disparity +0\.\d{3} \[.*by chance alone 0\.\d{3}\n +error",
        r"of approving everyone 0\.12",
    ],
    "wages": [
        r"\nkernel ridge +0\.\d{3} +0\.\d{3} \[",
        r"\nequal distributions, groups known +0\.\d{3} +0\.\d{3} \[",
        r"\nthe same, scored as one batch +0\.\d{3} +0\.00\d \[.* 0\.0[0-2]\d\n",
    ],
    "reasons": [
        r"mean decision_function of 'white' .* = 0\.\d+, by column",
        r"mean witness of nonwhite +-0",
        r"largest gap of a fair feature: \d\.\de-1\d",
        r"the span of 8 components turns by",
    ],
}


def test_every_example_is_run():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(PROMISED)


@pytest.mark.filterwarnings("ignore::fairkernel.exceptions.DecisionGapWarning")
@pytest.mark.parametrize("name", PROMISED)
def test_an_example_prints_what_it_promises(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    for pattern in PROMISED[name]:
        assert re.search(pattern, printed), (pattern, printed)
    assert f"python examples/{name}.py" in (FOLDER / "README.md").read_text()
