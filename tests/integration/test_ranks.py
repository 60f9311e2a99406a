# SPDX-License-Identifier: Apache-2.0
"""Ranks of real Open MPI jobs: who was late, in which step, in which line; how long the others waited, against the ranks' own logs."""
import json
import os
import re
import socket
import struct
import subprocess
from xml.etree import ElementTree

import pytest
from conftest import BUILD, LIBRARY, PYTHON, ROOT, WORKLOADS, analyze
from test_documented import sections_of_json_page, undocumented
from test_export_perfetto import Trace
from test_many import printed

SOURCE = (ROOT / "tests/workloads/stragglers.c").read_text(encoding="utf-8")
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def read_logs(run, ranks):
    logs = [[line.split() for line in (run.directory / f"log.{rank}").read_text().splitlines()] for rank in range(ranks)]
    assert len({len(log) for log in logs}) == 1
    return [[(name, int(step), int(came), int(left)) for name, step, came, left in log] for log in logs]


def job(tprof, ranks, *arguments, env=None, timeout=300, through=()):
    """Runs the workload; returns the run and the logs of its ranks."""
    run = tprof.run(["mpirun.openmpi", "--oversubscribe", "-np", ranks, *through, WORKLOADS / "stragglers-openmpi", *arguments],
                    [LIBRARY], {**MPI, **(env or {})}, timeout=timeout)
    assert run.status == 0, run.stderr
    return run, read_logs(run, ranks)


def ranks_of(run, *options):
    return json.loads(analyze("ranks", "--json", *options, *run.traces()).stdout)["ranks"]


def waits(logs):
    """By the ranks' own clocks: how long each waited for the last, and how long others did for it."""
    waited, caused, late = [0] * len(logs), [0] * len(logs), [0] * len(logs)
    for calls in zip(*logs):
        assert len({call[:2] for call in calls}) == 1
        came = [call[2] for call in calls]
        last = came.index(max(came))
        late[last] += 1
        caused[last] += sum(max(came) - time for time in came)
        waited = [sum(pair) for pair in zip(waited, (max(came) - time for time in came))]
    return waited, caused, late


def line_of(comment):
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if comment in line)


def known(found, logs):
    """The calls that are in the logs, by function: MPI_Finalize is not."""
    return {entry["name"]: entry for entry in found["collectives"] if entry["name"] in {call[0] for call in logs[0]}}


KINDS = {"sleep": (2, "not-running", "doze", "/* the sleep */"), "batch": (1, "line", "train_batch", "/* the batch */"),
         "leak": (3, "line", "remember", "/* the leak */"), "faults": (0, "line", "load_pages", "/* the loader */")}


@pytest.mark.parametrize("kind", KINDS)
def test_late_in_every_step(tprof, kind):
    """Rank and line are named, and the waiting is what the ranks' own clocks say."""
    late, why, function, comment = KINDS[kind]
    run, logs = job(tprof, 4, kind, late, 20, 60)
    found, (waited, caused, _) = ranks_of(run), waits(logs)
    assert found["count"] == found["expected"] == 4
    assert found["unmatched"] == found["collectives_incomplete"] == found["collectives_disagreeing"] == found["calls_lost"] == 0
    ranks = found["list"]
    assert [rank["rank"] for rank in ranks] == [0, 1, 2, 3]
    functions = known(found, logs)
    assert {name: (entry["calls"], entry["matched"]) for name, entry in functions.items()} == \
        {"MPI_Allreduce": (80, 20), "MPI_Barrier": (20, 5)}
    assert functions["MPI_Allreduce"]["bytes"] == 80 * 8000
    # What lies between a clock's reading and the call is the error: some microseconds, but in an unlucky call a slice of time.
    total, own = sum(waited), sum(entry["wait_ns"] for entry in functions.values())
    assert abs(own - total) < 0.05 * total + 5e6
    assert max(ranks, key=lambda rank: rank["caused_wait_ns"])["rank"] == late == caused.index(max(caused))
    reason = ranks[late]
    assert reason["why"] == why and reason["frame"]["function"] == function
    assert comment is None or reason["frame"]["line"] == line_of(comment)
    if kind == "faults":
        assert reason["more_page_faults"] > 1000
    if kind == "sleep":
        assert reason["wait"] == "nanosleep" and reason["more_wait_ns"] >= 20 * 60e6 * (1 - 1e-3)  # two clocks
    text = analyze("ranks", *run.traces()).stdout
    assert re.search(rf"^rank {late} made the others wait .* of .*{function}", text, re.M), text
    page = analyze(*run.traces()).stdout
    assert f"rank {late} made the others wait" in page
    assert f"\nnext: tprof-analyze {'leaks' if kind == 'leak' else 'ranks'} " in page
    (section,) = re.findall(r"the one that made the others wait:\n.*?\n\n\n", page, re.S)
    assert f", rank {late} of " in section.splitlines()[1]


def test_late_in_one_step(tprof):
    """The step is named, and what it cost: by the same clocks."""
    run, logs = job(tprof, 4, "sleep", 1, 20, 200, 7)
    found = ranks_of(run)
    first = found["late"][0]
    assert (first["rank"], first["step"], first["why"]) == (1, 7, "not-running")
    came = [call[2] for log in logs for call in log if call[:2] == ("MPI_Allreduce", 7)]
    truth = sum(max(came) - time for time in came)
    assert abs(first["caused_wait_ns"] - truth) < 0.05 * truth
    assert first["more_not_running_ns"] > 150e6
    assert (first["frame"]["line"], first["wait"]) == (line_of("/* the sleep */"), "nanosleep")
    assert first["more_wait_ns"] >= 200e6 * (1 - 1e-3)  # two clocks
    assert re.search(r"^ +7 +1 .* sleep at stragglers.c:\d+ \(doze\) for 2\d\d ms", analyze("ranks", *run.traces()).stdout, re.M)
    assert first["to"]["line"] == line_of("CALL(MPI_Allreduce")


def test_nobody_is_late_alone(tprof):
    """All that is said adds up: waiting, over ranks, functions, patterns and steps; nobody waits for himself."""
    run, logs = job(tprof, 3, "none", 0, 20, 0)
    found = ranks_of(run, "--top", "0")
    ranks = found["list"]
    assert sum(rank["wait_ns"] for rank in ranks) == sum(rank["caused_wait_ns"] for rank in ranks) == found["wait_ns"]
    assert sum(entry["wait_ns"] for entry in found["collectives"]) == sum(entry["wait_ns"] for entry in found["waits"])
    assert sum(entry["caused_wait_ns"] for entry in found["late"]) == found["wait_ns"]
    path = found["critical_path"]
    assert path[0]["begin_ns"] == 0 and path[-1]["end_ns"] == found["duration_ns"]
    assert all(one["end_ns"] == other["begin_ns"] for one, other in zip(path, path[1:]))
    assert sum(rank["critical_path_ns"] for rank in ranks) == found["duration_ns"]
    assert len(found["steps"]) == 20 and all(len(step["ranks"]) == 3 for step in found["steps"])
    world = [entry for entry in found["communicators"] if entry["size"] == 3]
    assert sum(entry["calls"] for entry in world) == 3 * (len(logs[0]) + 1)  # and MPI_Finalize
    assert {size["from_bytes"]: size["calls"] for size in world[0]["sizes"]}[4096] == 60


def test_a_rank_without_trace(tprof):
    """It is said, and nothing is made up."""
    run, _ = job(tprof, 3, "none", 0, 5, 0)
    traces = {entry["pid"]: entry["rank"] for entry in ranks_of(run)["list"]}
    gone = next(pid for pid, rank in traces.items() if rank == 1)
    left = [trace for trace in run.traces() if f".{gone}" not in trace.name]
    found = json.loads(analyze("ranks", "--json", *left).stdout)["ranks"]
    assert (found["count"], found["expected"]) == (2, 3)
    assert found["collectives_incomplete"] == found["collectives_matched"] > 5
    text = analyze("ranks", *left).stdout
    assert "2 ranks of 3: of the others there is no trace" in text and "collectives lack ranks" in text


def test_the_number_of_threads_changes_nothing(tprof, tmp_path):
    """Ranks are read a second time by several threads, and so are the histories of the page's processes."""
    run, _ = job(tprof, 6, "leak", 3, 20, 10)
    traces = run.traces()
    for words in (["ranks"], ["ranks", "--json"], ["html"], ["export", "--format", "chrome"], ["export", "--format", "perfetto"]):
        one = printed(words, traces, 1, tmp_path)
        assert words[0] == "export" or b"remember" in one[2]
        for jobs in (2, 7):
            assert printed(words, traces, jobs, tmp_path) == one, (words, jobs)


def test_no_ranks(tprof):
    run = tprof.run(["/bin/true"], [LIBRARY])
    assert json.loads(analyze("ranks", "--json", *run.traces()).stdout)["ranks"] is None
    assert "no ranks" in analyze("ranks", *run.traces()).stdout


@pytest.mark.real
@pytest.mark.parametrize("way", ["works", "sleep"])
def test_torch_distributed(tprof, tmp_path, way):
    """With gloo, whose calls are waited for elsewhere than they are made: rank and line of Python are named."""
    ranks, late, program = 3, 1, ROOT / "tests/workloads/torch_straggler.py"
    commands = " & ".join(f"RANK={rank} WORLD_SIZE={ranks} {PYTHON} {program} {rank} {ranks} {tmp_path}/meet {late} {way}"
                          for rank in range(ranks))
    run = tprof.run(["sh", "-c", commands + " & wait"], [LIBRARY])
    assert run.status == 0, run.stderr
    found = ranks_of(run)
    assert found["count"] == ranks and found["unmatched"] == found["collectives_incomplete"] == 0
    latest = max(found["list"], key=lambda rank: rank["caused_wait_ns"])
    assert latest["rank"] == late and latest["late_calls"] >= 10
    if way == "sleep":
        assert (latest["frame"]["function"], latest["why"], latest["wait"]) == ("fetch_batch", "not-running", "clock_nanosleep")
        (line,) = [number for number, text in enumerate(program.read_text().splitlines(), 1) if "# the disk" in text]
        assert f"sleep at torch_straggler.py:{line} (fetch_batch) for" in analyze("ranks", *run.traces()).stdout
    else:
        assert (latest["frame"]["function"], latest["why"]) == ("load_batch", "line")
    # In each of ten steps two ranks wait for 99 ms of work at least.
    assert latest["caused_wait_ns"] > 0.9 * 10 * 2 * 99e6
    assert max(found["waits"], key=lambda wait: wait["wait_ns"])["pattern"] == "Wait at NxN"


def train(tprof, late, steps, only):
    """A job of three ranks by DistributedDataParallel; returns the run, and the clock readings of each rank and step."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    command = f"{PYTHON} {ROOT}/tests/workloads/torch_ddp.py {BUILD}/share/tprof {late} {steps} {only}"
    ranks = " & ".join(f"RANK={rank} LOCAL_RANK={rank} WORLD_SIZE=3 {command}" for rank in range(3))
    run = tprof.run(["sh", "-c", ranks + " & wait"], [LIBRARY],
                    {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}, timeout=300)
    assert run.status == 0, run.stderr
    logs = [[list(map(int, line.split())) for line in (run.directory / f"log.{rank}").read_text().splitlines()] for rank in range(3)]
    assert [len(log) for log in logs] == [steps] * 3, run.stderr
    return run, logs


@pytest.mark.real
def test_torch_data_parallel(tprof):
    """The reducer waits for futures, at the end of the backward pass: for the rank with the larger batch, as long as clocks say."""
    late = 1
    run, logs = train(tprof, late, 10, 0)
    found = ranks_of(run, "--top", "0")
    assert found["count"] == 3 and found["unmatched"] == found["collectives_incomplete"] == found["collectives_disagreeing"] == 0
    assert max(found["list"], key=lambda rank: rank["caused_wait_ns"])["rank"] == late
    # In the first step, which begins with the program, there is more to be late by.
    named = [entry["frame"] for entry in found["late"] if entry["rank"] == late and 1 < entry["step"] <= 10]
    program = (ROOT / "tests/workloads/torch_ddp.py").read_text(encoding="utf-8").splitlines()
    lines = {number for number, line in enumerate(program, 1) if "# the batch" in line}
    assert len(named) == 9
    # Other programs on this machine may keep it from running elsewhere.
    assert sum(bool(frame) and frame["module"] == "torch_ddp.py" and frame["line"] in lines for frame in named) > 9 / 2, named
    # The late rank began its last reduction after its last gradient was there, and before its backward pass was at its end. The
    # others waited from there on, at their ends.
    # Of the first step, and after the last, there is more to wait for: the start, and the barrier at the end.
    for rank in range(3):
        least, most = 0, 0
        for step in list(zip(*logs))[1:]:
            end = step[rank][1]
            least += max(0, max(gradient for gradient, _, _ in step) - end)
            most += max(0, max(end for _, end, _ in step) - end)
        waited = sum(step["ranks"][rank]["wait_ns"] for step in found["steps"] if 1 < step["step"] <= 10)
        assert least - 0.05 * least - 5e6 <= waited <= most + 0.05 * most + 5e6
        assert rank == late or least > 9 * 10e6
    reduce = {entry["name"]: entry for entry in found["collectives"]}["c10d::ProcessGroupGloo::allreduce"]
    assert reduce["matched"] > 2 * 10 and reduce["pattern"] == "Wait at NxN"  # several buckets in each step


@pytest.mark.real
def test_torch_data_parallel_in_one_step(tprof):
    run, logs = train(tprof, 2, 8, 5)
    first = ranks_of(run)["late"][0]
    assert (first["rank"], first["step"]) == (2, 5)
    times = [log[4] for log in logs]
    most = sum(times[2][1] - times[rank][1] for rank in range(2))
    least = sum(times[2][0] - times[rank][1] for rank in range(2))
    assert 0.95 * least - 5e6 <= first["caused_wait_ns"] <= 1.05 * most + 5e6


# ---- exports ----

def test_flows(tprof, tmp_path):
    """A flow for each wait, from a call of the late rank to one of the rank that waited for it, in both formats."""
    run, _ = job(tprof, 3, "sleep", 2, 5, 50)
    found = ranks_of(run)
    pids = {rank["rank"]: rank["pid"] for rank in found["list"]}
    analyze("export", "--format", "chrome", "-o", tmp_path / "trace.json", *run.traces())
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    calls = [event for event in events if event["ph"] == "X" and event["name"].startswith("MPI_")]
    ends = {phase: {event["id"]: event for event in events if event["ph"] == phase} for phase in "sf"}
    assert len(ends["s"]) > 10 and set(ends["s"]) == set(ends["f"])
    assert sum(event["args"]["wait_ns"] for event in ends["f"].values()) == found["wait_ns"]
    for number, late in ends["s"].items():
        waited = ends["f"][number]
        assert (late["name"], late["pid"]) == (waited["name"], pids[waited["args"]["rank"]])
        assert waited["pid"] == pids[late["args"]["rank"]] and late["ts"] <= waited["ts"] + 100  # each process's ticks are fitted on their own
        for end in (late, waited):
            assert any(call["pid"] == end["pid"] and call["tid"] == end["tid"] and
                       call["ts"] <= end["ts"] <= call["ts"] + call["dur"] + 0.001 for call in calls)
    file = tmp_path / "trace.pftrace"
    analyze("export", "--format", "perfetto", "-o", file, *run.traces())
    flows = [flow for flow in Trace(file, tmp_path).flows if flow[0] >= 1 << 40]
    for direction, text in (("from", r"rank \d waited"), ("to", r"waited for rank \d")):
        own = [flow for flow in flows if flow[1] == direction]
        assert {flow[0] for flow in own} == set(ends["s"]) and all(re.fullmatch(text, flow[3]) for flow in own)


def test_page_has_heat_maps(tprof, tmp_path):
    """Of each rank and step: time without waiting, waiting, memory; the report's own numbers, in a page that is well-formed."""
    run, _ = job(tprof, 3, "sleep", 1, 8, 50)
    found = ranks_of(run)
    page = analyze("html", *run.traces()).stdout
    root = ElementTree.fromstring(page[page.index("<html"):])
    section = next(element for element in root.iter() if element.get("id") == "ranks")
    maps = [element for element in section.iter() if element.get("class") == "ranks"]
    titles = [[title.text for title in one.iter() if title.tag.endswith("title")] for one in maps]
    cells = [f"rank {rank}, step {step}" for rank in range(3) for step in range(1, 9)]
    assert len(maps) == 3, titles
    assert all([title.split(":")[0] for title in one] == cells for one in titles)
    assert "rank 1 made the others wait" in "".join(section.itertext())
    most = max((step["ranks"][rank]["wait_ns"], rank, step["step"]) for step in found["steps"] for rank in (0, 2))
    (text,) = [title for title in titles[1] if title.startswith(f"rank {most[1]}, step {most[2]}: ")]
    number, unit = text.split(": ")[1].split()
    assert float(number) * {"us": 1e3, "ms": 1e6, "s": 1e9}[unit] == pytest.approx(most[0], rel=0.01)


def test_keys_are_documented(tprof):
    run, _ = job(tprof, 2, "none", 0, 3, 0)
    answer = json.loads(analyze("ranks", "--json", *run.traces()).stdout)
    assert undocumented(answer, ["report"], sections_of_json_page()) == set()


# ---- hosts ----

# Each third rank on a host of its own name.
ON_HOSTS = ["unshare", "--uts", "sh", "-c", 'hostname host$((OMPI_COMM_WORLD_RANK % 3)); exec "$0" "$@"']


def may_name_hosts():
    return subprocess.run(["unshare", "--uts", "hostname", "elsewhere"], capture_output=True, check=False).returncode == 0


def started(trace):
    """The monotonic time of it."""
    return struct.unpack_from("<Q", trace.read_bytes(), 72 + 8)[0]


def set_apart(trace, offset_ns, ppm, since):
    """Writes all clock readings of a trace as a clock would have them that was so far ahead at that monotonic time, and runs faster."""
    data = bytearray(trace.read_bytes())
    header_size, chunk_size = struct.unpack_from("<2I", data, 12)
    places = [72, 184, 424] + [at + 16 for at in range(header_size, len(data) - 112, chunk_size)
                               if data[at:at + 4] == b"TPCK"]
    for place in places:
        ticks, mono, unix = struct.unpack_from("<3Q", data, place)
        if ticks:
            more = offset_ns + round((mono - since) * ppm / 1e6)
            struct.pack_into("<2Q", data, place + 8, mono + more, unix + more)
    trace.write_bytes(data)


@pytest.mark.skipif(not may_name_hosts(), reason="no right to name a host")
@pytest.mark.parametrize("shifts", [{"host1": 0, "host2": 0}, {"host1": 5_000_000_000, "host2": -3_600_000_000_000}])
@pytest.mark.parametrize("ppm", [0, 80])
def test_hosts_with_clocks_apart(tprof, shifts, ppm):
    """Three hosts, whose clocks are set apart in the traces: what was done is found, within the stated error."""
    run, logs = job(tprof, 6, "none", 0, 40, 0, through=ON_HOSTS)
    before = ranks_of(run)
    assert {host["name"]: host["ranks"] for host in before["hosts"]} == {"host0": 2, "host1": 2, "host2": 2}
    numbers, since = {rank["pid"]: rank for rank in before["list"]}, min(map(started, run.traces()))
    for trace in run.traces():
        pid = struct.unpack_from("<I", trace.read_bytes(), 40)[0]
        host = numbers[pid]["host"] if pid in numbers else "host0"
        if host in shifts:
            set_apart(trace, shifts[host], ppm, since)
    found = ranks_of(run)
    for host in found["hosts"][1:]:
        assert host["clock"] == "calls" and not host["contradictory"] and host["bounds"] >= 40
        # The offset is that in the middle of its calls, some seconds after the first start. 2 us: a moment's clocks are read in turn.
        assert abs(host["offset_ns"] + shifts[host["name"]]) <= host["error_ns"] + 2000 + ppm / 1e6 * 5e9
        assert host["error_ns"] < 20e6
    assert found["collectives_matched"] == before["collectives_matched"] and found["collectives_incomplete"] == 0
    # Waiting is that of the logs, but for the error of each call.
    functions = known(found, logs)
    total, own = sum(waits(logs)[0]), sum(entry["wait_ns"] for entry in functions.values())
    calls = sum(entry["calls"] for entry in functions.values())
    assert abs(own - total) <= 0.05 * total + 5e6 + 2 * calls * found["clock_error_ns"]


@pytest.mark.skipif("CHECK_MPI" not in os.environ, reason="make check-mpi")
def test_many_ranks(tprof):
    """64 of them on this machine, far more than it has processors for."""
    run, logs = job(tprof, 64, "sleep", 42, 10, 500, env={"TPROF_CPU": "off"}, timeout=900)
    found, (waited, caused, _) = ranks_of(run), waits(logs)
    assert found["count"] == 64 and found["unmatched"] == found["collectives_incomplete"] == 0
    assert max(found["list"], key=lambda rank: rank["caused_wait_ns"])["rank"] == caused.index(max(caused)) == 42
    own = sum(entry["wait_ns"] for entry in known(found, logs).values())
    assert abs(own - sum(waited)) < 0.1 * sum(waited)


# ---- waiting in libc ----

AS_RANK = {"RANK": "0", "WORLD_SIZE": "1"}


def timed_waits(run):
    """Of each WAITED event the function, the program's innermost own function, and the time, ns."""
    answer = json.loads(analyze("dump", "--json", *run.traces()).stdout)
    rate = json.loads(analyze("info", "--json", *run.traces()).stdout)["trace"]["ticks_per_us"]
    stacks = answer["stacks"][0]["stacks"]
    return [(event["name"], stacks[str(event["stack"])]["stack"][0]["function"], event["ticks"] / rate * 1e3)
            for event in answer["events"] if event["kind"] == "waited"]


def test_waits_are_timed(tprof):
    """Calls of libc that waited, by their callers; calls that a cancellation or a jump left leave nothing behind."""
    run = tprof.run([WORKLOADS / "timed_waits"], [LIBRARY], AS_RANK)
    assert run.status == 0, run.stderr
    found = timed_waits(run)
    polls = [wait for wait in found if wait[0] == "poll"]
    assert len(polls) <= int(run.stdout)
    others = sorted(wait[:2] for wait in found if wait[0] not in ("poll", "pthread_join", "write"))
    assert others == sorted([("nanosleep", "sleep_on"), ("nanosleep", "be_woken"), ("read", "be_sent"), ("recvfrom", "be_sent"),
                             ("nanosleep", "send_later"), ("nanosleep", "send_later"), ("nanosleep", "cancel"), ("nanosleep", "jump")])
    assert all(20e6 * (1 - 1e-3) <= wait[2] for wait in found if wait[0] in ("nanosleep", "sleep"))


def test_waits_elsewhere(tprof):
    """Not in a process that is no rank."""
    run = tprof.run([WORKLOADS / "timed_waits"], [LIBRARY])
    assert run.status == 0 and timed_waits(run) == []
