# SPDX-License-Identifier: Apache-2.0
"""tprof-fleet load: runs into a fleet, each once. Interrupted, it is run again: whole batches are there, and the rest is loaded."""
import contextlib
import itertools
import multiprocessing.pool
import os
import sys

import engine
import runs

BATCH = 200  # runs that are there together
EXPORTS_PER_PROCESSOR = 4  # traces whose exported databases take space at a time


def _missing(fleet, sources, replace):
    """Each run once; those that are there need not be opened, nor their traces be read."""
    by_key = {}
    for source in sources:
        by_key.setdefault(source.key, source)
    there = set() if replace else fleet.known(list(by_key))
    return [source for key, source in by_key.items() if key not in there], len(there)


def _batches(sources):
    """Slow ones are opened several at a time."""
    processors = len(os.sched_getaffinity(0))
    for slow, group in itertools.groupby(sources, lambda source: source.slow):
        group = list(group)
        size = EXPORTS_PER_PROCESSOR * processors if slow else BATCH
        for start in range(0, len(group), size):
            yield group[start:start + size], processors if slow else 1


def _open(sources, abreast):
    """All of them; of what failed, the first is raised when the others are closed."""
    opened, failed = [], []

    def one(source):
        try:
            opened.append(source.open())
        except Exception as error:  # pylint: disable=broad-exception-caught
            failed.append(error)

    with multiprocessing.pool.ThreadPool(abreast) as pool:
        pool.map(one, sources)
    if failed:
        for run in opened:
            run.close()
        raise failed[0]
    return sorted(opened, key=lambda run: run.key)


def load(arguments):
    given = runs.labels_of(arguments.label, "--label")
    with contextlib.closing(engine.connect(arguments.to, writing=True)) as fleet:
        fleet.prepare(arguments.upgrade)
        sources, there = _missing(fleet, runs.find(arguments.runs, given, arguments.analyze), arguments.replace)
        written = 0
        for batch, abreast in _batches(sources):
            opened = _open(batch, abreast)
            try:
                written += fleet.write(opened, arguments.replace)
            finally:
                for run in opened:
                    run.close()
            if len(sources) > BATCH and sys.stderr.isatty():
                print(f"\r{written} of {len(sources)} runs", end="\n" if written == len(sources) else "", file=sys.stderr)
        if written:
            fleet.finish()
        print(f"{written} {'run' if written == 1 else 'runs'} loaded" + (f", {there} there already" if there else ""))
