# SPDX-License-Identifier: Apache-2.0
"""Tables for other programs: CSV, NDJSON and SQLite say what the reports say; OpenMetrics what Prometheus reads."""
import collections
import csv
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess

import pytest
from conftest import ANALYZE, LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, peak_rss, report, sites
from test_bad_input import PROGRAM

TABLES = ("sites", "ops", "calls", "steps", "samples", "timeline", "events")


@pytest.fixture(scope="module")
def leaky(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leaky")
    subprocess.run([WORKLOADS / "growth", "cache", "200", "1"], check=True, cwd=folder, capture_output=True,
                   env={**os.environ, "LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": str(folder / "trace.bin")})
    return folder / "trace.bin"


def number(text):
    return float(text) if re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", text) else text


def rows_of(trace, table, *options, form="csv"):
    """A list of dicts; numbers as such, None where a cell is empty."""
    text = analyze("export", "--format", form, "--table", table, *options, trace).stdout
    if form == "ndjson":
        return [json.loads(line) for line in text.splitlines()]
    return [{key: number(value) if value else None for key, value in row.items()} for row in csv.DictReader(text.splitlines())]


def database(trace, folder, *options):
    file = folder / "run.db"
    analyze("export", "--format", "sqlite", "-o", file, *options, trace)
    opened = sqlite3.connect(file)
    opened.row_factory = sqlite3.Row
    return opened


@pytest.mark.parametrize("table", TABLES)
def test_csv_and_ndjson_are_the_same(trace, table):
    comma, objects = rows_of(trace, table), rows_of(trace, table, form="ndjson")
    assert len(comma) == len(objects) > 0 or table == "samples"
    for one, other in zip(comma, objects):
        assert list(one) == list(other)
        for key, value in other.items():
            assert one[key] == value or str(one[key]) == str(value), key


def test_sites(trace):
    rows = rows_of(trace, "sites")
    heap = report(trace)["heap"]
    assert sum(row["peak_bytes"] for row in rows) == heap["peak_bytes"]
    assert sum(row["allocations"] for row in rows) == heap["allocations"]
    assert sum(row["allocated_bytes"] for row in rows) == heap["allocated_bytes"]
    assert sum(row["unfreed_bytes"] for row in rows) == heap["end_bytes"]
    ours, theirs = collections.Counter(), collections.Counter()
    for row in rows:
        ours[row["function"], row["op"]] += row["peak_bytes"]
        assert row["function"] in row["frames"].split(";")
    for site in sites(trace, "peak", "--by", "stack"):
        theirs[site["stack"][site["own"]]["function"], site["op"]] += site["bytes"]
    named = {key: count for key, count in theirs.items() if key[0]}
    assert named and {key: ours[key] for key in named} == named


def test_ops_and_their_calls(trace):
    listed = {op["name"]: op for op in report(trace, command="ops", options=["--top", "0"])["ops"]}
    rows = {row["op"]: row for row in rows_of(trace, "ops")}
    assert set(rows) == set(listed)
    for name, op in listed.items():
        for key in ("calls", "total_ns", "self_ns", "p50_ns", "p99_ns", "flop"):
            assert rows[name][key] == op[key], (name, key)
    calls = collections.Counter()
    for row in rows_of(trace, "calls"):
        calls[row["op"]] += row["calls"]
    assert calls == {name: op["calls"] for name, op in listed.items()}


def test_steps_timeline_and_samples(trace):
    listed = report(trace, command="steps", options=["--top", "0", "--sort", "step"])["steps"]["list"]
    rows = rows_of(trace, "steps")
    assert [(row["step"], row["time_ns"], row["high_bytes"]) for row in rows] == [
        (step["step"], step["time_ns"], step["high_bytes"]) for step in listed]
    points = report(trace, command="timeline")["timeline"]["points"]
    assert [(row["time_ns"], row["live_bytes"]) for row in rows_of(trace, "timeline")] == [
        (point["time_ns"], point["live_bytes"]) for point in points]
    assert sum(row["cpu_ns"] for row in rows_of(trace, "samples")) == report(trace)["capture"]["cpu_ns"]


def test_events(trace):
    listed = collections.Counter(event["kind"] for event in report(trace, command="dump", options=["--top", "0"])["events"])
    rows = rows_of(trace, "events")
    assert collections.Counter(row["kind"] for row in rows) == listed
    assert sum(row["size"] for row in rows if row["kind"] == "alloc") == report(trace)["heap"]["allocated_bytes"]
    assert any(row["function"] for row in rows if row["kind"] == "alloc")


def test_parts_of_a_run(trace):
    steps = report(trace, command="steps", options=["--top", "0", "--sort", "step"])["steps"]["list"]
    span = ["--from", "step:10", "--to", "step:20"]
    rows = rows_of(trace, "calls", *span)
    assert 0 < len(rows) < len(rows_of(trace, "calls"))
    assert all(row["begin_ns"] >= steps[9]["begin_ns"] for row in rows)
    assert sum(row["allocations"] for row in rows_of(trace, "sites", *span)) == report(trace, options=span)["heap"]["allocations"]
    assert {row["thread"] for row in rows_of(trace, "calls", "--thread", "1")} == {1}
    assert rows_of(trace, "sites", "--filter", "no_such_function_here") == []


def test_sqlite(trace, tmp_path):
    data, heap = database(trace, tmp_path), report(trace)["heap"]
    process = data.execute("SELECT * FROM processes").fetchone()
    assert (process["peak_bytes"], process["allocations"], process["unfreed_bytes"]) == (
        heap["peak_bytes"], heap["allocations"], heap["end_bytes"])
    assert data.execute("SELECT identity FROM runs").fetchall()[0][:] == (report(trace)["process"]["run"],)
    assert data.execute("SELECT sum(peak_bytes), sum(allocations) FROM sites").fetchone()[:] == (heap["peak_bytes"], heap["allocations"])
    for table in ("ops", "steps", "timeline"):
        for ours, theirs in zip(data.execute(f"SELECT * FROM {table}"), rows_of(trace, table, form="ndjson")):
            assert dict(ours) == theirs
    assert (data.execute("SELECT sum(cpu_ns) FROM samples").fetchone()[0] or 0) == report(trace)["capture"]["cpu_ns"]
    texts = {row["frames"]: row["peak_bytes"] for row in
             data.execute("SELECT x.frames, sum(s.peak_bytes) AS peak_bytes FROM sites s JOIN stack_texts x USING (stack) GROUP BY 1")}
    theirs = collections.Counter()
    for row in rows_of(trace, "sites"):
        theirs[row["frames"]] += row["peak_bytes"]
    assert texts == theirs
    lines = collections.Counter()
    for row in data.execute("SELECT file, line, peak_bytes FROM lines"):
        lines[row["file"], row["line"]] += row["peak_bytes"]
    assert sum(lines.values()) == heap["peak_bytes"]
    assert data.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert data.execute("PRAGMA foreign_key_check").fetchall() == []


def test_sqlite_findings(leaky, tmp_path):
    found = report(leaky, command="leaks")["growth"]["findings"]
    rows = database(leaky, tmp_path).execute("SELECT * FROM findings").fetchall()
    assert len(rows) == len(found) > 0
    for row, finding in zip(rows, found):
        assert row["rate"] == pytest.approx(finding["bytes_per_step"]) and row["verdict"] == finding["verdict"]
        assert (row["low"], row["high"]) == pytest.approx(finding["ci95"])


USER = """import json
def keep(count):
    return [json.loads("[" + "1e300, " * 200 + "1]") for _ in range(count)]  # the library allocates
kept = keep(500)
"""


def test_sqlite_has_the_users_line(tprof, tmp_path):
    """Where a library allocates, the line is the library's; the line that called it is beside it. Of the library's own start there is none."""
    program = tprof.directory / "mine.py"
    program.write_text(USER)
    run = tprof.run([PYTHON, program], [LIBRARY], {"TPROF_PYTHON": "alloc"})
    data = database(run.traces()[0], tmp_path)
    held = data.execute("SELECT user_function, user_file, user_line, sum(peak_bytes) AS bytes, max(file) AS file FROM sites "
                        "GROUP BY 1, 2, 3 ORDER BY bytes DESC").fetchall()
    assert held[0]["user_function"] in ("keep", "keep.<locals>.<listcomp>") and held[0]["user_line"] == 3
    assert held[0]["user_file"].endswith("mine.py") and held[0]["bytes"] > 500 * 200 * 24
    assert data.execute("SELECT count(*) FROM sites WHERE user_line = 3 AND file LIKE '%json%'").fetchone()[0] > 0
    assert data.execute("SELECT count(*) FROM sites WHERE user_file IS NULL AND file IS NOT NULL").fetchone()[0] > 0
    assert data.execute("SELECT count(*) FROM sites WHERE user_file LIKE '/usr/%'").fetchone()[0] == 0


def test_schema_is_documented(trace, tmp_path):
    page = (ROOT / "analyzer/tprof-sql.5").read_text(encoding="utf-8").replace("\\-", "-").replace("\\_", "_")
    data = database(trace, tmp_path)
    for name, kind in data.execute("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')").fetchall():
        section = re.search(rf"^\.SS {name}\n(.*?)(?=^\.S[SH])", page, re.M | re.S)
        assert section, (kind, name)
        columns = {row[1] for row in data.execute(f"PRAGMA table_info({name})")}
        named = set(re.findall(r"\w+", " ".join(re.findall(r"^\.BR? (.*)$", section[1], re.M))))
        assert columns <= named, (name, columns - named)


def test_tables_are_documented():
    """Each table and column of csv is in the manual."""
    page = (ROOT / "analyzer/tprof-analyze.1").read_text(encoding="utf-8").replace("\\-", "-")
    for table in TABLES:
        assert re.search(rf"^\.B {table}$", page, re.M), table


def test_sqlite_wants_a_file(trace):
    done = subprocess.run([ANALYZE, "export", "--format", "sqlite", trace], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "a database is a file" in done.stderr


def test_names_of_any_bytes(tmp_path):
    """What a trace is called and holds is text that every reader takes."""
    folder = tmp_path / 'a,"b'
    folder.mkdir()
    shutil.copy(WORKLOADS / "few", folder / "few")
    subprocess.run([folder / "few"], check=False, cwd=folder, capture_output=True,
                   env={**os.environ, "LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": str(tmp_path / "trace.bin")})
    for form in ("csv", "ndjson"):
        assert len(rows_of(tmp_path / "trace.bin", "sites", form=form)) > 0
    database(tmp_path / "trace.bin", tmp_path)


@pytest.mark.parametrize("table", ["calls", "events"])
def test_memory_does_not_grow_with_the_trace(table, tmp_path):
    """Ten times the events take no more than a tenth more memory. Samples would lead to other libraries, whose names take some."""
    peaks = []
    for steps in (200, 2000):
        file = tmp_path / f"{steps}.bin"
        subprocess.run([WORKLOADS / "mlp", "--data", ROOT / "tests/workloads/data/digits.csv", "--steps", str(steps)], check=True,
                       cwd=tmp_path, capture_output=True,
                       env={**os.environ, "LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": str(file), "TPROF_CPU": "0"})
        peaks.append(peak_rss([ANALYZE, "export", "--format", "csv", "--table", table, "-o", tmp_path / "table.csv", file]))
    assert peaks[1] < 1.1 * peaks[0] + 4 * 2**20, peaks


FORMATS = ("callgrind", "massif", "dhat", "csv", "ndjson", "sqlite", "openmetrics")


@pytest.mark.parametrize("form", FORMATS)
def test_damaged_traces(form, trace, tmp_path):
    """Bits that are flipped neither crash nor hang an export, and leave no output that is half of one."""
    draw, data, file = random.Random(form), trace.read_bytes(), tmp_path / "damaged.bin"
    used = len(data.rstrip(b"\0"))
    for _ in range(8):
        damaged = bytearray(data)
        for _ in range(draw.choice([1, 5, 40])):
            damaged[draw.choice([draw.randrange(2048), 16384 + draw.randrange(200), draw.randrange(used)])] ^= 1 << draw.randrange(8)
        file.write_bytes(damaged)
        for table in draw.sample(TABLES, 2) if form in ("csv", "ndjson") else TABLES[:1]:
            out = tmp_path / "out"
            out.unlink(missing_ok=True)
            done = subprocess.run([PROGRAM, "export", "--format", form, "--table", table, "-o", out, file], capture_output=True, text=True,
                                  check=False, timeout=120, errors="replace",
                                  env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:exitcode=99"})
            assert done.returncode in (0, 2, 3), done.stderr[-3000:]
            assert out.exists() == (done.returncode == 0), done.stderr
            if out.exists() and form == "ndjson":
                assert all(json.loads(line) for line in out.read_text().splitlines())
            if out.exists() and form == "dhat":
                json.loads(out.read_text())


# ---- OpenMetrics ----

def samples_of(text):
    return {(name, labels): float(value) for name, labels, value in re.findall(r"^(\w+)\{(.*)\} (\S+)$", text, re.M)}


def test_openmetrics(trace, leaky):
    for file in (trace, leaky):
        text, answer = analyze("export", "--format", "openmetrics", file).stdout, report(file)
        values = {name: value for (name, labels), value in samples_of(text).items() if "op=" not in labels and "place=" not in labels}
        assert text.endswith("# EOF\n")
        assert values["tprof_peak_bytes"] == answer["heap"]["peak_bytes"]
        assert values["tprof_live_bytes"] == answer["heap"]["end_bytes"]
        assert values["tprof_allocations_total"] == answer["heap"]["allocations"]
        calls = {re.search('op="(.*)"', labels)[1]: value for (name, labels), value in samples_of(text).items()
                 if name == "tprof_op_calls_total"}
        assert calls == {op["name"]: op["calls"] for op in report(file, command="ops", options=["--top", "0"])["ops"]}
    rates = [value for (name, _labels), value in samples_of(text).items() if name == "tprof_leak_bytes_per_step"]
    assert rates == pytest.approx([leak["bytes_per_step"] for leak in answer["answer"]["leaks"]])


@pytest.mark.skipif(not shutil.which("promtool"), reason="prometheus is not installed")
def test_promtool_reads_openmetrics(leaky, tmp_path):
    """Prometheus takes it, with a time for each sample, and has the same values."""
    text = analyze("export", "--format", "openmetrics", leaky).stdout
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    # It looks for the names of the older format, in which counters' families end with _total.
    assert all(line.endswith("no help text") for line in (checked.stdout + checked.stderr).splitlines())
    (tmp_path / "metrics").write_text(re.sub(r"^(\w+\{.*\} \S+)$", r"\1 1700000000", text, flags=re.M))
    (tmp_path / "data/wal").mkdir(parents=True)  # of a server that has not run
    subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", tmp_path / "metrics", tmp_path / "data"], check=True,
                   capture_output=True)
    dumped = subprocess.run(["promtool", "tsdb", "dump", tmp_path / "data"], check=True, capture_output=True, text=True).stdout
    stored = {re.search('__name__="([^"]*)"', line)[1]: float(line.split("} ")[1].split()[0]) for line in dumped.splitlines()
              if "op=" not in line}
    ours = {name: value for (name, labels), value in samples_of(text).items() if "op=" not in labels}
    assert stored == pytest.approx(ours)
