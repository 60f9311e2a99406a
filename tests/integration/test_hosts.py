# SPDX-License-Identifier: Apache-2.0
"""An Open MPI job over several hosts, which are network namespaces joined by an Ethernet, with clocks set apart by a known shift."""
import collections
import contextlib
import ctypes
import json
import re
import sqlite3
import subprocess

import pytest
from conftest import BUILD, LIBRARY, WORKLOADS, analyze
from namespaces import NETWORK, enter, hosts, refused, remote_shell
from test_ranks import MPI, known, line_of, ranks_of, read_logs, waits

pytestmark = pytest.mark.skipif(refused() is not None, reason=str(refused()))

APART = 5_000_000_000  # shifted_clock.c, for each host
LOCAL = ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", f"{NETWORK}.0/24", "--mca", "oob_tcp_if_include", f"{NETWORK}.0/24"]


class Timex(ctypes.Structure):
    """adjtimex(2)"""
    _fields_ = [("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("freq", ctypes.c_long), ("maxerror", ctypes.c_long),
                ("esterror", ctypes.c_long), ("status", ctypes.c_int), ("rest", ctypes.c_long * 32)]


def adjtimex():
    said = Timex()
    state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(said))
    return (state, said.maxerror * 1000, said.esterror * 1000, said.status)


def job_on(tprof, made, each, *arguments):
    """Runs the workload with so many ranks on each host; its logs, on the first host's clock."""
    shell = remote_shell(tprof.directory / "remote_shell", made)
    where = ",".join(f"{address}:{each}" for address, _, _ in made)
    run = tprof.run([*enter(made[0][2]), "mpirun.openmpi", "--oversubscribe", "--mca", "plm_rsh_agent", shell, *LOCAL, "--host", where,
                     "-np", each * len(made), WORKLOADS / "stragglers-openmpi", *arguments],
                    [WORKLOADS / "libshifted_clock.so", LIBRARY], MPI)
    assert run.status == 0, run.stderr
    logs = read_logs(run, each * len(made))
    return run, [[(name, step, came - rank // each * APART, left - rank // each * APART) for name, step, came, left in log]
                 for rank, log in enumerate(logs)]


def in_databases(tprof, run, found):
    """The exported tables say the same, and a fleet knows for which host the others wait."""
    path, fleet = tprof.directory / "run.sqlite", f"sqlite:{tprof.directory}/fleet.sqlite"
    analyze("export", "--format", "sqlite", "-o", path, *run.traces())
    with contextlib.closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT rank, process, host, wait_ns, transfer_ns, caused_wait_ns, caused_wait_error_ns, gain_ns, "
                                "critical_path_ns, late_calls, unmatched FROM ranks").fetchall()
        waits = database.execute("SELECT rank, host, late_rank, late_host, waits, wait_ns FROM rank_waits").fetchall()
    keys = ("rank", "pid", "host", "wait_ns", "transfer_ns", "caused_wait_ns", "caused_wait_error_ns", "gain_ns", "critical_path_ns",
            "late_calls", "unmatched")
    assert sorted(rows) == sorted(tuple(rank[key] for key in keys) for rank in found["list"])
    host_of = {rank["rank"]: rank["host"] for rank in found["list"]}
    assert all((host_of[rank], host_of[late]) == (host, late_host) and rank != late for rank, host, late, late_host, _, _ in waits)
    for rank in found["list"]:
        assert sum(ns for own, *_, ns in waits if own == rank["rank"]) == rank["wait_ns"]
        assert sum(ns for _, _, late, *_, ns in waits if late == rank["rank"]) == rank["caused_wait_ns"]
    program = BUILD / "bin/tprof-fleet"
    subprocess.run([program, "load", "--to", fleet, path], check=True, capture_output=True)
    answer = json.loads(subprocess.run([program, "query", "waits-by-host", "--from", fleet, "--format", "json"], check=True,
                                       capture_output=True).stdout)
    made = collections.Counter()
    for _, host, _, late_host, _, ns in waits:
        made[late_host] += ns if host != late_host else 0
    assert [(row["host"], row["made_wait_ns"]) for row in answer] == [(host, ns) for host, ns in made.most_common() if ns]


@pytest.mark.parametrize("count, each, late", [(2, 2, 3), (3, 1, 0)])
def test_clocks_and_waiting(tprof, count, each, late):
    """The shifts are found within the stated error, and the waiting is that of the ranks' own clocks within it."""
    before = adjtimex()
    with hosts(count) as made:
        run, logs = job_on(tprof, made, each, "sleep", late, 20, 60)
    after = adjtimex()
    found, (waited, caused, _) = ranks_of(run), waits(logs)
    assert [(host["name"], host["ranks"]) for host in found["hosts"]] == [(name, each) for _, name, _ in made]
    assert found["unmatched"] == found["collectives_incomplete"] == 0
    for number, host in enumerate(found["hosts"][1:], 1):
        assert host["clock"] == "calls" and not host["contradictory"]
        # Each process has read the time and the counter one after the other, and may have been interrupted.
        assert abs(host["offset_ns"] + number * APART) <= host["error_ns"] + 1e6
        assert host["error_ns"] < 60e6
    latest = max(found["list"], key=lambda rank: rank["caused_wait_ns"])
    assert latest["rank"] == late == caused.index(max(caused))
    assert (latest["frame"]["line"], latest["wait"]) == (line_of("/* the sleep */"), "nanosleep")
    functions = known(found, logs)
    total, own = sum(waited), sum(entry["wait_ns"] for entry in functions.values())
    calls = sum(entry["calls"] for entry in functions.values())
    assert abs(own - total) <= 0.05 * total + 5e6 + calls * found["clock_error_ns"]
    # Twenty times, each of the others waited for 60 ms at least.
    planted = 20 * 60e6 * (count * each - 1)
    assert latest["caused_wait_ns"] + latest["caused_wait_error_ns"] >= 0.95 * planted
    assert re.search(rf"^rank {late} made the others wait .* sleep at stragglers.c", analyze("ranks", *run.traces()).stdout, re.M)
    in_databases(tprof, run, found)
    for host in found["hosts"]:
        assert host["ntp"]["synchronised"] == (before[0] != 5 and not before[3] & 0x40) or before[0] != after[0]
        # The kernel lets it grow until the daemon sets it again.
        assert host["ntp"]["max_error_ns"] >= before[1] or after[1] < before[1]
        assert host["ntp"]["max_error_ns"] <= max(before[1], after[1])
