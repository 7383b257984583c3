import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fairkernel.cli import main
from fairkernel.cli import reproduce as command
from fairkernel.experiments import context
from fairkernel.experiments.closest import closest_setting
from fairkernel.experiments.context import error_and_sd, read_rows
from fairkernel.experiments.findings import compas_label, crime_leak, findings, printed_matrix
from fairkernel.experiments.methods import TYPES
from fairkernel.experiments.paper import PUBLISHED, figure_points, summarise
from fairkernel.experiments.reproduce import Configuration, reproduce
from fairkernel.experiments.spec import POLYNOMIAL, SIGMOID, TABLE_METHODS, TABLES
from fairkernel.experiments.store import ResultsFile
from fairkernel.experiments.trial import run_trial
from fairkernel.metrics import error_rate, statistical_disparity
from fairkernel.report.reproduction import reproduction_markdown, table_cells, trials_csv

FAST = ("FKR-F2E", "FRR", "Constant")


def test_the_grids_are_the_papers():
    assert len(POLYNOMIAL) == 20
    assert {dict(kernel.parameters)["degree"] for kernel in POLYNOMIAL} == {3, 4, 5, 6}
    assert [dict(kernel.parameters)["coef0"] for kernel in SIGMOID] == pytest.approx(np.logspace(-4, 1, 5))
    assert len(PUBLISHED) == 15


def test_error_and_sd_of_many_predictors_are_those_of_the_metrics():
    rng = np.random.default_rng(0)
    decisions, y, s = rng.random((80, 3, 2)) < 0.4, rng.integers(0, 2, 80), rng.integers(0, 2, 80)
    error, sd = error_and_sd(decisions, y, s)
    predicted = decisions[:, 2, 1].astype(int)
    assert error[2, 1] == pytest.approx(error_rate(y, predicted))
    assert sd[2, 1] == pytest.approx(statistical_disparity(y, predicted, sensitive_features=s))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tables": ("adult",)}, "data='adult': valid are 'credit', 'crime', 'compas'"),
        ({"tables": ()}, "data=nothing: valid are"),
        ({"tables": ("compas", "compas")}, "data='compas', 'compas': name each once"),
        ({"methods": ("SVM",)}, "methods='SVM': valid are 'FKR-F2E', 'FKR-F2E, whole grid', "),
        ({"methods": ("FLR", "FRR", "FLR")}, "methods='FLR', 'FRR', 'FLR': name each once"),
        ({"trials": 51}, "trials=51 must be between 1 and 50, the published shuffles; with a seed any number is drawn"),
        ({"trials": 0, "seed": 1}, r"trials=0 must be at least 1\.$"),
        ({"select": "test error"}, "is not a rule"),
    ],
)
def test_a_configuration_that_cannot_run_is_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Configuration(**options)


@pytest.mark.data
def test_rows_are_scaled_on_the_training_rows_and_s_is_among_the_inputs_only_if_asked():
    rows, blind = (read_rows(TABLES["crime"], 3, include_sensitive=wanted) for wanted in (True, False))
    assert (len(rows.X), len(rows.X_test)) == (1494, 499)
    np.testing.assert_allclose(rows.X.mean(axis=0), 0.0, atol=1e-12)
    assert rows.X.shape[1] == blind.X.shape[1] + 1 == 100


@pytest.mark.data
def test_seeded_shuffles_are_three_quarters_and_repeat():
    table = Configuration(seed=7).table("crime")
    first, again, other = (read_rows(table, shuffle, include_sensitive=False) for shuffle in (0, 0, 1))
    assert (len(first.X), len(first.X_test)) == (1494, 499)
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.y, other.y)
    with pytest.raises(ValueError, match="trials=60 must be between 1 and 50"):
        Configuration(trials=60)
    assert Configuration(trials=60, seed=7).trials == 60


@pytest.mark.data
def test_the_command_writes_everything_and_resumes(tmp_path, capsys):
    arguments = ["reproduce", "--data", "crime", "--methods", "FKR-F2E", "Constant", "--trials", "2", "--jobs", "1"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    written = {path.name for path in tmp_path.iterdir()}
    figures = {f"figure-{i}.{kind}" for i in (1, 2) for kind in ("png", "svg")}
    assert written == {"results.jsonl", "trials.csv", "REPRODUCTION.md", "reproduction.html", *figures}
    page = (tmp_path / "reproduction.html").read_text()
    assert "Content-Security-Policy" in page
    assert "http://" not in page
    assert "https://" not in page
    before = (tmp_path / "results.jsonl").read_bytes()
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    assert (tmp_path / "results.jsonl").read_bytes() == before
    assert main([*arguments, "--select", "error", "--out", str(tmp_path)]) == 1
    assert "holds results of another configuration (different: select)" in capsys.readouterr().err


@pytest.mark.data
def test_every_method_runs_and_chooses_by_training_rows_only(monkeypatch):
    table, configuration = TABLES["crime"], Configuration()
    methods = tuple(method for method in TABLE_METHODS if method.name != "FKR-F2E, whole grid")
    found = run_trial(table, methods, 0, configuration.select)["results"]
    assert set(found) == {method.name for method in methods}
    assert found["Constant"]["sd"] == 0.0
    # The choice, and what it is based on, must not move when the test rows' labels do.
    import fairkernel.experiments.trial as trial_module

    def relabelled(*args, **keywords):
        rows = read_rows(*args, **keywords)
        return type(rows)(rows.X, rows.y, rows.s, rows.X_test, 1 - rows.y_test, rows.s_test)

    monkeypatch.setattr(trial_module, "read_rows", relabelled)
    again = run_trial(table, methods, 0, configuration.select)["results"]
    for name, result in found.items():
        for figure in ("settings", "cv_error", "cv_sd", "sd", "positive_rate"):
            assert again[name][figure] == result[figure], name
        assert again[name]["error"] == pytest.approx(1 - result["error"])


@pytest.mark.data
def test_the_published_rule_takes_the_setting_under_table_one():
    result = run_trial(TABLES["crime"], TABLE_METHODS[:1], 0, "published")["results"]["FKR-F2E"]
    settings = result["settings"]
    assert (settings["kernel"], settings["degree"], settings["coef0"]) == ("poly", 4, 0.1)
    assert settings["n_components"] == 1494 // 250


@pytest.mark.data
def test_results_do_not_depend_on_the_number_of_jobs_and_resume_where_they_were_left(tmp_path):
    configuration = Configuration(tables=("crime",), methods=FAST, trials=3, figures=False)
    seen = []
    one = reproduce(configuration, tmp_path / "one", jobs=1, on_trial=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]
    two = reproduce(configuration, tmp_path / "two", jobs=2)
    assert without_times(one) == without_times(two)
    lines = (tmp_path / "one").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut").write_bytes(b"".join(lines[:2]) + lines[2][:40])
    seen.clear()
    resumed = reproduce(configuration, tmp_path / "cut", on_trial=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert without_times(resumed) == without_times(one)


@pytest.mark.data
def test_only_the_tables_asked_for_are_read(tmp_path, monkeypatch):
    (tmp_path / "compas.zip").symlink_to(Path(os.environ["FAIRKERNEL_DATA"]) / "compas.zip")
    context._loaded.cache_clear()
    monkeypatch.setenv("FAIRKERNEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: pytest.fail("the network was touched"))
    found = findings(1, ("compas",))
    assert [one.title.partition(":")[0] for one in found] == ["COMPAS", "COMPAS", "Table I stands next to the constant"]
    assert set(found[-1].figures) == {"compas: majority error"}
    context._loaded.cache_clear()


def test_a_table_that_cannot_be_had_is_found_out_before_the_work(tmp_path, monkeypatch):
    def offline(*_, **__):
        raise OSError("no network")

    context._loaded.cache_clear()
    monkeypatch.setenv("FAIRKERNEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", offline)
    monkeypatch.setattr("fairkernel.experiments.reproduce.run_trial", lambda *_: pytest.fail("the work began"))
    with pytest.raises(OSError, match=r"communitycrime.zip is not on this machine"):
        reproduce(Configuration(tables=("crime",), methods=("Constant",), trials=1), tmp_path / "results.jsonl")
    assert not (tmp_path / "results.jsonl").exists()


def test_more_random_shuffles_than_published_ones_reach_the_findings_as_published_ones(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(command, "reproduce", lambda *_, **__: [])
    monkeypatch.setattr(command, "findings", lambda *given: asked.append(given) or [])
    arguments = ["reproduce", "--data", "crime", "--methods", "Constant", "--trials", "51", "--seed", "1"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    assert asked == [(50, ("crime",))]
    page = (tmp_path / "REPRODUCTION.md").read_text()
    assert "* trials: 51 random shuffles" in page
    assert "published shuffles" not in page


def test_help_names_the_methods_as_a_shell_takes_them(capsys):
    with pytest.raises(SystemExit):
        main(["reproduce", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "rows of Table I: FKR-F2E 'FKR-F2E, whole grid' 'FKR-F2E, as printed' FKRR" in shown


def without_times(trials):
    return [
        {
            **trial,
            "results": {
                name: {key: value for key, value in result.items() if key != "seconds"}
                for name, result in trial["results"].items()
            },
        }
        for trial in trials
    ]


RUN = """
import sys
from pathlib import Path
from fairkernel.experiments.reproduce import Configuration, reproduce
if __name__ == "__main__":
    configuration = Configuration(tables=("crime",), methods=("FKR-F2E", "Constant"), trials=12, figures=False)
    reproduce(configuration, Path(sys.argv[1]), jobs=1)
"""


@pytest.mark.data
@pytest.mark.slow
def test_kill_nine_at_random_moments_changes_nothing(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(RUN)
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    subprocess.run([sys.executable, script, whole], check=True)
    rng = np.random.default_rng(0)
    for _ in range(5):
        process = subprocess.Popen([sys.executable, script, killed], start_new_session=True)
        time.sleep(rng.uniform(2.0, 6.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        # Whatever was finished is there, and nothing twice.
        if killed.exists():
            rows = [json.loads(line) for line in killed.read_bytes().split(b"\n")[1:-1]]
            keys = [(row["table"], row["shuffle"]) for row in rows]
            assert len(keys) == len(set(keys))
    subprocess.run([sys.executable, script, killed], check=True)
    first, second = ([json.loads(line) for line in path.read_text().splitlines()] for path in (whole, killed))
    assert first[0] == second[0]
    assert without_times(first[1:]) == without_times(second[1:])


@pytest.fixture
def trials():
    rng = np.random.default_rng(0)
    results = []
    for shuffle in range(6):
        figures = {
            name: {
                "sd": float(rng.uniform(0, 0.1)),
                "error": 0.2 + offset + 0.001 * float(rng.normal()),
                "positive_rate": 0.1,
                "mean_gap": 0.0,
                "cv_sd": None,
                "cv_error": None,
                "settings": {"kernel": "poly"},
                "seconds": 1.0,
            }
            for name, offset in (("FKR-F2E", -0.03), ("Constant", 0.0), ("Figure 2: n/250", 0.0))
        }
        results.append({"table": "crime", "shuffle": shuffle, "results": figures})
    return results


@pytest.mark.data
def test_rows_are_means_with_paired_differences_to_the_constant(trials):
    rows = {row.method: row for row in summarise(TABLES["crime"], trials)}
    errors = [trial["results"]["FKR-F2E"]["error"] for trial in trials]
    constant = [trial["results"]["Constant"]["error"] for trial in trials]
    assert rows["FKR-F2E"].error.mean == pytest.approx(np.mean(errors))
    assert rows["FKR-F2E"].against_constant.mean == pytest.approx(np.mean(errors) - np.mean(constant))
    assert rows["FKR-F2E"].against_constant.high < 0
    assert rows["Constant"].against_constant is None
    assert [point["name"] for point in figure_points(list(rows.values()), "Figure 2")] == ["n/250"]


@pytest.mark.data
def test_results_read_from_a_file_keep_the_order_of_the_table(trials, tmp_path):
    for trial in trials:
        trial["results"] |= {f"Figure 2: n/{k}": trial["results"]["Figure 2: n/250"] for k in (10, 200)}
    store = ResultsFile(tmp_path / "results.jsonl", {})
    for trial in trials:
        store.append(trial)
    read = list(ResultsFile(tmp_path / "results.jsonl", {}).trials.values())
    assert list(read[0]["results"]) != list(trials[0]["results"])
    rows = summarise(TABLES["crime"], read)
    expected = ["FKR-F2E", "Constant", "Figure 2: n/250", "Figure 2: n/200", "Figure 2: n/10"]
    assert [row.method for row in rows] == expected
    assert rows == summarise(TABLES["crime"], trials)


@pytest.mark.data
def test_the_page_says_whether_the_constant_is_beaten_and_marks_the_cells(trials):
    rows = summarise(TABLES["crime"], trials)
    page = reproduction_markdown({"Crime": rows}, [], [], {"command": "`x`"}, ["figure-1.png"])
    assert re.search(r"FKR-F2E has lower error than the constant predictor: paired difference -0\.0[23]\d\d \[-", page)
    assert "![figure-1.png](figure-1.png)" in page
    line = next(line for line in page.splitlines() if line.startswith("| FKR-F2E |"))
    assert table_cells(rows)[0] == [cell.strip() for cell in line.strip("|").split("|")]
    assert "0.0392 ± 0.0267" in line
    assert "△" in line  # .17 is above .1384 + .0125
    assert line.count("|") == 9


def test_cells_of_the_csv_cannot_be_formulas(trials):
    trials[0]["results"]["=1+1"] = trials[0]["results"].pop("FKR-F2E")
    lines = trials_csv(trials).splitlines()
    assert lines[0].startswith("table,shuffle,method,sd,error")
    assert len(lines) == 1 + 6 * 3
    assert any(",'=1+1," in line for line in lines)


@pytest.mark.data
def test_findings_are_computed():
    leak = crime_leak(2).figures
    assert leak["rows where label = (column 100 >= 0.5)"] == leak["rows"] == 1993
    assert leak["ridge error with column 100"] < 0.04 < 0.08 < leak["ridge error without"]
    assert compas_label().figures["largest |correlation| with the label"] < 0.012
    printed = printed_matrix().figures
    assert printed["negative eigenvalues"] == 1
    assert printed["gap of the first printed feature / its deviation"] > 0.1
    assert printed["largest gap of five exact features"] < 1e-10


@pytest.mark.data
def test_the_nearest_setting_of_fair_pca_is_looked_for_in_its_whole_family():
    found = closest_setting(TABLES["crime"], "FPCA", 1)
    assert found.n_settings == 18
    assert found.deviations > 0
    assert "d = " in found.settings


def test_kernel_methods_have_an_estimator_each():
    assert {method.kind for method in TABLE_METHODS} - set(TYPES) == {"flr", "frr", "fpca", "constant"}
