# SPDX-License-Identifier: Apache-2.0
"""tprof-fleet: runs in SQLite, PostgreSQL and ClickHouse are the same runs, each once, and all three engines answer the same.
FLEET_RUNS says of how many runs (make check-fleet: 10,000)."""
import contextlib
import csv
import io
import json
import math
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys

import fleet_runs
import fleet_servers
import pytest
from conftest import ANALYZE, BUILD, LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, report

import engine  # scripts/fleet, by fleet_runs
import tables

PROGRAM = ROOT / "scripts/tprof-fleet"
RUNS, FEW = int(os.environ.get("FLEET_RUNS", "400")), 240
QUERIES = sorted(path.stem for path in (ROOT / "scripts/fleet/queries").glob("*.sql"))
BARE = {name: value for name, value in os.environ.items() if not re.match("GIT_COMMIT|CI_|GITHUB_|SLURM_", name)}


def fleet(*arguments, status=0, env=None, **options):
    done = subprocess.run([PYTHON, PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=1200,
                          env=BARE | (env or {}), **options)
    assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stderr}"
    return done


def load(url, *runs, **options):
    return fleet("load", "--analyze", ANALYZE, "--to", url, *runs, **options)


def answer(url, query, **options):
    return json.loads(fleet("query", query, "--from", url, "--format", "json", **options).stdout)


def ask(url, sql):
    """Rows as lists."""
    return [list(row.values()) for row in answer(url, "-", input=sql)]


def counts(url):
    return {table: ask(url, f"SELECT count(*) AS n FROM {table}")[0][0] for table in tables.EXPORTED}


@pytest.fixture(scope="module")
def servers():
    with contextlib.ExitStack() as running:
        yield {name: running.enter_context(start()) for name, start in fleet_servers.ENGINES.items()}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Databases of real runs, by the name of their model."""
    return fleet_runs.record_templates(tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="module")
def generated(exported, tmp_path_factory):
    path = tmp_path_factory.mktemp("generated") / "all.db"
    yield path, fleet_runs.generate(path, exported, RUNS)
    path.unlink()  # it is large


@pytest.fixture(scope="module")
def few(exported, tmp_path_factory):
    """More runs than a batch has."""
    path = tmp_path_factory.mktemp("few") / "few.db"
    return path, fleet_runs.generate(path, exported, FEW)


@pytest.fixture(scope="module")
def fleets(servers, generated):
    """All of the generated runs in each engine that is installed: {engine: URL}."""
    places = {name: place("everything") for name, place in servers.items() if place}
    for place in places.values():
        assert load(place, generated[0]).stdout == f"{RUNS} runs loaded\n"
    return places


@pytest.fixture(params=list(fleet_servers.ENGINES))
def url(request, servers):
    """Where a fleet can be."""
    if not servers[request.param]:
        pytest.skip(f"{request.param} is not installed")
    number = servers["count"] = servers.get("count", 0) + 1
    return servers[request.param](f"other{number}")


# ---- that all engines have the same ----

def test_rows_are_those_that_were_loaded(fleets, generated):
    """All of them, with their numbers and texts: sums over all columns of each table."""
    path, truth = generated
    for name, place in fleets.items():
        assert counts(place) == {table: truth.rows[table] for table in tables.EXPORTED}, name
        for table, columns in tables.EXPORTED.items():
            cells = {"text": 'length("{}")', "integer": '"{}" % 1000003', "real": '"{}"'}
            sums = ", ".join(f"sum({cells[kind].format(column)}) AS c{number}" for number, (column, kind) in enumerate(columns.items()))
            ours, theirs = ask(place, f"SELECT {sums} FROM {table}"), ask(f"sqlite:{path}", f"SELECT {sums} FROM {table}")
            assert ours[0] == pytest.approx(theirs[0], rel=1e-12) if None not in theirs[0] else ours == theirs, (name, table)


@pytest.mark.parametrize("query", QUERIES)
def test_engines_agree(fleets, query):
    answers = {name: answer(place, query) for name, place in fleets.items()}
    first = answers.pop("sqlite")
    assert first
    for name, rows in answers.items():
        assert len(rows) == len(first), name
        for one, other in zip(first, rows):
            assert list(one) == list(other)
            assert other == pytest.approx(one, rel=1e-6, abs=1e-9), name


# ---- that what they have is right: what was planted, and what follows from how the runs were made ----

def test_peaks_by_version(fleets, generated):
    truth = generated[1]
    for place in fleets.values():
        rows = {(row["model"], row["model_version"], row["week_unix_ns"]): row for row in answer(place, "peak-by-version")}
        assert set(rows) == set(truth.peaks) and len(rows) > fleet_runs.WEEKS
        for key, peaks in truth.peaks.items():
            assert (rows[key]["runs"], rows[key]["largest_peak_bytes"]) == (len(peaks), max(peaks))
            assert rows[key]["mean_peak_bytes"] == pytest.approx(statistics.fmean(peaks))


def welch(later, earlier):
    """t and its degrees of freedom."""
    one, other = (statistics.variance(values) / len(values) for values in (later, earlier))
    df = (one + other) ** 2 / (one ** 2 / (len(later) - 1) + other ** 2 / (len(earlier) - 1))
    return (statistics.fmean(later) - statistics.fmean(earlier)) / math.sqrt(one + other), df


def test_the_commit_that_made_the_peak_grow(fleets, generated):
    truth = generated[1]
    model, commit, _, line = truth.grown
    commits = [name for made_by, name in truth.held_in if made_by == model]  # in the order of their runs
    later, earlier = truth.held_in[model, commit], truth.held_in[model, commits[commits.index(commit) - 1]]
    for place in fleets.values():
        first, *others = answer(place, "growth-by-commit")
        assert (first["model"], first["commit_id"]) == (model, commit)
        assert (first["function_name"], first["file_name"], first["line_number"]) == line
        assert (first["jobs"], first["earlier_jobs"]) == (len(later), len(earlier))
        assert first["growth_bytes"] == pytest.approx(statistics.fmean(later) - statistics.fmean(earlier))
        assert (first["t"], first["df"]) == pytest.approx(welch(later, earlier), rel=1e-6)
        assert first["growth_bytes"] / first["earlier_mean_bytes"] == pytest.approx(fleet_runs.GROWTH - 1, abs=0.02)
        assert others == []


def test_the_host_that_is_slow(fleets, generated):
    """Each step takes as long on all hosts of a job, as they wait for each other: only the work tells."""
    truth = generated[1]
    for place in fleets.values():
        rows = {row["host"]: row for row in answer(place, "stragglers-by-host")}
        assert next(iter(rows)) == fleet_runs.SLOW_HOST and len(rows) == fleet_runs.HOSTS
        for host, row in rows.items():
            jobs = [works for works in truth.works.values() if host in works]
            assert row["jobs"] == len(jobs) and row["expected_slowest"] == pytest.approx(len(jobs) / fleet_runs.RANKS)
            assert row["slowest"] == sum(works[host] == max(works.values()) for works in jobs)
            ratios = [works[host] * (len(works) - 1) / (sum(works.values()) - works[host]) for works in jobs]
            assert row["mean_ratio"] == pytest.approx(statistics.fmean(ratios))
        assert rows[fleet_runs.SLOW_HOST]["mean_ratio"] == pytest.approx(fleet_runs.SLOW, rel=0.03)
        assert rows[fleet_runs.SLOW_HOST]["z"] > 5 and all(row["z"] < 4 for host, row in rows.items() if host != fleet_runs.SLOW_HOST)


def test_the_host_for_which_others_wait(fleets, generated):
    truth = generated[1]
    for place in fleets.values():
        rows = answer(place, "waits-by-host")
        assert rows[0]["host"] == fleet_runs.SLOW_HOST and {row["host"] for row in rows} == set(truth.waits)
        for row in rows:
            jobs = [[sum(column) for column in zip(*waits)] for waits in truth.waits[row["host"]].values()]
            assert row["jobs"] == len(jobs) and row["most_in_a_job_ns"] == max(ns for _, ns in jobs)
            assert [row["made_waits"], row["made_wait_ns"]] == [sum(column) for column in zip(*jobs)]


def test_regressions(fleets, generated):
    """Both that were planted, with the t that the test's definition gives; and nothing else."""
    truth = generated[1]
    model, version = truth.slower
    before = f"v{int(version[1:]) - 1:02}"
    for place in fleets.values():
        rows = {(row["model"], row["model_version"], row["measure"]): row for row in answer(place, "regressions")}
        assert set(rows) == {(model, version, "step_ns"), (truth.grown[0], truth.grown[2], "peak_bytes")}
        row = rows[model, version, "step_ns"]
        later, earlier = truth.steps[model, version], truth.steps[model, before]
        assert (row["t"], row["df"]) == pytest.approx(welch(later, earlier), rel=1e-6)
        assert row["ratio"] == pytest.approx(statistics.fmean(later) / statistics.fmean(earlier))
        assert row["ratio"] == pytest.approx(fleet_runs.SLOWER, abs=0.08)


def student_above(t, df):
    """The probability that Student's t is above it, by Simpson's rule."""
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    width, pieces = t / 20000, 20000
    inner = sum((1 if i in (0, pieces) else 4 if i % 2 else 2) * (1 + (i * width) ** 2 / df) ** (-(df + 1) / 2) for i in range(pieces + 1))
    return 0.5 - scale * width / 3 * inner


@pytest.mark.parametrize("query, level", [("regressions", 1e-3), ("growth-by-commit", 1e-6)])
def test_critical_values(query, level):
    """What the queries take for the critical value of t is at the level that they state, from the fewest jobs on."""
    text = (ROOT / f"scripts/fleet/queries/{query}.sql").read_text()
    expression = re.search(r"^WHERE t > (.*)$", text, re.M)[1]
    for df in (7, 10, 14, 30, 100, 1000):
        critical = eval(expression, {"df": df})  # pylint: disable=eval-used
        assert level / 1.5 < student_above(critical, df) < level * 2.5, df


def test_the_sites_that_hold_most(fleets, generated):
    expected = sorted(generated[1].held.items(), key=lambda item: (-item[1], item[0]))[:10]
    for place in fleets.values():
        rows = answer(place, "top-sites")
        assert [((row["function_name"], row["file_name"], row["line_number"]), row["held_bytes"]) for row in rows] == expected


# ---- loading ----

def test_a_run_loaded_twice_is_there_once(url, few, exported):
    load(url, few[0], exported["trainer"])
    before = counts(url)
    assert load(url, few[0], exported["trainer"], exported["trainer"]).stdout == f"0 runs loaded, {FEW + 1} there already\n"
    assert counts(url) == before and before["runs"] == FEW + 1


KILLED = """
import os, runpy, signal, sys
sys.path.insert(0, sys.argv.pop(1))
limit, seen = int(sys.argv.pop(1)), 0
import runs

def counted(make):
    def rows(self, table):
        global seen
        for row in make(self, table):
            seen += 1
            if seen > limit:
                os.kill(os.getpid(), signal.SIGKILL)
            yield row
    return rows

runs.Run.rows = counted(runs.Run.rows)
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("share", [0.0001, 0.5, 0.93])
def test_a_load_that_is_killed(url, few, share):
    """At any row: the next one completes it. What is there in between are whole runs."""
    path, truth = few
    limit = int(sum(truth.rows.values()) * share)
    killed = subprocess.run([PYTHON, "-c", KILLED, ROOT / "scripts/fleet", str(limit), PROGRAM, "load", "--to", url, path], check=False,
                            capture_output=True, timeout=1200, env=BARE)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    whole = ask(url, "SELECT count(*) AS n FROM runs")[0][0]
    assert whole == (200 if share > 200 / FEW else 0)
    assert load(url, path).stdout == f"{FEW - whole} runs loaded" + (f", {whole} there already\n" if whole else "\n")
    assert counts(url) == {table: truth.rows[table] for table in tables.EXPORTED}


def test_traces_folders_and_databases(url, tprof):
    """A run is the same whichever way it comes; traces of several runs that lie together are several runs."""
    run = tprof.run([WORKLOADS / "fork", "nested"], [LIBRARY])
    first = tprof.directory / "first"
    first.mkdir()
    for trace in run.traces():
        shutil.move(trace, first / trace.name)
    (first / "labels").write_text("# of this job\nmodel=small\nhost=here\n")
    second = tprof.run([WORKLOADS / "growth", "cache", 50, 1], [LIBRARY]).traces()[0]
    said = load(url, "--label", "model_version=7", tprof.directory, env={"GIT_COMMIT": "c0ffee"})
    assert said.stdout == "2 runs loaded\n"
    rows = {row["model"]: row for row in answer(url, "-", input="SELECT * FROM runs")}
    assert (rows["small"]["host"], rows["small"]["model_version"], rows["small"]["commit_id"]) == ("here", "7", "c0ffee")
    identity = report(second)["process"]["run"]
    assert (rows[""]["host"], rows[""]["job"], rows[""]["identity"]) == (report(second)["capture"]["host"], identity, identity)
    assert rows[""]["peak_bytes"] == report(second)["heap"]["peak_bytes"]
    assert ask(url, "SELECT count(*) AS n FROM processes")[0][0] == 4
    analyze("export", "--format", "sqlite", "-o", tprof.directory / "growth.db", second)
    assert load(url, tprof.directory / "growth.db", *sorted(first.glob("*.bin"))).stdout == "0 runs loaded, 2 there already\n"


def test_a_run_on_several_hosts(url, exported, tmp_path):
    """One command loads the ranks of all hosts: each process has its own. A label says otherwise."""
    both = tmp_path / "both.sqlite"
    shutil.copy(exported["trainer"], both)
    with contextlib.closing(sqlite3.connect(both)) as database:
        database.execute("UPDATE processes SET host = 'one', process = 1, job = '4711', rank = 0")
        database.execute("UPDATE steps SET process = 1")
        columns = ", ".join(f'"{column}"' for column in tables.EXPORTED["processes"])
        other = columns.replace('"process"', "2").replace('"host"', "'two'").replace('"rank"', "1")
        database.execute(f"INSERT INTO processes ({columns}) SELECT {other} FROM processes")
        columns = ", ".join(f'"{column}"' for column in tables.EXPORTED["steps"])
        other = columns.replace('"process"', "2").replace('"time_ns"', "2 * time_ns")
        database.execute(f"INSERT INTO steps ({columns}) SELECT {other} FROM steps")
        database.execute("DELETE FROM ops")
        database.commit()
    load(url, both)
    assert ask(url, "SELECT host, job FROM runs") == [["", "4711"]]
    found = [(row["host"], row["slowest"], row["mean_ratio"]) for row in answer(url, "stragglers-by-host")]
    assert found == [("two", 1, pytest.approx(2, rel=1e-12)), ("one", 0, pytest.approx(0.5, rel=1e-12))]  # quotients are rounded
    load(url, "--replace", "--label", "host=three", both)
    assert answer(url, "stragglers-by-host") == []


def test_replace(url, exported):
    """The labels were wrong: the run is loaded anew, and is there once."""
    load(url, "--label", "model=wrong", *exported.values())
    before = counts(url)
    assert load(url, "--replace", "--label", "model=right", exported["trainer"]).stdout == "1 run loaded\n"
    assert counts(url) == before
    assert sorted(ask(url, "SELECT model FROM runs")) == [["right"], ["wrong"]]


def test_text_of_any_kind(url, exported, tmp_path):
    """Tabs, quotes, backslashes, empty and missing texts come through."""
    changed, texts = tmp_path / "changed.sqlite", ["a\tb", "c\\nd", "e\nf", "'g\"", "", "\\N", "h\ri", "é€"]
    shutil.copy(exported["trainer"], changed)
    with contextlib.closing(sqlite3.connect(changed)) as database:
        database.execute("DELETE FROM frames")
        database.executemany("INSERT INTO frames VALUES (?, ?, NULL, ?, 'm', 'native')", [(n, text, n) for n, text in enumerate(texts)])
        database.execute("UPDATE sites SET growth = 1.0000000000000002")
        database.execute("UPDATE sites SET peak_bytes = 'text', largest_bytes = 9223372036854775807")
        database.commit()
    load(url, "--label", "host=a\\b", changed)
    assert ask(url, "SELECT frame, function, file FROM frames ORDER BY frame") == [[n, text, None] for n, text in enumerate(texts)]
    assert ask(url, "SELECT host FROM runs") == [["a\\b"]]
    assert ask(url, "SELECT max(growth) AS a, max(peak_bytes) AS b, max(largest_bytes) AS c FROM sites") == [[1.0000000000000002, 0, 2 ** 63 - 1]]


def test_older_and_newer_schemas(url, exported):
    load(url, exported["embedder"])
    before = counts(url)
    with contextlib.closing(engine.connect(url, writing=True)) as there:
        for name, _ in reversed(tables.views()):
            there.execute(f"DROP {'TABLE' if url.startswith('clickhouse') else 'VIEW'} {name}")
        for table in ("steps", "steps_rows") if url.startswith("clickhouse") else ("steps",):
            there.execute(f'ALTER TABLE "{table}" DROP COLUMN "items"')
        there.execute("CREATE TABLE kept AS fleet_schema" if url.startswith("clickhouse") else "ALTER TABLE fleet_schema RENAME TO kept")
        there.execute("DROP TABLE IF EXISTS fleet_schema")
        there.create_others(there.table_names())
        there.execute("INSERT INTO fleet_schema VALUES (0.5)" if url.startswith("sqlite") else "INSERT INTO fleet_schema VALUES (-1)")
    for arguments in (["load", "--to", url, exported["trainer"]], ["query", "top-sites", "--from", url]):
        assert "load --upgrade" in fleet(*arguments, status=2).stderr
    load(url, "--upgrade", exported["trainer"])
    assert counts(url)["steps"] == before["steps"] + 12 and ask(url, "SELECT min(items) AS n, count(items) AS k FROM steps") == [[50, 12]]
    assert answer(url, "stragglers-by-host") == []
    with contextlib.closing(engine.connect(url, writing=True)) as there:
        there.execute("INSERT INTO fleet_schema VALUES (99)")
    for arguments in (["load", "--upgrade", "--to", url, exported["trainer"]], ["query", "top-sites", "--from", url]):
        assert "the fleet has schema 99" in fleet(*arguments, status=2).stderr


def test_tables_are_those_that_export_writes(exported):
    """A column that export gains, a fleet gets too: in tables.py, with a VERSION more."""
    with contextlib.closing(sqlite3.connect(exported["trainer"])) as database:
        found = {name: [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
                 for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert found == {name: list(columns) for name, columns in tables.EXPORTED.items()}


# ---- the command line, and the page ----

def test_page(tmp_path):
    """Each command of docs/fleet.md works as it is typed, in the order of the page."""
    text = (ROOT / "docs/fleet.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", text, re.S)
    (tmp_path / "train.py").write_text(program)
    (tmp_path / "python3").symlink_to(PYTHON)
    said = []
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        done = subprocess.run(["bash", "-e", "-c", block], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
                              env={"PATH": f"{BUILD}/bin:{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)})
        assert done.returncode == 0, (block, done.stderr)
        said.append(done.stdout)
    assert len(said) == 4 and "train.py" in said[0]
    assert "0 runs loaded, 2 there already" in said[1] and "1 run loaded" in said[2]
    assert [(row["host"], row["runs"]) for row in json.loads(said[3])] == [(os.uname().nodename, 3)]
    rows = answer(f"sqlite:{tmp_path}/fleet.db", "peak-by-version")
    peaks = {row["model_version"]: row["mean_peak_bytes"] for row in rows}
    assert peaks["2"] - peaks["1"] == pytest.approx(10000 * 1057, rel=0.05) and peaks["1"] < peaks["3"] < peaks["2"]
    listed = re.findall(r"^\| `([a-z-]+)` \|", text, re.M)
    page = (ROOT / "scripts/tprof-fleet.1").read_text(encoding="utf-8").replace("\\-", "-")
    assert sorted(listed) == QUERIES and all(f".B {query}\n" in page for query in QUERIES)
    assert all(re.search(rf"^\.BR? .*\b{view}\b", page, re.M) for view in tables.VIEWS)



def test_forms_of_the_answer(fleets):
    place = fleets["sqlite"]
    rows = answer(place, "top-sites")
    listed = list(csv.DictReader(io.StringIO(fleet("query", "top-sites", "--from", place, "--format", "csv").stdout)))
    assert [{name: str(value) for name, value in row.items()} for row in rows] == listed
    head, *lines = fleet("query", "top-sites", "--from", place).stdout.splitlines()
    assert head.split() == list(rows[0]) and len(lines) == len(rows) and "iB" in lines[0]
    said = fleet("query", "--list").stdout
    assert [line.split()[0] for line in said.splitlines()] == QUERIES
    done = fleet("query", "top-sites", "--from", place, "--cost")
    cost = json.loads(done.stderr)
    assert cost["rows"] == 10 and cost["bytes_read"] > 1000


def test_no_rows_are_explained(url, exported):
    """What a query takes to have any."""
    load(url, exported["trainer"])
    for query in ("growth-by-commit", "regressions", "stragglers-by-host"):
        done = fleet("query", query, "--from", url)
        assert len(done.stdout.splitlines()) == 1 and done.stderr.startswith("tprof-fleet: no rows: no "), query
    assert fleet("query", "top-sites", "--from", url).stderr == ""
    own = fleet("query", "-", "--from", url, input="SELECT run FROM runs WHERE run = 'none'")
    assert own.stderr == "tprof-fleet: no rows\n"


def test_own_queries_can_not_write(url, exported):
    load(url, exported["trainer"])
    fleet("query", "-", "--from", url, input="INSERT INTO fleet_schema VALUES (5)", status=2)
    assert counts(url)["runs"] == 1


@pytest.mark.parametrize("arguments, said", [
    (["load", "--to", "mysql://here/db", "x"], "a fleet is at clickhouse://HOST:PORT/DATABASE, postgresql://"),
    (["load", "--to", "clickhouse://a,b/db", "x"], "several hosts are the shards of a cluster"),
    (["load", "--to", "clickhouse://127.0.0.1:1/db", "x"], "ClickHouse at 127.0.0.1:1: "),
    (["load", "--to", "clickhouse://127.0.0.1:x/db", "x"], "127.0.0.1:x"),
    (["load", "--to", "sqlite:new.db", "none.bin"], "none.bin: No such file or directory"),
    (["load", "--to", "sqlite:new.db", "."], "no trace and no exported database is in it"),
    (["load", "--to", "sqlite:new.db", "other.sqlite"], "0 runs are in it"),
    (["load", "--to", "sqlite:new.db", "bad.sqlite"], "bad.sqlite"),
    (["load", "--to", "sqlite:new.db", "text.bin"], "text.bin"),
    (["load", "--to", "sqlite:new.db", "--label", "team=x", "text.bin"], "names are host, job, commit_id, model, model_version"),
    (["load", "--to", "sqlite:/none/new.db", "text.bin"], "unable to open"),
    (["load", "--to", "sqlite:new.db", "--analyze", "./none", "text.bin"], "--analyze says where it is"),
    (["query", "top-sites", "--from", "sqlite:none.db"], "unable to open"),
    (["query", "top-sites", "--from", "sqlite:other.sqlite"], "no fleet is there"),
    (["query", "none", "--from", "sqlite:fleet.db"], "neither a file with a query, nor one of: growth-by-commit"),
    (["query", "bad.sql", "--from", "sqlite:fleet.db"], "SQLite: "),
])
def test_what_is_refused(arguments, said, tmp_path, exported):
    """In a line, with what is allowed."""
    with contextlib.closing(sqlite3.connect(tmp_path / "other.sqlite")) as other:
        other.executescript("CREATE TABLE runs (start_unix_ns); CREATE TABLE processes (process, start_ns)")
    (tmp_path / "bad.sqlite").write_bytes(b"SQLite format 3\0" + bytes(5000))
    (tmp_path / "text.bin").write_text("no trace")
    (tmp_path / "bad.sql").write_text("SELEC")
    load(f"sqlite:{tmp_path}/fleet.db", exported["trainer"])
    if arguments[-1] == ".":
        (tmp_path / "empty").mkdir()
        arguments = [*arguments[:-1], "empty"]
    if arguments[0] == "load" and "--analyze" not in arguments:
        arguments = ["load", "--analyze", ANALYZE, *arguments[1:]]
    (line,) = fleet(*arguments, status=2, cwd=tmp_path).stderr.splitlines()
    assert line.startswith("tprof-fleet: ") and said in line
