"""Texts are executed or compared with what they describe: documents, change log, citation, docstrings."""

import dataclasses
import importlib
import importlib.metadata
import inspect
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import traceback
from dataclasses import dataclass
from pathlib import Path

import pytest

import fairkernel

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELLS = {"bash", "sh", "shell", "console"}


def relative(path):
    return str(path.relative_to(ROOT))


@dataclass(frozen=True)
class Block:
    language: str  # everything after the opening fence
    first_line: int
    code: str


def code_blocks(text):
    blocks, opened = [], None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.lstrip().startswith("```"):
            if opened:
                opened[2].append(line)
        elif opened:
            language, first_line, lines = opened
            blocks.append(Block(language, first_line, textwrap.dedent("\n".join(lines))))
            opened = None
        else:
            opened = (line.strip().removeprefix("```").strip(), number + 1, [])
    assert opened is None, f"the code block before line {opened and opened[1]} is never closed"
    return blocks


# Python code runs as a reader would run it: from top to bottom, in one session.


def execute(text, name):
    session = {"__name__": "__main__"}
    for block in code_blocks(text):
        if not block.language.startswith("py"):
            continue
        assert block.language == "python", f"{name}:{block.first_line}: {block.language!r} would not be executed"
        # Empty lines in front, so that a traceback names the line of the document.
        exec(compile("\n" * (block.first_line - 1) + block.code, name, "exec"), session)
    return session


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative)
def test_the_code_in_a_document_runs(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    execute(document.read_text(encoding="utf-8"), relative(document))


def test_blocks_of_a_document_share_one_session_and_name_the_line_that_fails():
    text = "```python\na = 1\n```\nwords\n```python\nb = a + 1\n```\n"
    assert execute(text, "a.md")["b"] == 2
    with pytest.raises(ZeroDivisionError) as failure:
        execute(text + "```python\n\nb / 0\n```\n", "a.md")
    place = traceback.extract_tb(failure.tb)[-1]
    assert (place.filename, place.lineno) == ("a.md", 10)


@pytest.mark.parametrize("language", ["python no-run", "pycon", "py"])
def test_a_python_block_cannot_be_excused_from_running(language):
    with pytest.raises(AssertionError, match="would not be executed"):
        execute(f"```{language}\n1 / 0\n```\n", "a.md")


# Commands exist, with the options the text gives them.


def commands(text):
    """Lines of shell blocks and `inline code` that start with make or fairkernel."""
    lines = [line for block in code_blocks(text) if block.language in SHELLS for line in block.code.splitlines()]
    lines += re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)
    words = [shlex.split(line.strip().removeprefix("$ "), comments=True) for line in lines if is_command(line)]
    return [command for command in words if len(command) > 1]


def is_command(line):
    return re.match(r"\s*(\$ )?(make|fairkernel) ", line)


def make_targets():
    return set(re.findall(r"^([a-z][a-z-]*):(?!=)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def complaint_about(command):
    """Empty when the command exists."""
    program, first, *rest = command
    if program == "make":
        wanted = [word for word in [first, *rest] if "=" not in word and not word.startswith("-")]
        return ", ".join(f"make has no target {target!r}" for target in wanted if target not in make_targets())
    entry = "import sys; from fairkernel.cli import main; sys.exit(main())"
    asked = [sys.executable, "-c", entry, first, *([] if first.startswith("-") else ["--help"])]
    answer = subprocess.run(asked, capture_output=True, text=True, timeout=120)
    if answer.returncode:
        return f"fairkernel {first}: {answer.stderr.strip()}"
    options = [word.partition("=")[0] for word in rest if word.startswith("--")]
    return ", ".join(f"fairkernel {first} has no {option}" for option in options if option not in answer.stdout)


@pytest.mark.parametrize("document", [*DOCUMENTS, ROOT / "CONTRIBUTING.md"], ids=relative)
def test_the_commands_in_a_document_exist(document):
    complaints = [complaint_about(command) for command in commands(document.read_text(encoding="utf-8"))]
    assert not any(complaints), complaints


def test_the_two_commands_of_the_readme_are_there():
    assert {("make", "demo"), ("make", "test")} <= {
        tuple(command) for command in commands((ROOT / "README.md").read_text(encoding="utf-8"))
    }


def test_commands_are_found_in_blocks_and_in_sentences():
    text = "Say `make test` or `fairkernel.metrics` or `make`.\n```bash\n$ fairkernel demo --x  # why\nls\n```\n"
    assert commands(text) == [["fairkernel", "demo", "--x"], ["make", "test"]]


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (["make", "demo"], ""),
        (["make", "PYTHON=python3.12", "test"], ""),
        (["make", "coffee"], "no target 'coffee'"),
        (["fairkernel", "demo"], ""),
        (["fairkernel", "coffee"], "coffee"),
        (["fairkernel", "demo", "--sugar=2"], "demo has no --sugar"),
    ],
)
def test_a_command_that_does_not_exist_is_noticed(command, complaint):
    answer = complaint_about(command)
    assert complaint in answer if complaint else answer == ""


# Files about the project agree with each other.


def test_licence_citation_and_change_log_agree_with_the_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == fairkernel.__version__
    assert f"## [{fairkernel.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^license: (.+)$", citation, re.MULTILINE)[1] == "BSD-3-Clause"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("BSD 3-Clause License")


def test_the_command_line_entry_and_the_typing_marker_are_installed():
    (entry,) = importlib.metadata.distribution("fairkernel").entry_points.select(name="fairkernel")
    assert callable(entry.load())
    assert (Path(fairkernel.__file__).parent / "py.typed").exists()


# Written so that the patterns do not match themselves.
PRIVATE = {
    "a path of somebody's machine": re.compile(r"(?<![\w.])/(?:work|root|home)/|[A-Z]:\\Users\\"),
    "a package index": re.compile(r"pypi\.org|pythonhosted\.org|(?:index|find)[-_](?:url|links)"),
    "a private key": re.compile(r"-{5}BEGIN [A-Z ]*PRIVATE"),
}


def private_matters(text):
    return [what for what, pattern in PRIVATE.items() if pattern.search(text)]


def test_no_file_of_the_repository_names_a_machine_or_a_package_index():
    if shutil.which("git") is None:
        pytest.skip("git is not installed, so nothing says which files belong to the repository")
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True).stdout
    files = [ROOT / name for name in tracked.split("\0") if name and (ROOT / name).is_file()]
    if not files:
        pytest.skip("git tracks no file here, so nothing says which ones belong to the repository")
    found = {relative(file): private_matters(file.read_text(encoding="utf-8", errors="replace")) for file in files}
    assert {name: what for name, what in found.items() if what} == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see /" + "home/ada/data.csv", ["a path of somebody's machine"]),
        ("pip install --index" + "-url x", ["a package index"]),
        ("https://pypi" + ".org/simple", ["a package index"]),
        ("-----BEGIN RSA " + "PRIVATE KEY-----", ["a private key"]),
        ("https://example.com/home/page and src/work/x", []),
    ],
)
def test_machine_paths_and_package_indexes_are_noticed(text, found):
    assert private_matters(text) == found


# Every public name explains itself.


def sections(docstring):
    """Numpydoc sections: title → body."""
    _, *rest = re.split(r"^(\w[\w ]*)\n-{3,}\n", docstring + "\n", flags=re.MULTILINE)
    return dict(zip(rest[::2], rest[1::2], strict=True))


def documented_parameters(docstring):
    named = sections(docstring)
    body = named.get("Parameters", "") + named.get("Attributes", "")  # a result's fields are its attributes
    heads = [line.partition(" : ")[0] for line in body.splitlines() if line and not line.startswith(" ")]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


def returns_something(function):
    return inspect.signature(function).return_annotation not in (None, "None")


def own_methods(kind):
    """Public methods written in this library, not inherited from scikit-learn."""
    members = inspect.getmembers(kind, inspect.isfunction)
    return {
        name: method
        for name, method in members
        if not name.startswith("_") and method.__module__.startswith(fairkernel.__name__)
    }


def is_result(thing):
    return inspect.isclass(thing) and (dataclasses.is_dataclass(thing) or issubclass(thing, tuple))


def gaps_in(name, thing):
    """Sentences about what the docstring of a public name leaves out."""
    doc = inspect.getdoc(thing) or ""
    if not doc:
        return [f"{name} has no docstring"]
    if inspect.isclass(thing) and issubclass(thing, Warning):
        return []
    found = [f"{name}: {p} is not explained" for p in parameters(thing) if p not in documented_parameters(doc)]
    # A download cannot be shown without a network; a result is shown by the function that returns it.
    may_go_without = name.startswith("fetch_") or is_result(thing)
    if not may_go_without and ">>>" not in sections(doc).get("Examples", ""):
        found.append(f"{name} has no example")
    for method, function in own_methods(thing).items() if inspect.isclass(thing) else {name: thing}.items():
        title = name if function is thing else f"{name}.{method}"
        found += gaps_in_function(title, function)
    return found


def gaps_in_function(name, function):
    doc = inspect.getdoc(function) or ""
    if not doc:
        return [f"{name} has no docstring"]
    found = [f"{name}: {p} is not explained" for p in parameters(function) if p not in documented_parameters(doc)]
    if parameters(function) and returns_something(function) and not {"Returns", "Yields"} & sections(doc).keys():
        found.append(f"{name} does not say what it returns")
    return found


@pytest.mark.parametrize("module", ["fairkernel", "fairkernel.metrics", "fairkernel.datasets"])
def test_every_public_name_is_documented(module):
    public = importlib.import_module(module)
    things = {name: getattr(public, name) for name in public.__all__}
    assert [gap for name, thing in things.items() if callable(thing) for gap in gaps_in(name, thing)] == []


def test_an_undocumented_parameter_return_value_or_example_is_noticed():
    def silent(x): ...

    def vague(x, y):
        """Do it.

        Parameters
        ----------
        x : array
            Rows.
        """

    def clear(x, *, y=1):
        """Do it.

        Parameters
        ----------
        x, y : array

        Returns
        -------
        array

        Examples
        --------
        >>> 1
        1
        """

    class Model:
        """A model.

        Examples
        --------
        >>> 1
        1
        """

        def fit(self, X):
            """Fit."""

    Model.fit.__module__ = "fairkernel.models"
    assert gaps_in("silent", silent) == ["silent has no docstring"]
    assert set(gaps_in("vague", vague)) == {
        "vague: y is not explained",
        "vague does not say what it returns",
        "vague has no example",
    }
    assert gaps_in("clear", clear) == []
    assert gaps_in("Model", Model) == [
        "Model.fit: X is not explained",
        "Model.fit does not say what it returns",
    ]
