# SPDX-License-Identifier: Apache-2.0
"""What load is given: traces, folders of traces, exported databases, fleets in SQLite. Each becomes runs with their rows."""
import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile

from errors import Refused
from tables import EXPORTED, LABELS, RUN, VERSION, keys

TRACE, DATABASE = b"TPROF\r\n\x1a", b"SQLite format 3\0"
LABELS_FILE = "labels"
FROM_ENVIRONMENT = {"commit_id": ("GIT_COMMIT", "CI_COMMIT_SHA", "GITHUB_SHA"), "job": ("SLURM_JOB_ID",)}


# ---- labels ----

def labels_of(lines, place):
    """{label: value} of texts "label=value"; empty lines and those with # are left out."""
    found = {}
    for line in lines:
        name, equals, value = line.strip().partition("=")
        if not line.strip() or name.startswith("#"):
            continue
        if not equals or name not in LABELS:
            raise Refused(f"{place}: '{line.strip()}': a label is NAME=VALUE; names are {', '.join(LABELS)}")
        found[name] = value
    return found


def _labels(folder, given):
    """Of what lies in a folder: the command line comes before the folder's file, and that before the environment."""
    found = {label: next((os.environ[name] for name in names if os.environ.get(name)), "")
             for label, names in FROM_ENVIRONMENT.items()}
    with contextlib.suppress(FileNotFoundError):
        found.update(labels_of((folder / LABELS_FILE).read_text("utf-8", "replace").splitlines(), folder / LABELS_FILE))
    return {label: "" for label in LABELS} | found | given


def _labelled(labels, hosts, job):
    """With what the traces know, where nobody said anything; of a run on several hosts each process knows its own."""
    host = next(iter(hosts)) if len(hosts) == 1 else None
    return labels | {"host": labels["host"] or host or "", "job": labels["job"] or job or ""}


# ---- rows ----

def _text(data):
    return data.decode("utf-8", "replace").replace("\0", "?")


class Database:
    """In the form of tprof-sql(5); for reading only."""

    def __init__(self, path):
        self.path, self.known = path, {}
        self.connection = sqlite3.connect(pathlib.Path(path).absolute().as_uri() + "?mode=ro", uri=True, check_same_thread=False)
        self.connection.text_factory = _text

    def close(self):
        self.connection.close()

    def columns(self, table):
        """Its names; none if there is no such table."""
        if table not in self.known:
            self.known[table] = {row[1] for row in self.connection.execute(f'PRAGMA table_info("{table}")')}
        return self.known[table]

    def fetch(self, sql):
        return self.connection.execute(sql).fetchall()


class Run:
    """A run's rows: all of a database, or of a fleet those with its key."""

    def __init__(self, key, labels, database, of_fleet=False, temporary=False):
        self.key, self.labels, self.database, self.of_fleet, self.temporary = key, labels, database, of_fleet, temporary

    def rows(self, table):
        """Tuples, with a cell for each of columns(table)."""
        there = self.database.columns(table)
        if not there:
            return
        head = tuple(self.key if name == RUN else self.labels[name] for name in keys(table))
        cells = ", ".join(f'CAST("{name}" AS {kind})' if name in there else "NULL" for name, kind in EXPORTED[table].items())
        where = f" WHERE run = '{self.key}'" if self.of_fleet else ""
        try:
            for row in self.database.connection.execute(f'SELECT {cells} FROM "{table}"{where}'):
                yield head + row
        except sqlite3.Error as error:
            raise Refused(f"{self.database.path}: table {table}: {error}") from error

    def lines(self, table):
        """The same as lines of text, which PostgreSQL's COPY and ClickHouse's TabSeparated take."""
        return ("\t".join(map(_cell, row)) + "\n" for row in self.rows(table))

    def close(self):
        """A fleet's database stays open: it is that of its other runs."""
        if not self.of_fleet:
            self.database.close()
        if self.temporary:
            shutil.rmtree(os.path.dirname(self.database.path), ignore_errors=True)


def _cell(value):
    if value is None:
        return "\\N"
    return value.translate(_ESCAPES) if isinstance(value, str) else repr(value)


_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


# ---- where runs come from ----

class Source:
    """A run that is not opened yet: open() gives its Run, which the caller closes."""

    def __init__(self, key, labels, make, slow=False):
        if not re.fullmatch("[0-9a-f]{16}", key):
            raise Refused(f"'{key}' is not the key of a run: it has 16 hexadecimal digits")
        self.key, self.labels, self.make, self.slow = key, labels, make, slow

    def open(self):
        return self.make(self)


def _key(identity, start_unix_ns, process):
    """By the run's first process: the same for its traces and for what was exported of them."""
    return hashlib.sha256(f"{identity or ''} {start_unix_ns} {process}".encode()).hexdigest()[:16]


def _of_fleet(database):
    path, version = database.path, database.fetch("SELECT max(version) FROM fleet_schema")[0][0]
    if version != VERSION:
        raise Refused(f"{path}: a fleet of schema {version}, and this tprof-fleet reads schema {VERSION}: " + (
            f"first tprof-fleet load --upgrade --to sqlite:{path}" if (version or 0) < VERSION else "install the tprof that wrote it"))
    for key, *labels in database.fetch(f"SELECT {RUN}, {', '.join(LABELS)} FROM runs ORDER BY start_unix_ns, run"):
        yield Source(key, dict(zip(LABELS, labels)), lambda source: Run(source.key, source.labels, database, of_fleet=True))


def _of_database(path, given):
    try:
        database = Database(path)
        if database.columns("fleet_schema"):
            if given:
                raise Refused(f"{path}: the runs of a fleet have their labels: load this without --label")
            yield from _of_fleet(database)
            return
        with contextlib.closing(database):
            identity = "identity" if "identity" in database.columns("runs") else "NULL"
            rows = database.fetch(f"SELECT {identity}, start_unix_ns FROM runs")
            host, job = (name if name in database.columns("processes") else "NULL" for name in ("host", "job"))
            first = database.fetch(f"SELECT process, {job} FROM processes ORDER BY start_ns, process LIMIT 1")
            hosts = {name for name, in database.fetch(f"SELECT DISTINCT {host} FROM processes")}
    except sqlite3.Error as error:
        raise Refused(f"{path}: {error}: what tprof-analyze export --format sqlite writes is loaded") from error
    if len(rows) != 1 or not first:
        raise Refused(f"{path}: {len(rows)} runs are in it, not one of tprof-analyze export --format sqlite")
    (identity, start), (process, job) = rows[0], first[0]
    labels = _labelled(_labels(path.parent, given), hosts, job or identity)
    yield Source(_key(identity, start, process), labels, lambda source: Run(source.key, source.labels, Database(path)))


def _analyze(analyzer, *arguments):
    try:
        done = subprocess.run([analyzer, *map(str, arguments)], capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise Refused(f"{analyzer}: {error.strerror}: traces are read by tprof-analyze; --analyze says where it is") from error
    if done.returncode not in (0, 1):
        raise Refused(done.stderr.strip() or f"{analyzer} ended with {done.returncode}")
    return done.stdout


def _export(analyzer, traces, source):
    folder = tempfile.mkdtemp(prefix="tprof-fleet-")
    try:
        database = os.path.join(folder, "run.sqlite")
        _analyze(analyzer, "export", "--format", "sqlite", "-o", database, *traces)
        return Run(source.key, source.labels, Database(database), temporary=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _of_traces(paths, given, analyzer):
    """The traces of a run are one, wherever in the folder they lie."""
    runs = json.loads(_analyze(analyzer, "info", "--json", "--all-runs", *paths))
    for run in runs.get("runs", [runs]):
        parts = sorted(run.get("processes", [run]), key=lambda part: (part["process"]["start_unix_ns"], part["process"]["pid"]))
        first, traces = parts[0]["process"], [part["process"]["trace"] for part in parts]
        job = (parts[0]["capture"].get("rank") or {}).get("job")
        hosts = {part["capture"].get("host") for part in parts}
        labels = _labelled(_labels(pathlib.Path(traces[0]).parent, given), hosts, job or first["run"])
        yield Source(_key(first["run"], first["start_unix_ns"], first["pid"]), labels,
                     lambda source, traces=traces: _export(analyzer, traces, source), slow=True)


def _begins(path):
    with open(path, "rb") as file:
        return file.read(16)


def find(arguments, given, analyzer):
    """The Sources of what the command line names."""
    databases, traces = [], []
    for argument in map(pathlib.Path, arguments):
        files = sorted(path for path in argument.rglob("*") if path.is_file()) if argument.is_dir() else [argument]
        before = len(databases) + len(traces)
        for path in files:
            try:
                begins = _begins(path)
            except OSError as error:
                raise Refused(f"{path}: {error.strerror}") from error
            if begins == DATABASE:
                databases.append(path)
            elif begins.startswith(TRACE) or (begins[:1] and not argument.is_dir()):
                traces.append(path)  # what is named and is none, the analyzer refuses with its reason
        if len(databases) + len(traces) == before:
            raise Refused(f"{argument}: no trace and no exported database is in it")
    for path in databases:
        yield from _of_database(path, given)
    if traces:
        yield from _of_traces(traces, given, analyzer)
