# SPDX-License-Identifier: Apache-2.0
"""Paired runs: what is compared runs in turns, so that whatever else the machine does falls on all alike."""
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time


def environment(extra):
    """A clean one: nothing preloaded, no OpenMP thread spins."""
    drop = re.compile("TPROF_|LD_|MALLOC_|HEAP|PYTHON")
    clean = {k: v for k, v in os.environ.items() if not drop.match(k)}
    clean.update(LC_ALL="C", OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1",
                 PYTHONDONTWRITEBYTECODE="1", **extra)
    return clean


class Finished:
    """One run: its time, its largest resident size, what it printed, and the folder that it wrote into."""

    def __init__(self, command, extra, directory, timeout):
        self.directory = directory
        with open(f"{directory}/stdout", "w+", encoding="utf-8", errors="replace") as out:
            start = time.monotonic()
            with subprocess.Popen([str(c) for c in command], cwd=directory, env=environment(extra), stdout=out,
                                  stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as process:
                try:
                    process.wait(timeout)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise
            self.seconds = time.monotonic() - start
            out.seek(0)
            self.text = out.read()
        if process.returncode:
            raise RuntimeError(f"{command}: status {process.returncode}")

    def said(self, key):
        """A number from the JSON object in what the program printed."""
        return json.loads(self.text[self.text.index("{"):self.text.rindex("}") + 1])[key]


def run(command, extra=None, look=None, timeout=180):
    """Runs a command in a folder of its own, which `look` may read before it is gone. Returns (Finished, what look said)."""
    directory = tempfile.mkdtemp(prefix="bench-", dir="build")
    try:
        finished = Finished(command, {k: v.replace("@", os.path.abspath(directory)) for k, v in (extra or {}).items()},
                            directory, timeout)
        return finished, look(finished) if look else None
    finally:
        shutil.rmtree(directory)


def paired(variants, metric, rounds):
    """variants: name -> (command, environment). Returns name -> metrics, one of each round; a name that fails is None."""
    results = {name: [] for name in variants}
    for _ in range(rounds):
        for name, (command, extra) in variants.items():
            if results[name] is None:
                continue
            try:
                finished, value = run(command, extra, metric)
                del finished
                results[name].append(value)
            except (RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
                print(f"bench: {name}: {error}", flush=True)
                results[name] = None
    return results


def spread(values):
    """Median, and the quartiles' distance from each other."""
    middle = statistics.median(values)
    if len(values) < 3:
        return {"median": middle, "spread": max(values) - min(values)}
    low, _, high = statistics.quantiles(values, n=4)
    return {"median": middle, "spread": high - low}
