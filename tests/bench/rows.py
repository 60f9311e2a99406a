# SPDX-License-Identifier: Apache-2.0
"""What is measured: a row is a dict of name, unit, target, tprof and the peers, each {"median", "spread"} of the added
cost ("+ns") or the ratio ("x") to the bare program in the same round."""
import json
import os
import re
import shutil
import subprocess

import inputs
import peers
import turns
from attaching import Attaching
from measure import paired, run, spread
from ranks import Ranks
from reading import Reading

PAIRS = "build/bench/pairs"
PYTHON = "/usr/bin/python3"


def against(results, unit, name, base):
    """A variant's figures, each held against the base's in its round; None if one of them failed."""
    if not results.get(name) or not results.get(base) or len(results[name]) != len(results[base]):
        return None
    both = zip(results[name], results[base])
    return spread([n - b if unit == "+ns" else n / b for n, b in both])


def row(name, unit, target, results):
    """The row of paired results: tprof and every peer against bare, gperftools against its own allocator."""
    made = {"name": name, "unit": unit, "target": target, "bare": spread(results["bare"]) if results["bare"] else None}
    for variant in results:
        if variant == "bare" or variant.endswith("tcmalloc"):
            continue
        made[variant] = against(results, unit, variant, "bare tcmalloc" if variant == "gperftools" else "bare")
    return made


BOUND = {"TPROF_MAX_OVERHEAD": "2%"}  # and what it promises: 1.02x, and 0.01x for what is not counted


def bounded(name, target, extra):
    """Of a row with that setting."""
    return (f"{name}, --max-overhead 2%", "1.03x") if extra else (name, target)


def skipped(name, target, why):
    return {"name": name, "unit": "", "target": target, "skipped": why}


class Bench:
    def __init__(self, build, quick):
        self.build = os.path.abspath(build)  # programs run in folders of their own: a relative library would not be found there
        self.quick = quick
        self.rounds = 3 if quick else 5

    def pairs_variants(self, shape, with_peers=True, **extra):
        """heaptrack's reader takes up to a third of a second to begin: its run is longer."""
        command = [os.path.abspath(PAIRS), *map(str, shape)]
        found = self.variants([*command, "0.15" if self.quick else "0.3"], False, **extra)
        if with_peers:
            found["empty hooks"] = peers.through([*command, "0.15" if self.quick else "0.3"])
            found.update(peers.all_of([*command, "0.3"], longer=[*command, "1" if self.quick else "2"]))
        return found

    def variants(self, command, with_peers=True, slow_peers=True, **extra):
        command = [os.path.abspath(command[0]) if "/" in command[0] else command[0], *command[1:]]
        found = {"bare": peers.bare(command), "tprof": peers.tprof(self.build, command, **extra)}
        if with_peers:
            found.update({name: variant for name, variant in peers.all_of(command).items()
                          if slow_peers or not ("gperftools" in name or "tcmalloc" in name)})
        return found

    # ---- pairs ----

    def pair(self, name, target, shape, with_peers=True, **extra):
        results = paired(self.pairs_variants(shape, with_peers, **extra), lambda done: done.said("ns"), self.rounds)
        return row(name, "+ns", target, results)

    def own_pair(self, name, target, shape):
        """Allocations from an allocator of the program's own, hooked in its code by rules."""
        command = [os.path.abspath("build/bench/own_pairs"), *map(str, shape), "0.15" if self.quick else "0.3"]
        variants = self.variants(command, False, TPROF_RULES=os.path.abspath("tests/bench/own.rules"))
        return row(name, "+ns", target, paired(variants, lambda done: done.said("ns"), self.rounds))

    def threads(self):
        """Two threads against one, per pair and thread: the ratio of the totals."""
        variants = {}
        for count in (1, 2):
            for name, variant in self.pairs_variants((20, 1000, 10000, count)).items():
                variants[f"{name} {count}"] = variant
        results = paired(variants, lambda done: done.said("ns"), self.rounds)
        made = {"name": "two threads against one, per thread", "unit": "x", "target": "1.15x"}
        for name in (key[:-2] for key in variants if key.endswith(" 1")):
            if not name.endswith("tcmalloc"):
                made[name] = against(results, "x", f"{name} 2", f"{name} 1")
        return made

    # ---- ops ----

    def call(self, name, target, kind, ops, patched=None):
        """A call of a function that does nothing, against the same without tprof."""
        command = [os.path.abspath("build/bench/calls"), kind, "0.15" if self.quick else "0.3"]
        variants = {**self.variants(command, False, TPROF_OPS=ops), **peers.tracer(command, patched)}
        return row(name, "+ns", target, paired(variants, lambda done: done.said("ns"), self.rounds))

    def mpi(self, name, target, kind):
        """A call of MPI that does nothing, as the process is alone; each is recorded with its stack."""
        if not os.path.exists("build/bench/mpi_turns"):
            return skipped(name, target, "Open MPI is not installed")
        command = [os.path.abspath("build/bench/mpi_turns"), kind, "0.15" if self.quick else "0.3"]
        found = {"bare": peers.bare(command), "tprof": peers.tprof(self.build, command)}
        return row(name, "+ns", target, paired(found, lambda done: done.said("ns"), self.rounds))

    # ---- real programs ----

    def program(self, name, target, command, with_peers=True, **extra):
        rounds = 2 if self.quick else 3
        # gperftools takes 17 us a pair: minutes.
        variants = self.variants(command, with_peers and not extra, False, **extra)
        return row(name, "x", target, paired(variants, lambda done: done.seconds, rounds))

    def jq(self, **extra):
        megabytes = 5 if self.quick else 50
        name, target = bounded(f"jq length, {megabytes} MB of JSON", "1.12x", extra)
        if not shutil.which("jq"):
            return skipped(name, target, "jq is not installed")
        return self.program(name, target, ["jq", "length", os.path.abspath(inputs.json_file("build", megabytes))], **extra)

    def fasttext(self, **extra):
        lines = 5000 if self.quick else 30000
        name, target = bounded(f"fastText supervised, {lines} lines", "1.20x", extra)
        if not shutil.which("fasttext"):
            return skipped(name, target, "fasttext is not installed")
        return self.program(name, target, ["fasttext", "supervised", "-input",
                                           os.path.abspath(inputs.text_file("build", lines)), "-output", "model",
                                           "-thread", "1", "-epoch", "2", "-dim", "10", "-bucket", "20000",
                                           "-wordNgrams", "2"], **extra)

    def has_torch(self):
        return subprocess.run([PYTHON, "-c", "import importlib.util as u; exit(not u.find_spec('torch'))"],
                              check=False).returncode == 0

    def torch(self):
        """The step of four models, the import, and what the trace of a training run holds."""
        if not self.has_torch():
            return [skipped("PyTorch", "1.03x; 1.05x; 1.5x; 10 B", "python3-torch is not installed")]
        return [*self.torch_step("mlp", 10, 15), *self.torch_step("cnn", 3, 7), *self.torch_step("transformer", 2, 7),
                *self.torch_step("mnist", 1, 5),
                self.program("import torch", "1.5x", [PYTHON, "-c", "import torch"], with_peers=False),
                *self.torch_trace()]

    def torch_step(self, model, turn, games):
        """Of the processor's time. Peers that trace memory take a minute each for what they make of `import torch`. Bare
        against bare tells what the measurement is worth."""
        command = [PYTHON, os.path.abspath("tests/bench/torch_step.py"), model]
        rows = {"bare again": ("bare against bare", "1.00x", peers.bare(command)),
                "native": ("everything on but Python's stacks", "1.03x",
                           peers.tprof(self.build, command, TPROF_PYTHON="0")),
                "bound": ("everything on, --max-overhead 2%", "1.03x", peers.tprof(self.build, command, **BOUND)),
                "all": ("everything on", "1.05x", peers.tprof(self.build, command))}
        variants = {"bare": peers.bare(command), **{name: variant for name, (_, _, variant) in rows.items()},
                    **peers.tracer(command)}
        alone = peers.tprof(self.build, command, PYTHONPATH=os.path.abspath(f"{self.build}/share/tprof"))
        try:
            figures = turns.games(variants, turn, 4 if self.quick else 16, 3 if self.quick else games, "cpu")
            switched = turns.switched(alone, turn, 8 if self.quick else 24, 3, "cpu")
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return [skipped(f"PyTorch training step, {model}", "1.03x; 1.05x", f"failed: {error}")]
        bare = spread([step for step, _ in figures["bare"]])
        ratios = {name: turns.interval([ratio for _, ratio in figures[name]]) for name in figures}
        made = [{"name": what, "target": target, "tprof": ratios[name]} for name, (what, target, _) in rows.items()]
        made[-1]["uftrace"] = ratios.get("uftrace")
        made.append({"name": "everything on, recording against paused in one process", "target": "1.05x",
                     "tprof": turns.interval(switched)})
        return [{**one, "name": f"PyTorch training step, {model}, {one['name']}", "unit": "x", "bare": bare}
                for one in made]

    def word2vec(self, **extra):
        """Of the processor's time, for training alone: what is called most here takes some 10 ns a call."""
        name, target = bounded("gensim's word2vec, training, vectors of 100", "1.3x", extra)
        command = [PYTHON, os.path.abspath("tests/bench/word2vec.py")]
        if subprocess.run([PYTHON, "-c", "import gensim"], stderr=subprocess.DEVNULL, check=False).returncode:
            return skipped(name, target, "python3-gensim is not installed")
        variants = {"bare": peers.bare(command), "tprof": peers.tprof(self.build, command, **extra)}
        try:
            figures = turns.games(variants, 3, 6, 3 if self.quick else 7, "cpu")
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return skipped(name, target, f"failed: {error}")
        return {"name": name, "unit": "x", "target": target, "bare": spread([epoch for epoch, _ in figures["bare"]]),
                "tprof": turns.interval([ratio for _, ratio in figures["tprof"]])}

    def torch_trace(self):
        command = [PYTHON, os.path.abspath("tests/workloads/torch_train.py")]
        try:
            (_, bare), (_, profiled) = (run(*variant, look=self.peak) for variant in
                                        (self.measured(peers.bare(command)),
                                         self.measured(peers.tprof(self.build, command))))
        except subprocess.SubprocessError as error:
            return [skipped("trace and memory, torch training", "", f"failed: {error}")]
        capture, compact = profiled["capture"], profiled["compact"]
        events = capture["alloc_events"] + capture["free_events"]
        bytes_each = capture["trace_bytes"] / events
        # The trace's own mapped pages are the file's, and counted apart by the kernel: RssAnon holds none of them.
        extra = (profiled["anon"] - bare["anon"]) / 1024
        return [{"name": "trace of torch training", "unit": "B/event", "target": "10",
                 "tprof": {"median": bytes_each, "spread": 0}, "events": events},
                {"name": "the same, compact with names", "unit": "B/event", "target": "2",
                 "tprof": {"median": compact / events, "spread": 0}, "events": events},
                {"name": "collector's resident memory, torch training", "unit": "MiB", "target": "16 + 1/thread + 32 B/node",
                 "tprof": {"median": extra, "spread": 0},
                 "address_space_bytes": capture["collector_bytes"], "threads": capture["threads"]}]

    def measured(self, variant):
        """The same command, ending with its own RssAnon."""
        command, extra = variant
        code = (f"import runpy; runpy.run_path({command[1]!r}, run_name='__main__'); "
                "print(open('/proc/self/status').read())")
        return [command[0], "-c", code], extra

    def peak(self, done):
        found = {"anon": int(re.search(r"RssAnon:\s+(\d+)", done.text).group(1))}
        if os.path.exists(f"{done.directory}/trace.bin"):
            found["capture"] = self.summary(f"{done.directory}/trace.bin")["capture"]
            found["compact"] = self.compact(f"{done.directory}/trace.bin")
        return found

    def compact(self, trace):
        """The bytes of its compact form, names and all."""
        subprocess.run([f"{self.build}/bin/tprof-analyze", "compact", "--embed-symbols", "-o", f"{trace}.compact", trace], check=True,
                       timeout=300)
        return os.path.getsize(f"{trace}.compact")

    def summary(self, trace):
        answer = subprocess.run([f"{self.build}/bin/tprof-analyze", "summary", "--json", trace],
                                stdout=subprocess.PIPE, check=True, timeout=60)
        return json.loads(answer.stdout)

    # ---- the analyzer ----

    def analysis(self):
        done = subprocess.run([f"{self.build}/tests/bench/replay_bench"], stdout=subprocess.PIPE, text=True, check=True)
        speed = float(re.search(r"replay ([\d.]+) M/s", done.stdout).group(1))
        return {"name": "analysis, 6 M events, 1,000 stacks, 10,000 live", "unit": "M/s", "target": "30",
                "tprof": {"median": speed, "spread": 0}}

    def all(self):
        yield self.pair("pair, 20 frames, same path", "+45 ns", (20, 1, 0, 1))
        yield self.pair("pair, 20 frames, 1,000 paths", "+100 ns", (20, 1000, 10000, 1))
        yield self.pair("pair, 60 frames, 1,000 paths", "+200 ns", (60, 1000, 10000, 1))
        yield self.own_pair("pair, by rules, 20 frames, same path", "+125 ns", (20, 1, 0, 1))
        yield self.own_pair("pair, by rules, 20 frames, 1,000 paths", "+180 ns", (20, 1000, 10000, 1))
        yield self.threads()
        yield self.pair("pair, not sampled (sample:1g)", "+8 ns", (20, 1000, 10000, 1), False, TPROF_ALLOC="sample:1g")
        yield self.call("op enter and exit", "+25 ns", "op", "bench_op")
        yield self.call("op within an op, in turns: each of the two", "+25 ns", "nested", "bench_*")
        yield self.call("static function, hooked in its code", "+40 ns", "static", "bench_static", "bench_static")
        yield self.call("typed kernel (sgemm_, its shape)", "+40 ns", "kernel", "blas")
        yield self.mpi("MPI_Barrier, alone", "+160 ns", "barrier")
        yield self.mpi("MPI_Allreduce, alone", "+160 ns", "allreduce")
        yield self.jq()
        yield self.fasttext()
        yield self.word2vec()
        yield self.jq(**BOUND)
        yield self.fasttext(**BOUND)
        yield self.word2vec(**BOUND)
        yield from self.torch()
        yield self.analysis()
        yield from Attaching(self.build, self.quick).all()
        yield from Ranks(self.build, self.quick).all()
        yield from Reading(self.build, self.quick).all(self.has_torch())
