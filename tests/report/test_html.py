"""The page: complete, self-contained, and safe with names that attack it."""

import base64
import builtins
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from fairkernel.report.html import render, render_gap
from fairkernel.report.summary import sentences, show, show_interval, summarise

from .conftest import make_trials

HOSTILE = "</script><script>alert(1)</script>"
QUOTES = '" onload="alert(2)" \'{{ 7 * 7 }}'
PNG = b"\x89PNG\r\n\x1a\n not really"


class Page(HTMLParser):
    """Elements with their attributes, and the text of each cell, script and style."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.texts.append((tag, ""))

    def handle_endtag(self, tag):
        self.texts.append((None, ""))  # what follows belongs to no element looked at here

    def handle_data(self, data):
        tag, before = self.texts.pop() if self.texts else (None, "")
        self.texts.append((tag, before + data))

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def texts_of(self, *tags):
        return [text for name, text in self.texts if name in tags]


def page_of(summary, groups=("a", "b")):
    return {
        "title": "A title",
        "summary": summary,
        "sentences": sentences(summary),
        "groups": [{"group": g, "n_rows": 50, "n_test": 12, "base_rate": 0.5} for g in groups],
        "positive_label": "approved",
        "settings": {"kernel": "rbf", "seed": "7"},
        "versions": {"numpy": "2.0"},
        "description": "What the rows are.",
    }


@pytest.fixture
def hostile():
    groups = (HOSTILE, QUOTES)
    page = page_of(summarise(make_trials(groups), n_train=75, n_test=25), groups)
    page |= {
        "title": HOSTILE,
        "positive_label": HOSTILE,
        "description": f"column {HOSTILE} {QUOTES}",
        "settings": {HOSTILE: QUOTES},
    }
    return render(page, PNG)


@pytest.fixture
def text(summary):
    return render(page_of(summary), PNG)


def test_the_table_holds_the_summary(text, summary):
    cells = Page(text).texts_of("td", "th")
    for row in summary["rows"]:
        start = cells.index(row["method"])
        star = " *" if row["beside_floor"] == "within" else ""
        assert cells[start + 1 : start + 7] == [
            show_interval(row["statistical_disparity"]),
            show_interval(row["error"]),
            show(row["positive_rate"]["estimate"]),
            show(row["group_positive_rates"]["a"]),
            show(row["group_positive_rates"]["b"]),
            show(row["noise_floor"]) + star,
        ]


def test_the_page_has_sentences_notes_settings_sizes_versions_and_the_description(text, summary):
    shown = " ".join(part for _, part in Page(text).texts)
    for part in (*sentences(summary), *summary["notes"], "seed", "7", "numpy", "2.0", "What the rows are.", "50", "12"):
        assert part in shown


def test_the_plot_is_inside_the_page(text):
    [image] = Page(text).of("img")
    kind, _, data = image["src"].partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(data) == PNG
    assert image["alt"]


def test_the_numbers_are_in_the_page_as_json(text, summary):
    assert json.loads(Page(text).texts_of("script")[0]) == summary


def test_hostile_names_stay_text(hostile):
    page = Page(hostile)
    assert page.of("script") == [{"type": "application/json", "id": "summary"}]
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert "<script>alert" not in hostile
    assert "{{ 7 * 7 }}" in " ".join(page.texts_of("pre"))
    data = json.loads(page.texts_of("script")[0])
    assert set(data["rows"][0]["group_positive_rates"]) == {HOSTILE, QUOTES}


def test_hostile_names_are_shown_in_full(hostile):
    headers = Page(hostile).texts_of("th")
    assert f"of {HOSTILE}" in headers
    assert f"of {QUOTES}" in headers


def test_the_policy_forbids_everything_but_the_page_itself(hostile):
    page = Page(hostile)
    [policy] = [m["content"] for m in page.of("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    [style] = page.texts_of("style")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert not [attributes for _, attributes in page.elements if "style" in attributes]  # the hash would refuse it


def test_the_page_loads_nothing(text):
    page = Page(text)
    sources = [a[name] for _, a in page.elements for name in ("src", "href", "srcset", "data", "action") if name in a]
    assert [source.partition(":")[0] for source in sources] == ["data"]
    assert not re.search(r"url\(|@import|https?:", text)


def test_without_jinja2_the_error_names_the_extra(summary, monkeypatch):
    plain = builtins.__import__

    def absent(name, *rest):
        if name == "jinja2":
            raise ImportError(name)
        return plain(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError, match=r'HTML pages need jinja2.*pip install "fairkernel\[app\]"'):
        render(page_of(summary), PNG)


def test_the_table_of_a_gap_shows_hostile_names_as_text():
    parts = [{"name": HOSTILE, "text": "+1"}, {"name": QUOTES, "text": "-2"}]
    page = Page(render_gap({"sentence": HOSTILE, "how": "exact", "parts": parts}))
    assert {tag for tag, _ in page.elements} == {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}
    assert page.texts_of("th")[2:] == [HOSTILE, QUOTES]
    assert page.texts_of("td") == ["+1", "-2"]
