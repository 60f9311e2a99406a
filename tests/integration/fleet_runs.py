# SPDX-License-Identifier: Apache-2.0
"""Many runs out of a few real ones, always the same: what they hold and how long they take varies, and three facts are planted."""
import collections
import dataclasses
import hashlib
import os
import random
import sqlite3
import subprocess
import sys

from conftest import LIBRARY, ROOT, WORKLOADS, analyze

sys.path.insert(0, str(ROOT / "scripts/fleet"))

import sqlite as fleet_sqlite  # pylint: disable=wrong-import-position
from tables import EXPORTED, LABELS  # pylint: disable=wrong-import-position

RANKS, HOSTS = 4, 24
FIRST = 1767571200 * 10**9  # Monday, 5 January 2026, UTC
WEEK = 7 * 86400 * 10**9
WEEKS = 26
SLOW_HOST, SLOW = "node07", 1.3
GROWTH, SLOWER = 1.25, 1.15
MEMORY_NOISE, TIME_NOISE = 0.01, 0.03
TRANSFER = 0.02  # of the work, which each step's allreduce takes when all are there


def record_templates(folder):
    """Two real runs, profiled now: {model: exported database}."""
    found = {}
    for name, command in (("trainer", ["mlp", "--data", ROOT / "tests/workloads/data/digits.csv", "--steps", 12]),
                          ("embedder", ["growth", "spread", 12, 1])):
        trace, found[name] = folder / f"{name}.bin", folder / f"{name}.sqlite"
        subprocess.run([WORKLOADS / command[0], *map(str, command[1:])], check=True, capture_output=True,
                       env={**os.environ, "LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": str(trace)})
        analyze("export", "--format", "sqlite", "-o", found[name], trace)
    return found


@dataclasses.dataclass
class Truth:
    """What is in the runs, by what they were made of."""
    models: tuple = ()
    grown: tuple = ()  # model, commit, version, line's function
    slower: tuple = ()  # model, version
    peaks: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(list))  # (model, version, week): bytes
    held: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # (function, file, line): bytes
    held_in: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(list))  # (model, commit, line): bytes by job
    works: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(dict))  # job: {host: ns}
    steps: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(list))  # (model, version): ns by job
    # host: {job: [(waits, ns)]}
    waits: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    rows: collections.Counter = dataclasses.field(default_factory=collections.Counter)


class Template:
    """A real run. Of its timeline every tenth moment is kept, as there are many."""

    def __init__(self, name, path, connection):
        self.name = name
        connection.execute(f"ATTACH ? AS {name}", (str(path),))
        rows = connection.execute(f"SELECT rowid, function, file, line, user_function, user_file, user_line, peak_bytes "
                                  f"FROM {name}.sites ORDER BY rowid").fetchall()
        # The user's own line, if the stack has one.
        self.sites = [(row, *((function or "", file or "", line or 0) if own_file is None else (own or "", own_file, own_line or 0)), peak)
                      for row, function, file, line, own, own_file, own_line, peak in rows]
        self.step_ns = connection.execute(f"SELECT sum(time_ns * steps) * 1.0 / sum(steps) FROM {name}.steps").fetchone()[0]
        self.steps = connection.execute(f"SELECT sum(steps) FROM {name}.steps").fetchone()[0]
        self.process = connection.execute(f"SELECT process FROM {name}.processes").fetchone()[0]
        held = collections.Counter()
        for _, *line, peak in self.sites:
            held[tuple(line)] += peak
        self.main_line = max(held, key=held.get)
        self.columns = {table: list(EXPORTED[table]) for table in EXPORTED}


class Maker:
    def __init__(self, path, templates, count, seed):
        fleet = fleet_sqlite.SQLite(path, writing=True)
        fleet.prepare(upgrade=False)
        fleet.close()
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA synchronous = OFF")
        self.random, self.jobs, self.truth = random.Random(seed), count // RANKS, Truth()
        self.templates = {name: Template(name, file, self.connection) for name, file in templates.items()}
        self.truth.models = tuple(self.templates)
        per_model = self.jobs // len(self.templates)
        self.versions = max(2, min(WEEKS // 2, per_model // 24))
        self.commits = max(2, min(4, per_model // self.versions // 10))  # of a version
        first, last = self.truth.models[0], self.truth.models[-1]
        version = self.versions * 2 // 3
        self.truth.grown = (first, self.commit(first, version, 0), f"v{version:02}", self.templates[first].main_line)
        self.truth.slower = (last, f"v{self.versions // 2:02}")

    @staticmethod
    def commit(model, version, number):
        return hashlib.sha1(f"{model} {version} {number}".encode()).hexdigest()

    def copy(self, template, run, table, **changed):
        """The template's rows, with expressions for some of their columns."""
        cells = ", ".join(changed.get(column, f'"{column}"') for column in template.columns[table])
        where = "WHERE rowid % 10 = 1" if table == "timeline" else ""
        count = self.connection.execute(f"INSERT INTO main.{table} SELECT '{run}', {cells} FROM {template.name}.{table} {where}").rowcount
        self.truth.rows[table] += count

    def job(self, number):
        template = self.templates[self.random.choice(self.truth.models)]
        when = number * WEEKS * WEEK // self.jobs
        place = when * self.versions * self.commits // (WEEKS * WEEK)
        version, commit = divmod(place, self.commits)
        hosts = self.random.sample(range(HOSTS), RANKS)
        slower = SLOWER if template.name == self.truth.slower[0] and f"v{version:02}" >= self.truth.slower[1] else 1.0
        base = template.step_ns * slower
        works = [base * self.random.gauss(1, TIME_NOISE) * (SLOW if f"node{host:02}" == SLOW_HOST else 1) for host in hosts]
        step_ns = round(max(works) + TRANSFER * base)
        labels = {"job": f"job-{number:05}", "model": template.name, "model_version": f"v{version:02}",
                  "commit_id": self.commit(template.name, version, commit)}
        held = []
        for host, work in zip(hosts, works):
            run = hashlib.sha256(f"{number} {host}".encode()).hexdigest()[:16]
            held.append(self.run(template, run, labels | {"host": f"node{host:02}"}, FIRST + when + self.random.randrange(10**9),
                                 step_ns, round(step_ns - work)))
            self.wait(run, labels["job"], hosts, works, host, template.steps)
            self.truth.works[labels["job"]][f"node{host:02}"] = step_ns - round(step_ns - work)
        self.truth.steps[template.name, labels["model_version"]].append(step_ns)
        self.truth.held_in[template.name, labels["commit_id"]].append(sum(held) / len(held))

    def wait(self, run, job, hosts, works, host, steps):
        """The ranks of all hosts wait for the slowest one in each step."""
        last = works.index(max(works))
        waited = round(works[last] - works[hosts.index(host)]) * steps
        if host == hosts[last]:
            return
        cells = (run, hosts.index(host), f"node{host:02}", last, f"node{hosts[last]:02}", steps, waited)
        self.connection.execute("INSERT INTO rank_waits VALUES (?, ?, ?, ?, ?, ?, ?)", cells)
        self.truth.rows["rank_waits"] += 1
        self.truth.waits[f"node{hosts[last]:02}"][job].append((steps, waited))

    def run(self, template, run, labels, start, step_ns, wait_ns):
        """Returns what the template's main line holds."""
        grows = template.name == self.truth.grown[0] and labels["model_version"] >= self.truth.grown[2]
        noise = self.random.gauss(1, MEMORY_NOISE)
        main = template.main_line
        peak = held = 0
        for _, *line, bytes_ in template.sites:
            size = int(bytes_ * (noise * GROWTH if grows and tuple(line) == main else noise))
            self.truth.held[tuple(line)] += size
            peak += size
            held += size if tuple(line) == main else 0
        self.truth.peaks[labels["model"], labels["model_version"], start - (start - FIRST) % WEEK].append(peak)
        mine = ", ".join(str(row) for row, *line, _ in template.sites if tuple(line) == main)
        factor = f"CASE WHEN rowid IN ({mine}) THEN {noise * GROWTH!r} ELSE {noise!r} END" if grows else repr(noise)
        for table in ("frames", "stacks", "samples", "timeline", "findings"):
            self.copy(template, run, table)
        self.copy(template, run, "sites", peak_bytes=f"CAST(peak_bytes * ({factor}) AS INTEGER)")
        self.copy(template, run, "steps", time_ns=str(step_ns))
        self.copy(template, run, "ops")
        self.copy(template, run, "processes", peak_bytes=str(peak))
        cells = {"process": template.process, "op": "MPI_Allreduce", "category": "mpi", "calls": template.steps,
                 "total_ns": wait_ns * template.steps, "self_ns": wait_ns * template.steps}
        self.connection.execute(f"INSERT INTO ops (run, {', '.join(cells)}) VALUES ('{run}', {', '.join('?' * len(cells))})", list(cells.values()))
        self.truth.rows["ops"] += 1
        names = ("run", *LABELS, *EXPORTED["runs"])
        given = {"run": run, **labels, "start_unix_ns": start, "duration_ns": step_ns * template.steps, "peak_bytes": peak,
                 "peak_time_ns": 1, "tprof_version": "0.1.0", "identity": run}
        self.connection.execute(f"INSERT INTO runs VALUES ({', '.join('?' * len(names))})", [given[name] for name in names])
        self.truth.rows["runs"] += 1
        return held


def generate(path, templates, count, seed=7):
    """A fleet in SQLite at that path: count runs, a multiple of 4, made of {name: exported database}. Returns its Truth."""
    maker = Maker(path, templates, count, seed)
    maker.connection.execute("BEGIN")
    for number in range(maker.jobs):
        maker.job(number)
    maker.connection.execute("COMMIT")
    maker.connection.close()
    return maker.truth
