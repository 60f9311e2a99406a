# SPDX-License-Identifier: Apache-2.0
"""How long tprof-analyze takes to read traces, and its memory, beside heaptrack_print on the same program. Times are of the
processor: another process on the machine changes them least."""
import os
import shutil
import subprocess
import tempfile
import time

import peers
from measure import environment, spread

PYTHON = "/usr/bin/python3"
# About 1,000 processes, as a build with tests has them.
BUILD = """
for i in $(seq 1 64); do
    /usr/bin/python3 -c 'import json; json.dumps(list(range(1000)))'
    gcc -O1 -g -o program program.c
    ls -l / > /dev/null
    sort program.c > sorted
    head -c 100 sorted > few
    cat few > more
done
"""


def cost(command, directory, extra=None, clock=False):
    """Seconds of the processor, or by the clock, and the largest resident size in MiB."""
    begin = time.monotonic()
    with open(os.devnull, "w", encoding="ascii") as nothing:
        process = subprocess.Popen(command, cwd=directory, env=environment(extra or {}), stdout=nothing, stderr=nothing)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[:3]}: status {process.returncode}")
    return time.monotonic() - begin if clock else usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


class Reading:
    """The traces are made once; each report is repeated."""

    def __init__(self, build, quick):
        self.library = f"{build}/lib/libtprof.so"
        self.analyze = f"{build}/bin/tprof-analyze"
        self.quick = quick
        self.rounds = 2 if quick else 5
        self.heaptrack = None  # the file of the same program

    def record(self, directory):
        """A PyTorch training, for tprof and for heaptrack."""
        program = [PYTHON, os.path.abspath("tests/bench/torch_step.py"), "mlp"]
        steps = "100\n" if self.quick else "1200\n"
        tools = [(program, {"LD_PRELOAD": self.library, "TPROF_OUTPUT": f"{directory}/torch.bin"})]
        if peers.installed()["heaptrack"] and shutil.which("heaptrack_print"):
            self.heaptrack = f"{directory}/heaptrack.gz"
            tools.append((["heaptrack", "-o", f"{directory}/heaptrack", *program], {}))
        for command, extra in tools:
            subprocess.run(command, cwd=directory, env=environment(extra), input=steps, text=True, check=True, timeout=600,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if self.heaptrack and not os.path.exists(self.heaptrack):
            self.heaptrack = next((f"{directory}/{name}" for name in os.listdir(directory) if name.startswith("heaptrack.")), None)

    def measure(self, command, directory, before=None, **extra):
        """(seconds, MiB) of each round."""
        found = []
        for _ in range(self.rounds):
            if before:
                before()
            found.append(cost(command, directory, extra))
        return [spread(list(values)) for values in zip(*found)]

    def report(self, name, targets, command, directory, before=None):
        """Two rows: time and memory."""
        cache = {"XDG_CACHE_HOME": f"{directory}/cache"}
        rows = [{"name": f"{name}, {what}", "unit": unit, "target": target, "tprof": figure}
                for what, unit, target, figure in zip(("time", "memory"), ("s", "MiB"), targets,
                                                      self.measure(command, directory, before, **cache))]
        if self.heaptrack:
            for row, figure in zip(rows, self.printed):
                row["heaptrack"] = figure
        return rows

    def torch(self, directory):
        trace = f"{directory}/torch.bin"
        self.record(directory)
        if self.heaptrack:
            self.printed = self.measure(["heaptrack_print", self.heaptrack], directory)
        def forget():
            shutil.rmtree(f"{directory}/cache", ignore_errors=True)
        yield from self.report("info, torch training", ("0.3", "100"), [self.analyze, "info", trace], directory)
        yield from self.report("summary without kept names", ("1.0", "250"), [self.analyze, trace], directory, forget)
        yield from self.report("summary with kept names", ("0.5", "250"), [self.analyze, trace], directory)

    def many(self, directory):
        """A thousand traces, on one core and on all. Here time is that of the clock: cores are what is compared."""
        with open(f"{directory}/program.c", "w", encoding="ascii") as out:
            out.write("int main(void) { return 0; }\n")
        subprocess.run(["bash", "-c", BUILD], cwd=directory, check=True, timeout=900, stderr=subprocess.DEVNULL,
                       env=environment({"LD_PRELOAD": self.library, "TPROF_OUTPUT": f"{directory}/small-%p.bin"}))
        traces = sorted(f"{directory}/{name}" for name in os.listdir(directory) if name.startswith("small-"))[:1000]
        cache = {"XDG_CACHE_HOME": f"{directory}/cache"}
        for jobs, target in ((1, "3"), (len(os.sched_getaffinity(0)), "-")):
            command = [self.analyze, "--jobs", str(jobs), *traces]
            figures = [cost(command, directory, cache, clock=True) for _ in range(self.rounds)]
            for what, unit, most, values in zip(("time", "memory"), ("s", "MiB"), (target, "-"), zip(*figures)):
                yield {"name": f"summary of {len(traces)} small traces, --jobs {jobs}, {what}", "unit": unit, "target": most,
                       "tprof": spread(list(values))}

    def billion(self, directory):
        """A billion events of one thread, without a ring."""
        name, trace = "summary of a billion events", f"{directory}/billion.bin"
        if self.quick or shutil.disk_usage(directory).free < 8 << 30:
            yield {"name": name, "unit": "", "target": "1024 MiB", "skipped": "takes 3 minutes and 5 GB of disk"}
            return
        subprocess.run([os.path.abspath("build/bench/pairs"), "20", "1000", "10000", "1", "10", "500000000"], cwd=directory,
                       check=True, timeout=900, stdout=subprocess.DEVNULL,
                       env=environment({"LD_PRELOAD": self.library, "TPROF_OUTPUT": trace}))
        self.heaptrack, self.rounds = None, 1
        yield from self.report(name, ("33", "1024"), [self.analyze, trace], directory)

    def all(self, has_torch):
        directory = tempfile.mkdtemp(prefix="bench-", dir="build")
        directory = os.path.abspath(directory)
        try:
            if has_torch:
                yield from self.torch(directory)
            yield from self.many(directory)
            yield from self.billion(directory)
        finally:
            shutil.rmtree(directory)
