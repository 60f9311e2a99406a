# SPDX-License-Identifier: Apache-2.0
"""Processes by role: ranks and their children, and places of forks, against what the programs write down of themselves."""
import json
import re
import subprocess

import pytest
from conftest import Harness, LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, report
from test_combined import READERS
from test_html import NAMESPACE, article, page_of, read
from test_ranks import MPI

MB = 1000000


def roles_of(run):
    return report(*run.traces())["combined"]["roles"]


def written(run, name):
    """The number that a process wrote into a file."""
    return int((run.directory / name).read_text())


RANK = """import os
MB = 1_000_000
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])


def load():
    return bytearray((20 if rank == 3 else 8) * MB)


def worker(number):
    batch = bytearray((10 if (rank, number) == (1, 0) else 3) * MB)
    open(f"worker.{rank}.{number}", "w").write(str(os.getpid()))
    os._exit(0)


data = load()
for number in range(2):
    if os.fork() == 0:
        worker(number)
open(f"rank.{rank}", "w").write(str(os.getpid()))
for _ in range(2):
    os.wait()
"""


@pytest.fixture(name="job", scope="module")
def job_of_five(tmp_path_factory):
    """Started in another order than by rank, each below a shell that has the launcher's variables, too."""
    tprof = Harness(tmp_path_factory.mktemp("job"))
    program = tprof.directory / "train.py"
    program.write_text(RANK)
    start = f'OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=5 /bin/sh -c "{PYTHON} {program}; true" &'
    return tprof.run(["sh", "-c", f"for rank in 4 2 3 0 1; do {start} done; wait"], [LIBRARY])


def test_ranks_have_a_role_and_numbers(job):
    ranks, = [role for role in roles_of(job) if role["are_ranks"]]
    assert ranks["ranks"] == list(range(5))
    assert ranks["pids"] == [written(job, f"rank.{rank}") for rank in range(5)]
    assert ranks["role"].startswith("ranks: ") and "train.py" in ranks["role"]
    odd, = ranks["odd"]
    assert (odd["rank"], odd["pid"], odd["figure"]) == (3, written(job, "rank.3"), "peak_bytes")
    assert odd["place"] == "train.py:7" and abs(odd["more_bytes"] - 12 * MB) < MB // 10
    said = analyze("peak", *job.traces()).stdout
    assert re.search(rf"the odd one out: rank 3: {odd['ratio']:.1f}x the peak of the others like it .*: train\.py:7, 11\.4 MiB more",
                     said), said
    assert re.search(rf"^ *{written(job, 'rank.0')} .* rank 0: ", said, re.M), said


def test_children_of_ranks_have_another_role(job):
    """Also the shells, though they have a launcher's variables."""
    workers, = [role for role in roles_of(job) if written(job, "worker.0.0") in role["pids"]]
    assert not workers["are_ranks"]
    assert dict(zip(workers["pids"], workers["ranks"])) == \
        {written(job, f"worker.{rank}.{number}"): rank for rank in range(5) for number in range(2)}
    assert workers["ranks"] == sorted(workers["ranks"])
    odd, = [one for one in workers["odd"] if one["figure"] == "peak_bytes"]
    assert (odd["rank"], odd["pid"], odd["place"]) == (1, written(job, "worker.1.0"), "train.py:11")
    assert f"the odd one out: {odd['pid']}, of rank 1: " in analyze("peak", *job.traces()).stdout


def test_largest_roles_come_first(job):
    roles = roles_of(job)
    peaks = {process["process"]["pid"]: 0 for process in report(*job.traces())["processes"]}
    for process in report(*job.traces())["processes"]:
        peaks[process["process"]["pid"]] = max(peaks[process["process"]["pid"]], process["heap"]["peak_bytes"])
    sums = [sum(peaks[pid] for pid in role["pids"]) for role in roles if role["are_ranks"] or max(map(peaks.get, role["pids"])) > MB]
    assert roles[0]["are_ranks"] and sums[0] == max(sums)


def test_ranks_that_joined(tprof):
    """Of Open MPI: rank 3 keeps what the others do not have."""
    run = tprof.run(["mpirun.openmpi", "--oversubscribe", "-np", 5, WORKLOADS / "stragglers-openmpi", "leak", 3, 20, 60], [LIBRARY], MPI)
    assert run.status == 0, run.stderr
    ranks, = [role for role in roles_of(run) if role["are_ranks"]]
    assert ranks["ranks"] == list(range(5))
    odd, = [one for one in ranks["odd"] if one["figure"] == "peak_bytes"]
    source = (ROOT / "tests/workloads/stragglers.c").read_text(encoding="utf-8").splitlines()
    line = 1 + next(number for number, text in enumerate(source) if "calloc(1, sizeof(*note))" in text)
    assert odd["rank"] == 3 and odd["place"].endswith(f"stragglers.c:{line}")


def test_one_rank_is_no_group(tprof):
    run = tprof.run(["sh", "-c", "/bin/true; /bin/true"], [LIBRARY], {"SLURM_PROCID": "0", "SLURM_NTASKS": "1"})
    roles = roles_of(run)
    assert not any(role["are_ranks"] for role in roles)
    assert {rank for role in roles for rank in role["ranks"]} == {None}


def test_a_child_belongs_to_the_program_that_forked_it(tprof):
    """Not to the one that exec put it in the place of, which has the same pid."""
    program = tprof.directory / "second.py"
    program.write_text("import os\nif os.fork() == 0:\n    x = bytearray(5_000_000)\n    os._exit(0)\nos.wait()\n")
    run = tprof.run(["bash", "-c", f"(x=1; x=2); exec {PYTHON} {program}"], [LIBRARY])
    roles = roles_of(run)
    bash = next(role for role in roles if role["role"].startswith("bash"))["pids"][0]
    of_bash, of_python = sorted((role for role in roles if role["forked_at"]), key=lambda role: role["pids"])
    assert len(of_bash["pids"]) == len(of_python["pids"]) == 1 and bash not in of_bash["pids"] + of_python["pids"]
    assert (of_python["role"], of_python["forked_at"]["file"]) == ("forked in second.py:2", str(program))
    assert of_bash["forked_at"]["file"] is None or "bash" in of_bash["forked_at"]["module"]


@pytest.fixture(name="pools", scope="module")
def forked_at_several_places(tmp_path_factory):
    """The run, and the pids by the place of their fork, as the program says."""
    run = Harness(tmp_path_factory.mktemp("pools")).run([WORKLOADS / "forkers"], [LIBRARY])
    pids = {}
    for line in run.stdout.decode().splitlines():
        place, pid = line.split()
        pids.setdefault(place, set()).add(int(pid))
    return run, pids


PLACES = {"readers": "start_readers", "writers": "start_writers", "twice": "start_twice", "thread": "start_by_thread",
          "signal": "start_on_signal", "first": "start_first", "second": "start_second"}


def line_of(comment):
    source = (ROOT / "tests/workloads/forkers.c").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(source, 1) if f"/* {comment} */" in line)


def test_each_place_of_a_fork_is_a_role(pools):
    run, pids = pools
    roles = {tuple(sorted(role["pids"])): role for role in roles_of(run)}
    assert {place: len(of) for place, of in pids.items()} == \
        {"readers": 5, "writers": 5, "twice": 3, "thread": 2, "signal": 1, "raw": 2, "first": 2, "second": 2}
    for place, function in PLACES.items():
        role = roles[tuple(sorted(pids[place]))]
        assert (role["forked_at"]["function"], role["forked_at"]["line"]) == (function, line_of(place))
        assert role["role"] == f"forked in {function} (forkers.c:{line_of(place)})"
    raw = roles[tuple(sorted(pids["raw"]))]
    assert raw["forked_at"] is None and raw["role"].startswith("fork of ")
    assert len(roles) == 9


def test_figures_of_a_pool(pools):
    run, pids = pools
    role = next(role for role in roles_of(run) if set(role["pids"]) == pids["writers"])
    odd, = role["odd"]
    assert (odd["figure"], odd["rank"]) == ("peak_bytes", None)
    assert abs(role["peak_bytes"]["median"] - 3 * MB) < 10000 > role["peak_bytes"]["spread"]
    assert abs(role["peak_bytes"]["most"] - 9 * MB) < 10000 > abs(odd["more_bytes"] - 6 * MB)
    said = analyze("peak", "--exact", *run.traces()).stdout
    figures = role["peak_bytes"]
    assert re.search(rf"^ *5 +{figures['median']:,} B +{figures['spread']:,} B +{figures['least']:,} B +{figures['most']:,} B .*forked in",
                     said, re.M), said
    said = analyze("peak", *run.traces()).stdout
    assert re.search(rf"^ *5 +2\.86 MiB .* forked in start_writers \(forkers\.c:{line_of('writers')}\)$", said, re.M), said


def test_page_says_the_same(pools):
    """The table of roles has the figures of the JSON, and the sentences are those of the text."""
    run, _ = pools
    _, tree = read(page_of(*run.traces()))
    combined = article(tree, "combined")
    table, = [table for table in combined.iter(f"{NAMESPACE}table") if table.get("data-path") == "roles"]
    cells = [{cell.get("data-k"): json.loads(cell.get("data-v")) for cell in row if cell.get("data-k")}
             for row in table.find(f"{NAMESPACE}tbody")]
    assert cells == [{"processes": len(role["pids"]), "peak_median": role["peak_bytes"]["median"],
                      "peak_spread": role["peak_bytes"]["spread"], "peak_least": role["peak_bytes"]["least"],
                      "peak_most": role["peak_bytes"]["most"], "rss_median": role["rss_peak_bytes"]["median"],
                      "end_median": role["end_bytes"]["median"], "cpu_median": role["cpu_ns"]["median"],
                      "time_median": role["duration_ns"]["median"]}
                     for role in roles_of(run)]
    names = ["".join(row[0].itertext()).strip() for row in table.find(f"{NAMESPACE}tbody")]
    assert names == [role["role"] for role in roles_of(run)]
    odd = ["".join(said.itertext()).strip() for said in combined.iter(f"{NAMESPACE}p") if said.get("class") == "odd"]
    assert odd == [line.strip() for line in analyze("peak", *run.traces()).stdout.splitlines()
                   if "the odd one out" in line or "tprof-analyze diff" in line] != []


def test_page_says_what_forks_copied(tprof):
    run = tprof.run([PYTHON, "-c", READERS], [LIBRARY], {"TRUTH_FILE": str(tprof.directory / "truth")})
    said = [line.strip() for line in analyze(*run.traces()).stdout.splitlines()]
    first = next(number for number, line in enumerate(said) if "(copy-on-write)" in line)
    combined = article(read(page_of(*run.traces()))[1], "combined")
    copied = ["".join(said.itertext()).strip() for said in combined.iter(f"{NAMESPACE}p") if said.get("class") == "copied"]
    assert copied == said[first:first + 2] and "by Python's reference counts" in copied[1]


def test_places_survive_compaction(pools, tmp_path):
    run, _ = pools
    small = [tmp_path / f"small.{trace.name}" for trace in run.traces()]
    for trace, to in zip(run.traces(), small):
        analyze("compact", "-o", to, trace)
    assert report(*small)["combined"]["roles"] == report(*run.traces())["combined"]["roles"]


def test_a_fork_without_its_parents_trace(pools):
    """Where it was forked is in the parent's trace."""
    run, pids = pools
    readers = [trace for trace in run.traces() if any(f".{pid}." in trace.name for pid in pids["readers"])]
    assert len(readers) == 5
    assert {repr(role["forked_at"]) for role in report(*readers)["combined"]["roles"]} == {"None"}


POOLS = """import multiprocessing, os, sys

def load(size):
    return len(bytearray(size))


def start_loaders():
    return multiprocessing.Pool(4)


def start_augmenters():
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=load, args=(6_000_000,)) for _ in range(4)]
    for process in processes:
        process.start()
    return processes


pool = start_loaders()
pool.map(load, [3_000_000] * 8)
loaders = [process.pid for process in pool._pool]
processes = start_augmenters()
for process in processes:
    process.join()
pool.close()
pool.join()
print(*loaders)
print(*[process.pid for process in processes])
"""


def test_pools_of_python(tprof):
    """multiprocessing forks in its own library: the line of the program that starts the pool tells."""
    program = tprof.directory / "pools.py"
    program.write_text(POOLS)
    run = tprof.run([PYTHON, program], [LIBRARY])
    loaders, augmenters = ([int(pid) for pid in line.split()] for line in run.stdout.decode().splitlines())
    roles = {tuple(sorted(role["pids"])): (role["role"], role["forked_at"]) for role in roles_of(run)}
    line = {text: 1 + POOLS.splitlines().index(text) for text in ("    return multiprocessing.Pool(4)", "        process.start()")}
    assert len(roles) == 3
    role, frame = roles[tuple(sorted(loaders))]
    assert role == f"forked in start_loaders (pools.py:{line['    return multiprocessing.Pool(4)']})"
    assert frame["file"] == str(program)
    assert roles[tuple(sorted(augmenters))][0] == f"forked in start_augmenters (pools.py:{line['        process.start()']})"


def test_what_a_fork_executes_is_its_role(tprof):
    """By its command, wherever it was started."""
    program = tprof.directory / "starts.py"
    program.write_text("import subprocess\nfor _ in range(3):\n    subprocess.run(['/bin/true'], preexec_fn=print)\n"
                       "subprocess.run(['/bin/true'], preexec_fn=print)\n")
    run = tprof.profile([PYTHON, program])
    true = [role for role in roles_of(run) if role["role"].startswith("true")]
    assert [(len(role["pids"]), role["forked_at"]) for role in true] == [(4, None)]


def test_forks_of_a_paused_parent(tprof):
    """No stack is recorded in a pause; the children are there all the same."""
    run = tprof.run([WORKLOADS / "forkers"], [LIBRARY], {"TPROF_START": "off"})
    assert {repr(role["forked_at"]) for role in roles_of(run)} == {"None"}


SLOW = """import os, sys, time
def grind(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))
for number in range(5):
    if os.fork() == 0:
        open(f"worker.{number}", "w").write(str(os.getpid()))
        grind(1.5 if number == int(sys.argv[1]) else 0.02)
        time.sleep(1.5 if number == int(sys.argv[2]) else 0)
        os._exit(0)
    os.wait()
"""


def test_why_one_took_longer(tprof):
    """One worker does 75 times the work, another sleeps: the first one's line is named, and of the other that it waited."""
    program = tprof.directory / "slow.py"
    program.write_text(SLOW)
    run = tprof.run([PYTHON, program, "1", "3"], [LIBRARY])
    workers = next(role for role in roles_of(run) if len(role["pids"]) == 5)
    odd = {one["pid"]: one for one in workers["odd"] if one["figure"] == "duration_ns"}
    works, sleeps = (odd[written(run, f"worker.{number}")] for number in (1, 3))
    assert not works["waited"] and sleeps["waited"]
    # process_time() includes what the sampler leaves out: the kernel's work on the sampler's own signals.
    assert works["place"] in ("slow.py:4", "slow.py:5") and 0.5e9 < works["more_cpu_ns"] < 1.55e9
    assert (sleeps["place"], sleeps["more_cpu_ns"]) == (None, None)
    said = analyze("peak", *run.traces()).stdout
    assert re.search(rf"{works['pid']}: .* the time of the others .*: slow\.py:\d, [\d.]+ m?s more of CPU time", said), said
    assert re.search(rf"{sleeps['pid']}: .* the time of the others .*: it waited, or had no processor", said), said


BUSY = """import os, time
def count(n):
    return sum(i * i for i in range(n))  # the work
workers = []
for number in range(5):
    workers.append(os.fork())
    if not workers[-1]:
        end = time.monotonic() + 6
        if number == 2:
            open("worker.2", "w").write(str(os.getpid()))
            while time.process_time() < 0.8:
                count(20000)
        time.sleep(max(0, end - time.monotonic()))
        os._exit(0)
for worker in workers:
    os.waitpid(worker, 0)
"""


def test_who_works_more(tprof):
    """All workers live equally long, but one does the work of the others: the line that takes its CPU time is named."""
    program = tprof.directory / "busy.py"
    program.write_text(BUSY)
    run = tprof.run([PYTHON, program], [LIBRARY])
    combined = report(*run.traces())["combined"]
    role = next(role for role in combined["roles"] if len(role["pids"]) == 5)
    (odd,) = [one for one in role["odd"] if one["figure"] == "cpu_ns"]
    assert odd["pid"] == written(run, "worker.2") and odd["waited"] is None and odd["more_bytes"] is None
    assert odd["place"] == "busy.py:3" and 0.3e9 < odd["more_cpu_ns"] <= odd["value"] < 1e9
    assert role["cpu_ns"]["most"] == odd["value"] <= combined["cpu_ns"]
    said = analyze("peak", *run.traces()).stdout
    assert re.search(rf"{odd['pid']}: .*the CPU time .*: busy\.py:3, [\d.]+ m?s more of CPU time", said), said
    assert re.search(r"^  CPU time of all together: [\d.]+ m?s$", said, re.M), said


def test_what_to_do_next(pools):
    """The command compares the odd one with one like the others, and shows the difference."""
    run, pids = pools
    role = next(role for role in roles_of(run) if set(role["pids"]) == pids["writers"])
    command = re.search(r"^ *tprof-analyze (diff \S+ \S+) ", analyze("peak", *run.traces()).stdout, re.M).group(1).split()
    assert f".{role['odd'][0]['pid']}." in command[2] and any(f".{pid}." in command[1] for pid in role["pids"])
    said = analyze(*command).stdout
    assert re.search(r"peak +2\.86 MiB +8\.58 MiB", said), said


HELPED = """#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void spawn(int n) { if (fork() == 0) { void *volatile keep = malloc(n); _exit(!keep); } }
__attribute__((noinline)) static void workers(int n) { for (int i = 0; i < n; i++) spawn(1000); __asm__ volatile(""); }
__attribute__((noinline)) static void cleaners(int n) { for (int i = 0; i < n; i++) spawn(2000); __asm__ volatile(""); }
int main(int count, char **words) { (void)words; workers(count + 2); cleaners(count + 1); while (wait(NULL) > 0); return 0; }
"""


def test_pools_of_a_stripped_program(tprof):
    """As in nginx: what forks has a name, its callers have none."""
    (tprof.directory / "helped.c").write_text(HELPED)
    program = tprof.directory / "helped"
    subprocess.run(["gcc", "-O1", "-rdynamic", "-s", tprof.directory / "helped.c", "-o", program], check=True)
    roles = [role for role in roles_of(tprof.run([program], [LIBRARY])) if role["role"].startswith("forked")]
    assert sorted((len(role["pids"]), role["peak_bytes"]["median"]) for role in roles) == [(2, 2000), (3, 1000)]
    assert all(re.fullmatch(r"forked in spawn, called at helped\+0x[0-9a-f]+", role["role"]) for role in roles)
