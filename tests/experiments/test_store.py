import json

import pytest

from fairkernel.experiments.store import ResultsFile

HEADER = {"select": "error", "versions": {"numpy": "2"}}


def trial(table, shuffle):
    return {"table": table, "shuffle": shuffle, "results": {"m": {"error": shuffle / 7}}}


def test_finished_trials_survive_and_nothing_is_asked_twice(tmp_path):
    path = tmp_path / "results.jsonl"
    ResultsFile(path, HEADER).append(trial("crime", 3))
    again = ResultsFile(path, HEADER)
    assert again.trials == {("crime", 3): trial("crime", 3)}


def test_a_torn_last_line_is_dropped_and_the_rest_kept(tmp_path):
    path = tmp_path / "results.jsonl"
    store = ResultsFile(path, HEADER)
    store.append(trial("crime", 0))
    store.append(trial("crime", 1))
    whole = path.read_bytes()
    for cut in range(len(whole.split(b"\n")[2])):
        path.write_bytes(whole[: len(whole) - 1 - cut])
        assert set(ResultsFile(path, HEADER).trials) == {("crime", 0)}
        assert path.read_bytes().endswith(b"}\n")


def test_a_header_torn_at_birth_is_written_again(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b'{"select": "er')
    assert ResultsFile(path, HEADER).trials == {}
    assert json.loads(path.read_text()) == HEADER


def test_the_order_of_finishing_does_not_show(tmp_path):
    keys = [("compas", 0), ("crime", 0), ("crime", 1)]
    for name, order in (("a", keys), ("b", keys[::-1])):
        store = ResultsFile(tmp_path / name, HEADER)
        for key in order:
            store.append(trial(*key))
        assert [(t["table"], t["shuffle"]) for t in store.finish(keys)] == keys
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_results_of_another_configuration_are_refused_and_left_alone(tmp_path):
    path = tmp_path / "results.jsonl"
    ResultsFile(path, HEADER).append(trial("crime", 0))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"another configuration \(different: select\); choose another --out"):
        ResultsFile(path, {**HEADER, "select": "published"})
    assert path.read_bytes() == before


def test_a_figure_that_is_not_a_number_is_refused_rather_than_written(tmp_path):
    store = ResultsFile(tmp_path / "results.jsonl", HEADER)
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.append({"table": "crime", "shuffle": 0, "results": {"m": {"error": float("nan")}}})
    assert store.trials == {}


def test_a_shorter_run_keeps_the_trials_it_did_not_ask_for(tmp_path):
    path = tmp_path / "results.jsonl"
    store = ResultsFile(path, HEADER)
    for shuffle in (2, 1, 0):
        store.append(trial("crime", shuffle))
    assert store.finish([("crime", 0)]) == [trial("crime", 0)]
    assert set(ResultsFile(path, HEADER).trials) == {("crime", shuffle) for shuffle in range(3)}


@pytest.mark.parametrize("line", ["[]", "null", "7", "garbage", '{"select": "err'])
def test_a_file_without_a_configuration_is_refused_and_left_alone(tmp_path, line):
    path = tmp_path / "results.jsonl"
    path.write_text(line + "\n" + json.dumps(trial("crime", 0)) + "\n")
    with pytest.raises(ValueError, match=r"results.jsonl, line 1: no configuration .* choose another --out or delete"):
        ResultsFile(path, HEADER)
    assert path.read_text().startswith(line)


@pytest.mark.parametrize(
    "line",
    [
        b"garbage",
        b"\xff\xfe",
        b"",
        b"[]",
        b"{}",
        b'{"table": "crime", "shuffle": 1}',
        b'{"table": "crime", "shuffle": 1, "results": {}}',
        b'{"table": "crime", "shuffle": 1, "results": {"m": 1}}',
        b'{"table": "crime", "shuffle": 1, "results": {"other": {}}}',
        b'{"table": "crime", "shuffle": "1", "results": {"m": {}}}',
    ],
)
def test_a_line_that_is_no_trial_is_named_with_the_way_out(tmp_path, line):
    path, header = tmp_path / "results.jsonl", {**HEADER, "methods": ["m"]}
    store = ResultsFile(path, header)
    store.append(trial("crime", 0))
    whole = path.read_bytes()
    path.write_bytes(whole + line + b"\n")
    with pytest.raises(ValueError, match=r"results.jsonl, line 3: no finished trial .* delete this line and its trial"):
        ResultsFile(path, header)
    path.write_bytes(whole)  # as told
    assert set(ResultsFile(path, header).trials) == {("crime", 0)}
