import errno
import hashlib
import http.client
import io
import os
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest

from fairkernel.datasets import fetch
from fairkernel.datasets.fetch import Source, cache_folder, local_path, read_member, read_source

CONTENT = b"the published bytes"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SOURCE = Source("table.zip", "https://example.org/table.zip", len(CONTENT), SHA256)


@pytest.fixture(autouse=True)
def closed_network(monkeypatch, tmp_path):
    """No data folder, an empty cache, and a network that fails the test when touched."""

    def urlopen(*_, **__):
        raise AssertionError("the network was touched")

    monkeypatch.delenv("FAIRKERNEL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(urllib.request, "urlopen", urlopen)


@pytest.fixture
def cached(tmp_path):
    return tmp_path / "cache" / "fairkernel" / SOURCE.file


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def answer(monkeypatch, content):
    asked = []

    def urlopen(url, timeout):
        asked.append((url, timeout))
        return io.BytesIO(content)

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return asked


def test_a_download_is_kept_and_the_network_is_asked_once(monkeypatch, cached):
    asked = answer(monkeypatch, CONTENT)
    assert read_source(SOURCE) == CONTENT
    assert read_source(SOURCE) == CONTENT
    assert asked == [(SOURCE.url, fetch.TIMEOUT_SECONDS)]
    assert [path.name for path in cached.parent.iterdir()] == [SOURCE.file]
    assert local_path(SOURCE) == cached


def test_the_folder_of_the_variable_wins_over_the_cache(monkeypatch, tmp_path, cached):
    put(cached, b"something else")
    put(tmp_path / "given" / SOURCE.file, CONTENT)
    monkeypatch.setenv("FAIRKERNEL_DATA", str(tmp_path / "given"))
    assert local_path(SOURCE) == tmp_path / "given" / SOURCE.file
    assert read_source(SOURCE) == CONTENT


def test_a_file_the_folder_does_not_hold_is_looked_for_in_the_cache(monkeypatch, tmp_path, cached):
    put(cached, CONTENT)
    monkeypatch.setenv("FAIRKERNEL_DATA", str(tmp_path / "empty"))
    assert read_source(SOURCE) == CONTENT


def test_a_folder_that_cannot_be_read_is_named_with_the_variable(monkeypatch, tmp_path):
    # As of a folder of another user; root, who runs some tests, may read everything.
    def denied(self, **_):
        raise PermissionError(errno.EACCES, "Permission denied")

    message = r"given/table.zip cannot be read \(Permission denied\).*let the variable FAIRKERNEL_DATA name another"
    monkeypatch.setenv("FAIRKERNEL_DATA", str(tmp_path / "given"))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", denied)
        with pytest.raises(OSError, match=message):
            read_source(SOURCE)
    put(tmp_path / "given" / SOURCE.file, CONTENT)
    monkeypatch.setattr(Path, "open", lambda self, *_: denied(self))
    with pytest.raises(OSError, match=message):
        read_source(SOURCE)


@pytest.mark.parametrize("wrong", [b"the PUBLISHED bytes", b"short", b""])
def test_a_local_file_of_another_hash_is_refused_and_left_as_it_is(cached, wrong):
    put(cached, wrong)
    with pytest.raises(ValueError, match=rf"SHA-256 .* expected {SHA256}; refused. .*remove it to"):
        read_source(SOURCE)
    assert cached.read_bytes() == wrong


def test_a_local_file_that_is_too_long_is_refused(cached):
    put(cached, CONTENT + b"!")
    with pytest.raises(ValueError, match=f"longer than {len(CONTENT)} bytes; refused"):
        read_source(SOURCE)


def test_a_download_of_another_hash_is_refused_and_old_files_stay(monkeypatch, cached):
    neighbour = cached.with_name("other.zip")
    put(neighbour, b"old")
    answer(monkeypatch, b"the PUBLISHED bytes")
    with pytest.raises(ValueError, match=f"download of {SOURCE.url} has SHA-256"):
        read_source(SOURCE)
    assert [path.name for path in cached.parent.iterdir()] == ["other.zip"]
    assert neighbour.read_bytes() == b"old"


def test_a_download_that_is_too_long_is_refused_without_reading_it_all(monkeypatch, cached):
    class Endless(io.RawIOBase):
        def read(self, size=-1):
            assert 0 < size <= len(CONTENT) + 1
            return b"x" * size

    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: Endless())
    with pytest.raises(ValueError, match=f"longer than {len(CONTENT)} bytes; refused"):
        read_source(SOURCE)
    assert not cached.exists()


def test_a_truncated_download_leaves_nothing(monkeypatch, cached):
    answer(monkeypatch, CONTENT[:-1])
    with pytest.raises(OSError, match=f"cut off after {len(CONTENT) - 1} of {len(CONTENT)} bytes"):
        read_source(SOURCE)
    assert not cached.parent.exists()


@pytest.mark.parametrize(
    "failure",
    [urllib.error.URLError("no route"), TimeoutError("timed out"), http.client.IncompleteRead(b"th", 17)],
)
def test_offline_the_error_names_address_place_and_hash(monkeypatch, tmp_path, cached, failure):
    def urlopen(*_, **__):
        raise failure

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    monkeypatch.setenv("FAIRKERNEL_DATA", str(tmp_path / "given"))
    with pytest.raises(OSError, match="could not be downloaded") as caught:
        read_source(SOURCE)
    places = str(tmp_path / "given" / SOURCE.file), str(cached)
    for part in (SOURCE.url, SHA256, *places, "FAIRKERNEL_DATA"):
        assert part in str(caught.value)


def test_a_full_disk_is_said_and_leaves_no_half_file(monkeypatch, cached):
    answer(monkeypatch, CONTENT)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match=r"could not be stored at .*No space left.*XDG_CACHE_HOME"):
        read_source(SOURCE)
    assert list(cached.parent.iterdir()) == []


def test_a_kill_during_writing_leaves_no_file_under_the_final_name(monkeypatch, cached):
    answer(monkeypatch, CONTENT)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        read_source(SOURCE)
    assert list(cached.parent.iterdir()) == []


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_only_the_named_member_is_read_and_nothing_is_written(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert read_member(zipped({"../evil.csv": b"1", "good.csv": b"2"}), "good.csv") == b"2"
    assert list(tmp_path.rglob("*.csv")) == []


def test_a_member_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(ValueError, match=r"no member 'b.csv'; it holds \['a.csv'\]"):
        read_member(zipped({"a.csv": b"1"}), "b.csv")


def test_a_bomb_is_refused_at_the_cap():
    bomb = zipped({"a.csv": bytes(10_000_000)})
    assert len(bomb) < 20_000
    with pytest.raises(ValueError, match="larger than the 1000000 bytes allowed"):
        read_member(bomb, "a.csv", max_bytes=1_000_000)


def test_the_default_cap_holds_every_member_of_the_paper_and_little_more():
    with pytest.raises(ValueError, match=f"larger than the {fetch.MAX_MEMBER_BYTES} bytes"):
        read_member(zipped({"a.csv": bytes(fetch.MAX_MEMBER_BYTES + 1)}), "a.csv")
    assert len(read_member(zipped({"a.csv": bytes(5_000_000)}), "a.csv")) == 5_000_000


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/fairkernel"),
        ("linux", {}, "~/.cache/fairkernel"),
        ("darwin", {}, "~/Library/Caches/fairkernel"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/fairkernel"),
        ("win32", {}, "~/.cache/fairkernel"),
    ],
)
def test_the_cache_is_where_the_platform_expects_it(monkeypatch, platform, environment, expected):
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == Path(expected).expanduser()


@pytest.mark.parametrize("source", fetch.SOURCES.values(), ids=fetch.SOURCES)
def test_every_address_is_encrypted_and_pinned_to_a_commit(source):
    assert source.url.startswith("https://")
    assert source.url.endswith("/" + source.file)
    assert len(source.url.split("/")[5]) == len(source.sha256) - 24 == 40
