# SPDX-License-Identifier: Apache-2.0
"""Runs a program bare and under tprof, holds the two side by side, and reads the traces with tprof-analyze."""
import dataclasses
import functools
import glob
import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CHECK_BUILD", ROOT / "build/release"))
LIBRARY = BUILD / "lib/libtprof.so"
ANALYZE = BUILD / "bin/tprof-analyze"
LAUNCHER = BUILD / "bin/tprof"
WORKLOADS = BUILD.parent / "workloads"
ORACLE = WORKLOADS / "liboracle.so"
PYTHON = "/usr/bin/python3"

HEAP_KEYS = ("allocations", "frees", "allocated_bytes", "peak_bytes", "peak_blocks", "end_bytes", "end_blocks")

# Allocators behind the hooks, and what of truth.c's options each of them bears.
ALLOCATORS = {
    "glibc": (None, "failures,pvalloc,cfree,alignment"),
    "jemalloc": ("libjemalloc.so.2", "failures,alignment"),
    "tcmalloc": ("libtcmalloc.so.4", "pvalloc,cfree,alignment"),
    "tcmalloc_minimal": ("libtcmalloc_minimal.so.4", "pvalloc,cfree,alignment"),
    "mimalloc": ("libmimalloc.so.[1-9]", "pvalloc,cfree"),
}


def pytest_configure(config):
    config.addinivalue_line("markers", "real: profiles programs that nobody here wrote (make check-real)")
    # What tprof-analyze keeps between its runs is these tests' own.
    config.kept = tempfile.TemporaryDirectory(prefix="tprof-cache-")
    os.environ["XDG_CACHE_HOME"] = config.kept.name


def pytest_unconfigure(config):
    config.kept.cleanup()


def installed(package):
    """The version of a Python package as numbers, at most three: (1, 13, 0)."""
    return tuple(int(number) for number in re.findall(r"\d+", importlib.metadata.version(package))[:3])


def allocator_library(name):
    """The path of an allocator's library, None for libc's own; skips where it is not installed."""
    library = ALLOCATORS[name][0]
    if not library:
        return None
    for directory in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"):
        for path in sorted(glob.glob(f"{directory}/{library}")):
            return path
    pytest.skip(f"{library} is not installed")


@dataclasses.dataclass
class Run:
    status: int
    stdout: bytes
    stderr: bytes
    directory: pathlib.Path

    def truth(self, suffix=""):
        """What the program itself says that it did."""
        return json.loads((self.directory / f"truth{suffix}").read_text())

    def truths(self):
        """By pid, of programs that make processes."""
        found = [json.loads(p.read_text()) for p in sorted(self.directory.glob("truth*"))]
        return {truth["pid"]: truth for truth in found}

    def traces(self):
        return sorted(self.directory.glob("trace*.bin"), key=lambda p: (len(p.name), p.name))


def has_greenlet(python):
    return subprocess.run([python, "-c", "import greenlet"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def analyze(*arguments, status=0, program=ANALYZE, timeout=120):
    """Runs tprof-analyze; returns the finished process."""
    done = subprocess.run([str(program), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", timeout=timeout, check=False)
    assert done.returncode == status, f"tprof-analyze {arguments}: status {done.returncode}\n{done.stderr}"
    return done


def build_libtorch(directory):
    """A program of PyTorch's C++ interface: libtorch_train [STEPS]. Takes half a minute."""
    program = directory / "libtorch_train"
    subprocess.run(["g++", "-g", "-std=c++17", "-I/usr/include/torch/csrc/api/include", ROOT / "tests/workloads/libtorch_train.cc",
                    "-o", program, "-ltorch", "-ltorch_cpu", "-lc10"], check=True, timeout=600)
    return program


@functools.cache
def need_ptrace():
    """Skips the test where the kernel lets no process trace another."""
    code = ("import subprocess, sys; child = subprocess.Popen(sys.argv[1:]);"
            " tracer = 'import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(0x4206, int(sys.argv[1]), None, None) != 0)';"
            " status = subprocess.run([sys.executable, '-c', tracer, str(child.pid)]).returncode; child.kill(); sys.exit(status)")
    if subprocess.run([PYTHON, "-c", code, "sleep", "60"], check=False).returncode:
        pytest.skip("the kernel forbids ptrace")


def peak_rss(command):
    """Of a command that ends with 0, in bytes. A small process starts it: its ru_maxrss is at least its parent's peak."""
    starter = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
               " print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([PYTHON, "-c", starter, *map(str, command)], check=True, stdout=subprocess.PIPE, text=True, timeout=300)
    return int(done.stdout) * 1024


def report(*traces, command="summary", options=()):
    return json.loads(analyze(command, "--json", *options, *traces).stdout)


def sampled(enough, run):
    """
    What run() returns, of the first run whose "capture" is enough. On a busy machine the kernel's timers of CPU time miss most
    ticks: a program alone, with a timer of 1 ms, saw 2 to 53 signals in 600 ms; their overruns tell of the rest.
    """
    for _ in range(20):
        done = run()
        if enough(report(done.directory / "trace.bin", command="info")["capture"]):
            return done
    raise AssertionError("no run of 20 was sampled enough")


def covers(interval, truth, margin=0):
    """Three times as wide as the interval of 95%, and by `margin` wider at each end: chance misses it once in a hundred million runs."""
    low, high = interval
    return 2 * low - high - margin <= truth <= 2 * high - low + margin


def sites(trace, command, *options):
    """All sites of peak, leaks or hotspots."""
    key = {"peak": "peak", "leaks": "unfreed", "hotspots": "hotspots"}[command]
    return report(trace, command=command, options=["--top", "0", *options])[key]["sites"]


def summaries(traces):
    """Each process's summary, by pid."""
    answers = [report(trace) for trace in traces]
    return {answer["process"]["pid"]: answer for answer in answers}


def heap_of(summary):
    return {key: summary["heap"][key] for key in HEAP_KEYS}


def nothing_lost(summary):
    assert summary["capture"]["lost_events"] == 0, summary["capture"]["lost"]
    assert summary["capture"]["damage"] == []
    assert summary["capture"]["stopped"] is False


def add(truth, extras):
    """What the program did and what libc did for it."""
    return {key: truth[key] + extras[key] for key in HEAP_KEYS}


def own_calls(trace, module):
    """What a program's own code allocated, its calls into libraries apart: allocations, bytes."""
    own = [s for s in sites(trace, "hotspots") if s["stack"] and s["stack"][0]["module"] == module]
    return sum(s["allocations"] for s in own), sum(s["bytes"] for s in own)


def functions(stack):
    return [frame["function"] for frame in stack]


class Harness:
    def __init__(self, directory):
        self.directory = directory
        self.runs = 0
        self.started = []

    def end(self):
        """What a test that failed has left."""
        for process in self.started:
            process.kill()
            process.wait()

    def _environment(self, directory, preload, extra):
        drop = re.compile("TPROF_|LD_|ORACLE_|MALLOC_|PYTHON")
        environment = {k: v for k, v in os.environ.items() if not drop.match(k)}
        environment.update(LC_ALL="C", OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2",
                           TRUTH_FILE=str(directory / "truth"), PYTHONDONTWRITEBYTECODE="1")
        if preload:
            environment["LD_PRELOAD"] = ":".join(str(p) for p in preload)
        environment.update(extra or {})
        return environment

    def run(self, command, preload=(), env=None, timeout=120, stdin=subprocess.DEVNULL):
        """Runs a command in a new directory."""
        self.runs += 1
        directory = self.directory / f"run{self.runs}"
        directory.mkdir()
        done = subprocess.run([str(c) for c in command], cwd=directory, stdin=stdin,
                              env=self._environment(directory, [p for p in preload if p], env),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False)
        return Run(done.returncode, done.stdout, done.stderr, directory)

    def start(self, command, preload=(LIBRARY,), env=None):
        """Starts a profiled command that ends when it is told to; returns the process and its run."""
        self.runs += 1
        directory = self.directory / f"run{self.runs}"
        directory.mkdir()
        process = subprocess.Popen([str(c) for c in command], cwd=directory, stdin=subprocess.DEVNULL,
                                   env=self._environment(directory, preload, env), stdout=subprocess.DEVNULL)
        self.started.append(process)
        return process, Run(0, b"", b"", directory)

    def profile(self, command, allocator="glibc", env=None, timeout=120, behind=()):
        """Runs a command bare and profiled; output and status must be the same. Returns the profiled run."""
        library = allocator_library(allocator)
        bare = self.run(command, [library], {k: v for k, v in (env or {}).items() if not k.startswith("TPROF_")},
                        timeout=timeout)
        profiled = self.run(command, [LIBRARY, *behind, library], env, timeout=timeout)
        assert profiled.stderr == bare.stderr
        assert profiled.stdout == bare.stdout
        assert profiled.status == bare.status
        return profiled

    def summary(self, command, **options):
        """Profiles a command of one process; returns its run and its summary."""
        run = self.profile(command, **options)
        assert [p.name for p in run.traces()] == ["trace.bin"]
        return run, report(run.traces()[0])

    def oracle(self, command, allocator="glibc", env=None, with_tprof=False):
        """Runs a command with the oracle behind tprof or alone; returns the run and what the oracle counted."""
        preload = [LIBRARY] if with_tprof else []
        path = self.directory / f"oracle{self.runs}"
        run = self.run(command, [*preload, ORACLE, allocator_library(allocator)],
                       {**(env or {}), "ORACLE_FILE": str(path)})
        names = ("allocations", "frees", "allocated_bytes", "end_bytes", "end_blocks", "peak_bytes", "peak_blocks",
                 "inherited_frees")
        return run, dict(zip(names, struct.unpack("8Q", path.read_bytes())))


    def extras(self, idle_command, allocator="glibc", env=None, threads=True):
        """What libc and the allocator's library allocate for themselves (a thread's TLS, libstdc++'s pool), from a run
        in which the program does nothing else. tprof stands in front then too: its TLS makes a thread's larger.
        Counted by the oracle where it sees all; other allocators' libraries call their own operator new past it."""
        if allocator == "glibc":
            run, counted = self.oracle(idle_command, env=env, with_tprof=True)
            assert run.status == 0
            return counted
        _, summary = self.summary(idle_command, allocator=allocator, env=env)
        heap = heap_of(summary)
        if not threads:  # what is live at the end was live all the time
            heap.update(peak_bytes=heap["end_bytes"], peak_blocks=heap["end_blocks"])
        return heap


@pytest.fixture
def tprof(tmp_path):
    harness = Harness(tmp_path)
    yield harness
    harness.end()


@pytest.fixture
def small_disk(tmp_path):
    """A tmpfs of 2 MB."""
    directory = tmp_path / "disk"
    directory.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("mounting a small tmpfs needs root")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(directory)], check=False,
                          capture_output=True)
    if done.returncode:
        pytest.skip(f"a tmpfs can't be mounted here: {done.stderr.decode().strip()}")
    yield directory
    subprocess.run(["umount", str(directory)], check=True)


@pytest.fixture(scope="session", autouse=True)
def built():
    for path in (LIBRARY, ANALYZE, LAUNCHER, ORACLE):
        assert path.exists(), f"{path} is missing: run make check"
    assert shutil.which("gcc")


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Of a training with steps, ops, stacks of its own, and a leak; for the tests that have no other."""
    folder = tmp_path_factory.mktemp("trained")
    subprocess.run([WORKLOADS / "mlp", "--data", ROOT / "tests/workloads/data/digits.csv", "--steps", "30"], check=True, cwd=folder,
                   capture_output=True, env={**os.environ, "LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": str(folder / "trace.bin")})
    return folder / "trace.bin"
