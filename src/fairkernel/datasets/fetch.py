"""The only network code: a file's bytes from a folder, the cache or its public address, hash checked."""

import hashlib
import http.client
import io
import os
import stat
import sys
import tempfile
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path

DATA_VARIABLE = "FAIRKERNEL_DATA"
TIMEOUT_SECONDS = 30
MAX_MEMBER_BYTES = 16 * 2**20  # the largest member read holds 4.3 MB


@dataclass(frozen=True)
class Source:
    """A public file, pinned by its size and SHA-256."""

    file: str
    url: str
    n_bytes: int
    sha256: str


_GITHUB = "https://raw.githubusercontent.com"
_UWYO = f"{_GITHUB}/uwyomachinelearning/datasets/5cbd9680274a06148bfc2f0577b33edec75a26ae"
_AOKRAY = f"{_GITHUB}/aokray/aokray.github.io/4365939e447ddb4599cc5dbf30635f374fb7e91f"
_PROPUBLICA = f"{_GITHUB}/propublica/compas-analysis/bafff5da3f2e45eca6c2d5055faad269defd135a"

SOURCES = {
    "credit_default": Source(
        "creditcarddefault.zip",
        f"{_AOKRAY}/creditcarddefault.zip",
        2457932,
        "b5715dcb21870ed8c5f750eb1ed6376120ef4569dfc449d5c2710d1a0dbb6456",
    ),
    "communities_crime": Source(
        "communitycrime.zip",
        f"{_UWYO}/communitycrime.zip",
        448492,
        "3b84f030a5a1f6846fb634660ae262b3d1db9776913492f10083bcc94aad37f5",
    ),
    "compas": Source(
        "compas.zip",
        f"{_UWYO}/compas.zip",
        1988997,
        "e8ec630a21cd422ac0600f4eac1b2e7ce152ac6f9ef106ef22934cff7f52f6a7",
    ),
    "compas_two_years": Source(
        "compas-scores-two-years.csv",
        f"{_PROPUBLICA}/compas-scores-two-years.csv",
        2546489,
        "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
    ),
}


def local_path(source: Source) -> Path | None:
    """Where a file is on this machine: in the folder ``$FAIRKERNEL_DATA``, else in the cache, else None.

    Raises
    ------
    OSError
        A folder that may hold it cannot be looked into.
    """
    return next((path for path in _places(source) if _is_file(path)), None)


def read_source(source: Source) -> bytes:
    """The verified bytes of a file, downloaded into the cache where this machine does not have it.

    Raises
    ------
    OSError
        The file is nowhere on this machine and cannot be downloaded, the download was cut off, or the file cannot be
        read.
    ValueError
        A file was found, but its hash is not the pinned one.
    """
    path = local_path(source)
    if path is None:
        content = _download(source)
        _store(content, cache_folder() / source.file)
        return content
    try:
        with path.open("rb") as file:
            content = file.read(source.n_bytes + 1)  # one byte more tells a longer file without reading all of it
    except OSError as error:
        raise _unreadable(path, error) from error
    _check(content, source, f"the file {path}", f"remove it to download it again from {source.url}")
    return content


def read_member(archive: bytes, member: str, *, max_bytes: int = MAX_MEMBER_BYTES) -> bytes:
    """One named member of a zip archive; nothing is written to disk and no other member is opened."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        if member not in opened.namelist():
            raise ValueError(f"the archive has no member {member!r}; it holds {sorted(opened.namelist())}")
        with opened.open(member) as file:
            content = file.read(max_bytes + 1)  # the size in the archive's directory may lie
    if len(content) > max_bytes:
        raise ValueError(f"member {member!r} of the archive is larger than the {max_bytes} bytes allowed")
    return content


def cache_folder() -> Path:
    """The user's cache folder of this library, by the custom of the platform."""
    home = os.environ.get("XDG_CACHE_HOME")
    if not home and sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA")
    if not home:
        home = str(Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache"))
    return Path(home) / "fairkernel"


def _places(source: Source) -> list[Path]:
    folder = os.environ.get(DATA_VARIABLE)
    given = [Path(folder).expanduser() / source.file] if folder else []
    return [*given, cache_folder() / source.file]


def _is_file(path: Path) -> bool:
    try:
        # Not path.is_file(), which from Python 3.14 on says no where it may not look.
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> OSError:
    return OSError(
        f"{path} cannot be read ({error.strerror}): make it and its folder readable, or let the variable "
        f"{DATA_VARIABLE} name another folder that holds {path.name}"
    )


def _check(content: bytes, source: Source, what: str, way_out: str) -> None:
    if len(content) > source.n_bytes:
        raise ValueError(f"{what} is longer than {source.n_bytes} bytes; refused. Way out: {way_out}")
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        raise ValueError(f"{what} has SHA-256 {found}, expected {source.sha256}; refused. Way out: {way_out}")


def _download(source: Source) -> bytes:
    try:
        with urllib.request.urlopen(source.url, timeout=TIMEOUT_SECONDS) as response:
            content = response.read(source.n_bytes + 1)
    except (OSError, http.client.HTTPException) as error:
        places = " or ".join(map(str, _places(source)))
        raise OSError(
            f"{source.file} is not on this machine and could not be downloaded ({error}). Download "
            f"{source.url} elsewhere and put it at {places}, or into a folder that the variable "
            f"{DATA_VARIABLE} names; its SHA-256 must be {source.sha256}"
        ) from error
    if len(content) < source.n_bytes:
        raise OSError(
            f"the download of {source.url} was cut off after {len(content)} of {source.n_bytes} bytes; "
            "nothing was kept, try again"
        )
    _check(content, source, f"the download of {source.url}", "try again, or look at what answers there")
    return content


def _store(content: bytes, path: Path) -> None:
    """Write under a temporary name, then rename: the path never holds half a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(
            f"the download could not be stored at {path} ({error}); make room there, or name "
            "another cache folder with XDG_CACHE_HOME"
        ) from error
