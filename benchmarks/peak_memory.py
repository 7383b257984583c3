"""Additional peak memory of one fit, measured in a process of its own.

Memory once taken is seldom given back, so a process that has done anything else cannot tell.
As a script: ``python peak_memory.py fair|plain ROWS.npz`` prints the bytes.
"""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

WARM_UP_ROWS = 200  # enough to load every module and to start every thread, too few to matter
STATUS = Path("/proc/self/status")


def fit_peak_bytes(name, X, y, s, n_features):
    """Peak resident memory during fit above what was resident just before it.

    Parameters
    ----------
    name : {"fair", "plain"}
    X, y, s : ndarray
    n_features : int

    Returns
    -------
    int
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, X=X, y=y, s=s)
        command = [sys.executable, __file__, name, str(path), str(n_features)]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def resident_and_peak():
    """Bytes now and at most so far.

    Returns
    -------
    resident, peak : int
    """
    if STATUS.exists():
        # Not getrusage: across fork and exec Linux carries the parent's peak over into ru_maxrss.
        fields = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
        return tuple(1024 * int(fields[key].split()[0]) for key in ("VmRSS", "VmHWM"))
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return peak, peak


def main(name, path, n_features):
    from models import fair_classifier, nystroem_ridge

    from fairkernel.exceptions import SensitiveColumnWarning

    warnings.simplefilter("ignore", SensitiveColumnWarning)
    rows = np.load(path)
    X, y, s = rows["X"], rows["y"], rows["s"]

    def fit(n, m):
        if name == "fair":
            return fair_classifier(n, m).fit(X[:n], y[:n], sensitive_features=s[:n])
        return nystroem_ridge(X.shape[1], m).fit(X[:n], y[:n])

    fit(min(WARM_UP_ROWS, len(X)), min(WARM_UP_ROWS // 2, n_features))
    resident, _ = resident_and_peak()
    fit(len(X), n_features)
    print(resident_and_peak()[1] - resident)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
