# SPDX-License-Identifier: Apache-2.0
"""What a recorded call of MPI costs, and what it costs to find out who waited for whom in a job of 64 ranks."""
import os
import shutil
import subprocess
import tempfile

from measure import environment, spread
from reading import cost

RANKS = 64
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Ranks:
    """The traces are made once for each number of calls; the report is repeated."""

    def __init__(self, build, quick):
        self.library = f"{build}/lib/libtprof.so"
        self.analyze = f"{build}/bin/tprof-analyze"
        self.program = os.path.abspath("build/bench/mpi_turns")
        self.rounds = 2 if quick else 5
        self.sizes = (20, 200) if quick else (100, 1000)

    def record(self, directory, calls):
        extra = {"LD_PRELOAD": self.library, "TPROF_OUTPUT": f"{directory}/{calls}-%p.bin", "TPROF_CPU": "off", **AS_ROOT}
        command = ["mpirun.openmpi", "--oversubscribe", "-np", str(RANKS)]
        for name in ("LD_PRELOAD", "TPROF_OUTPUT", "TPROF_CPU"):
            command += ["-x", f"{name}={extra[name]}"]
        subprocess.run([*command, self.program, "world", str(calls)], cwd=directory, env=environment(AS_ROOT), check=True, timeout=600,
                       stdout=subprocess.DEVNULL)
        return [f"{directory}/{name}" for name in os.listdir(directory) if name.startswith(f"{calls}-")]

    def figures(self, directory, calls):
        """(seconds, MiB) of each round."""
        traces, cache = self.record(directory, calls), {"XDG_CACHE_HOME": f"{directory}/cache"}
        found = [cost([self.analyze, "ranks", "--json", *traces], directory, cache) for _ in range(self.rounds + 1)]
        return found[1:]  # the first one looked names up

    def all(self):
        if not shutil.which("mpirun.openmpi") or not os.path.exists(self.program):
            yield {"name": f"ranks of {RANKS} ranks", "unit": "", "target": "-", "skipped": "Open MPI is not installed"}
            return
        directory = os.path.abspath(tempfile.mkdtemp(prefix="bench-", dir="build"))
        few, many = self.sizes
        try:
            found = {calls: self.figures(directory, calls) for calls in self.sizes}
        finally:
            shutil.rmtree(directory)
        for calls, target in ((few, ("5", "500")), (many, ("8", "1000"))):
            for what, unit, most, values in zip(("time", "memory"), ("s", "MiB"), target, zip(*found[calls])):
                yield {"name": f"ranks of {RANKS} ranks, {calls:,} calls each, {what}", "unit": unit, "target": most,
                       "tprof": spread(list(values))}
        more = (many - few) * RANKS
        for what, unit, most, scale, place in (("time", "us", "20", 1e6, 0), ("memory", "B", "2000", 1 << 20, 1)):
            yield {"name": f"each further call of a rank, {what}", "unit": unit, "target": most,
                   "tprof": spread([(after[place] - before[place]) * scale / more
                                    for before, after in zip(found[few], found[many])])}
