# SPDX-License-Identifier: Apache-2.0
"""Traces know which run they belong to: what is of another run is never added up, and no trace is lost to a second run."""
import json
import os
import re
import subprocess

import pytest
from conftest import ANALYZE, LAUNCHER, LIBRARY, WORKLOADS, analyze, report


def again(run, command, preload=(LIBRARY,), env=None):
    """A further run of a program in the directory of one."""
    environment = {k: v for k, v in os.environ.items() if not re.match("TPROF_|LD_", k)}
    environment.update(TRUTH_FILE=str(run.directory / "truth.again"), **(env or {}))
    if preload:
        environment["LD_PRELOAD"] = ":".join(map(str, preload))
    done = subprocess.run([str(c) for c in command], cwd=run.directory, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    return done


def identity(trace):
    return report(trace)["process"]["run"]


@pytest.mark.parametrize("how, processes", [("fork", 2), ("clone", 2), ("nested", 3), ("orphan", 3), ("vfork_exec", 2),
                                            ("spawn", 2), ("exec3", 4)])
def test_processes_of_one_run(tprof, how, processes):
    run = tprof.profile([WORKLOADS / "fork", how])
    identities = {identity(trace) for trace in run.traces()}
    assert len(run.traces()) == processes and len(identities) == 1
    assert re.fullmatch("[0-9a-f]{16}", identities.pop())


def test_a_second_run_is_not_added_to_the_first(tprof):
    run = tprof.run([WORKLOADS / "fork", "nested"], [LIBRARY])
    first = run.traces()
    old = {trace.name: report(trace)["process"]["pid"] for trace in first}
    assert again(run, [WORKLOADS / "fork", "fork"]).stderr == b""
    traces = run.traces()
    left = sorted(str(t) for t in traces if t.name in old and t.name != "trace.bin")
    assert len(left) == 2 and len(traces) == 4
    answer = report(*traces)
    assert sorted(answer["left_out"]) == left
    assert len(answer["processes"]) == 2 and len({p["process"]["run"] for p in answer["processes"]}) == 1
    assert answer["combined"] == report(*(t for t in traces if str(t) not in left))["combined"]
    said = "2 of these 4 traces are of an earlier run; left out; --all-runs puts runs side by side"
    assert analyze(*traces).stdout.splitlines()[0] == said
    assert said in analyze("--json", *traces).stderr
    for command in ("flamegraph", "html", "export"):
        assert "2 of these 4 traces are of an earlier run; left out" in analyze(command, *traces).stderr


def test_all_runs(tprof):
    run = tprof.run([WORKLOADS / "fork", "nested"], [LIBRARY])
    again(run, [WORKLOADS / "fork", "fork"])
    traces = run.traces()
    runs = report(*traces, options=["--all-runs"])["runs"]
    assert [len(r.get("processes", [r])) for r in runs] == [2, 2]
    assert not any(r["left_out"] for r in runs)
    text = analyze("--all-runs", *traces).stdout
    assert re.findall(r"^Run \d of \d", text, re.M) == ["Run 1 of 2", "Run 2 of 2"]
    assert analyze("--all-runs", "-o", run.directory / "out", *traces, status=2).stderr.count("--all-runs") == 1


def test_the_earlier_trace_is_kept(tprof):
    run = tprof.run([WORKLOADS / "steady", 7], [LIBRARY])
    first = (run.directory / "trace.bin").read_bytes()
    done = again(run, [WORKLOADS / "steady", 9])
    assert (done.returncode, done.stderr) == (0, b"")
    assert (run.directory / "trace.bin.old").read_bytes() == first
    assert report(run.directory / "trace.bin")["heap"]["allocations"] == 9
    assert [t.name for t in run.traces()] == ["trace.bin"]
    done = again(run, [LAUNCHER, "run", WORKLOADS / "steady", 11], preload=())
    assert "tprof: the trace of an earlier run is kept: trace.bin.old" in done.stderr.decode()
    assert report(run.directory / "trace.bin.old")["heap"]["allocations"] == 9
    again(run, [WORKLOADS / "steady", 1], env={"TPROF_VERBOSE": "1"})
    assert report(run.directory / "trace.bin.old")["heap"]["allocations"] == 11


def test_an_earlier_trace_that_can_not_be_kept(tprof):
    run = tprof.run([WORKLOADS / "steady", 7], [LIBRARY])
    (run.directory / "trace.bin.old").mkdir()
    assert b"the trace of an earlier run could not be renamed and is replaced" in again(run, [WORKLOADS / "steady", 9]).stderr
    assert report(run.directory / "trace.bin")["heap"]["allocations"] == 9


def test_two_runs_at_a_time(tprof):
    """Programs that somebody starts beside each other are two runs, though one finds the other's trace."""
    process, run = tprof.start(["sleep", "30"])
    while not run.traces():
        assert process.poll() is None
    again(run, [WORKLOADS / "steady", 3])
    process.kill()
    process.wait()
    assert len(run.traces()) == 2 and len({identity(trace) for trace in run.traces()}) == 2
    assert "1 of these 2 traces is of an earlier run" in analyze(*run.traces()).stdout


def test_a_run_that_the_user_names(tprof):
    """What no common ancestor started, as ranks that a batch system starts on several machines."""
    run = tprof.run([WORKLOADS / "steady", 3], [LIBRARY], env={"TPROF_RUN": "job 17", "TPROF_OUTPUT": "trace.%p.bin"})
    again(run, [WORKLOADS / "steady", 4], env={"TPROF_RUN": "job 17", "TPROF_OUTPUT": "trace.%p.bin"})
    answer = report(*run.traces())
    assert len(answer["processes"]) == 2 and answer["left_out"] == []


def test_comparing_runs(tprof):
    """diff, compare and check take several runs on purpose."""
    run = tprof.run([WORKLOADS / "fork", "nested"], [LIBRARY])
    again(run, [WORKLOADS / "fork", "nested"])
    names = [str(t) for t in run.traces()] + [str(run.directory / "trace.bin.old")]
    checked = json.loads(analyze("check", "--json", "--max-peak", "1GiB", *names).stdout)
    assert checked["runs"] == 2
    (variant,) = report(*names, command="compare")["variants"]
    assert variant["runs"] == 2


def test_traces_without_an_identity(tprof):
    """Of collectors from before there was one: as they were."""
    run = tprof.run([WORKLOADS / "fork", "nested"], [LIBRARY])
    page = subprocess.run(["grep", "-n", "u64 Ta run$", f"{ANALYZE.parents[3]}/include/tprof/tprof-trace.5"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    offset = int(re.search(r"It (\d+) Ta u64 Ta run", page).group(1))
    for trace in run.traces():
        with trace.open("r+b") as file:
            file.seek(offset)
            file.write(bytes(8))
    answer = report(*run.traces())
    assert len(answer["processes"]) == 3 and answer["left_out"] == []
    assert {p["process"]["run"] for p in answer["processes"]} == {None}
