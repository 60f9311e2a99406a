# SPDX-License-Identifier: Apache-2.0
"""Reports as GitHub's Markdown, read by GitHub's own reader (cmark-gfm)."""
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as tree

import pytest
from conftest import ANALYZE, LIBRARY, PYTHON, WORKLOADS, analyze

pytestmark = pytest.mark.skipif(not shutil.which("cmark-gfm"), reason="cmark-gfm is not installed")
SPACE = "{http://commonmark.org/xml/1.0}"
# All that a report consists of. The rest would be text that was taken for markup.
KINDS = {"document", "paragraph", "heading", "text", "code", "code_block", "table", "table_header", "table_row", "table_cell"}
REPORTS = ("summary", "summary --full", "peak", "peak --by stack", "peak --by function", "leaks", "leaks --exact", "hotspots", "ops", "ops --tree", "steps",
           "threads", "timeline", "info", "lines", "holders", "dump --top 30")
MARKUP = "a|b`c``d*e*_f_<b>&amp;[g](h)~i~@root#1 :lock: $x$ \\ 1. www.example.com.py"


def parse(markdown):
    done = subprocess.run(["cmark-gfm", "-e", "table", "-e", "autolink", "-e", "strikethrough", "-e", "tasklist", "--to", "xml"],
                          input=markdown, capture_output=True, text=True, check=True)
    root = tree.fromstring(re.sub(r"<!DOCTYPE.*?>", "", done.stdout))
    for element in root.iter():
        element.tag = element.tag.removeprefix(SPACE)
    return root


def text_of(element):
    return "".join(part.text or "" for part in element.iter() if part.tag in ("text", "code", "code_block"))


def tables(root):
    """Lists of rows, each a list of cells; the first row has the titles."""
    return [[[text_of(cell) for cell in row.iter("table_cell")] for row in table if row.tag in ("table_header", "table_row")]
            for table in root.iter("table")]


def markdown(*words, status=0):
    """Parses a report, which has nothing in it that a name could have brought."""
    root = parse(analyze(*words[:1], "--format", "markdown", *words[1:], status=status).stdout)
    kinds = {element.tag for element in root.iter()}
    assert kinds <= KINDS, kinds - KINDS
    for text in root.iter("text"):
        assert not re.search(r"@\w|#\d|:[A-Za-z_+-][\w+-]*:|\bwww\.|://", text.text), text.text
    for table in tables(root):
        assert len({len(row) for row in table}) == 1 and len(table) > 1, table
    return root


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    directory = tmp_path_factory.mktemp("markdown")
    script = directory / MARKUP
    script.write_text("kept = []\nfor step in range(200):\n    kept.append(bytearray(5000))\n")
    found = []
    for name, command in (("steps", [WORKLOADS / "growth", "spread", "300", "1"]), ("ops", [WORKLOADS / "ops", "30"]),
                          ("markup", [PYTHON, script, "| x |", "```", "*b*"])):
        subprocess.run([str(word) for word in command], cwd=directory, check=True, stdout=subprocess.DEVNULL,
                       env={"LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": f"{name}.bin", "LC_ALL": "C.UTF-8"})
        found.append(directory / f"{name}.bin")
    return found


@pytest.mark.parametrize("words", REPORTS)
def test_reports(traces, words):
    """All that the text has is there: each word of it, but where names are shortened."""
    command, *options = words.split()
    for trace in traces:
        root = markdown(command, *options, "--width", 1000, trace)
        text = analyze(command, *options, "--width", 1000, trace).stdout
        shown = " ".join(text_of(element) for element in root.iter() if element.tag in ("paragraph", "heading", "code_block", "table_cell"))
        assert sorted(shown.split()) == sorted(text.split())


def test_tables(traces):
    """The cells of the first page's and of the ops' tables are those of JSON."""
    for trace in traces:
        rows = json.loads(analyze("summary", "--json", trace).stdout)["answer"]["peak"]["rows"]
        (table,) = [table for table in tables(markdown("summary", "--exact", trace)) if "where" in table[0] and "bytes" in table[0]]
        assert [int(re.sub(r"\D", "", row[0])) for row in table[1:]] == [row["bytes"] for row in rows]
    ops = json.loads(analyze("ops", "--json", traces[1]).stdout)["ops"]
    table = tables(markdown("ops", "--top", 0, traces[1]))[0]
    assert table[0][0] == "total" and table[0][-1] == "op"
    assert [(row[-1], row[2].replace(",", "")) for row in table[1:]] == [(op["name"], str(op["calls"])) for op in ops]


def test_name_that_is_markup(traces):
    """It stands there as it is, as code."""
    root = markdown("peak", "--by", "line", "--width", 1000, traces[2])
    (cell,) = {text_of(cell) for cell in root.iter("table_cell") if text_of(cell).endswith(f"{MARKUP}:3")}
    assert cell and all(len(cell) == 1 and cell[0].tag == "code" for cell in root.iter("table_cell") if MARKUP in text_of(cell))
    assert MARKUP in text_of(markdown("info", "--width", 1000, traces[2]))


def test_of_several_runs(traces):
    for words in (("compare", traces[0], traces[1]), ("diff", traces[0], traces[1]), ("diff", "--by", "op", traces[0], traces[1])):
        assert len(tables(markdown(*words))) >= 1
    root = markdown("check", "--max-peak", 1, "--max-rss", "1GiB", traces[0], status=1)
    ((titles, *rows),) = tables(root)
    checked = json.loads(analyze("check", "--json", "--max-peak", 1, "--max-rss", "1GiB", traces[0], status=1).stdout)["rules"]
    assert titles == ["rule", "verdict", "why"]
    assert rows == [[rule["rule"], rule["verdict"], rule["message"] or ""] for rule in checked]


def test_format_of_a_report(traces):
    assert analyze("peak", "--format", "text", traces[0]).stdout == analyze("peak", traces[0]).stdout
    assert analyze("peak", "--format", "json", traces[0]).stdout == analyze("peak", "--json", traces[0]).stdout
    forced = subprocess.run([ANALYZE, "--color", "always", "--format=markdown", traces[0]], capture_output=True, text=True, check=True)
    assert "\x1b" not in forced.stdout
    wrong = analyze("peak", "--format", "markdwn", traces[0], status=2).stderr
    assert 'did you mean markdown' in wrong and "text markdown json" in wrong
    assert "takes no --format" in analyze("html", "--format", "markdown", traces[0], status=2).stderr
