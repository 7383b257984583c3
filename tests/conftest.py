"""Settings every test runs under: threads, data folder, random examples."""

import os
from pathlib import Path

THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# Before the first import of NumPy, which reads them once: xdist's workers would otherwise fight over cores.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.update(dict.fromkeys(THREAD_LIMITS, "1"))
os.environ.setdefault("MPLBACKEND", "Agg")  # plots need no screen

import hypothesis  # noqa: E402
import pytest  # noqa: E402

DATA_BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"
if "FAIRKERNEL_DATA" not in os.environ and DATA_BESIDE_CHECKOUT.is_dir():
    os.environ["FAIRKERNEL_DATA"] = str(DATA_BESIDE_CHECKOUT)
elif "FAIRKERNEL_DATA" in os.environ:  # tests change the working directory
    os.environ["FAIRKERNEL_DATA"] = str(Path(os.environ["FAIRKERNEL_DATA"]).resolve())

# Time is not judged: on a shared machine it says nothing about the code.
hypothesis.settings.register_profile("local", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("ci", parent=hypothesis.settings.get_profile("local"), derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_collection_modifyitems(items):
    """Skip what needs the paper's tables where there are none, and say how to get them."""
    folder = os.environ.get("FAIRKERNEL_DATA")
    if folder and Path(folder).is_dir():
        return
    came = f"{folder!r}, which is no folder" if folder else "not set"
    reason = f"needs the paper's tables: FAIRKERNEL_DATA is {came}; set it to the folder that holds them"
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(pytest.mark.skip(reason=reason))
