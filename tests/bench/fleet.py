# SPDX-License-Identifier: Apache-2.0
"""make bench-fleet: what it costs to load a fleet and to query it, and how that grows with the number of runs. Prints the tables of
docs/fleet.md: seconds (of queries the median of three), and the bytes that the engine read."""
import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/integration"))

import fleet_runs  # pylint: disable=wrong-import-position
import fleet_servers  # pylint: disable=wrong-import-position

PROGRAM = ROOT / "scripts/tprof-fleet"
QUERIES = sorted(path.stem for path in (ROOT / "scripts/fleet/queries").glob("*.sql"))


def cost(url, query):
    """(seconds, bytes)"""
    answers = [json.loads(subprocess.run([sys.executable, PROGRAM, "query", query, "--from", url, "--cost"], check=True,
                                         capture_output=True, text=True).stderr) for _ in range(3)]
    return statistics.median(answer["seconds"] for answer in answers), answers[0]["bytes_read"]


def table(title, counts, cells):
    print(f"\n| {title} | " + " | ".join(f"{count:,} runs" for count in counts) + " |")
    print("|---|" + "---|" * len(counts))
    for name in dict.fromkeys(name for name, _ in cells):
        print(f"| {name} | " + " | ".join(cells[name, count] for count in counts) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, nargs="+", default=[1000, 3000, 10000])
    counts = parser.parse_args().runs
    loads, queries = {}, {}
    with contextlib.ExitStack() as held:
        folder = pathlib.Path(held.enter_context(tempfile.TemporaryDirectory()))
        templates = fleet_runs.record_templates(folder)
        places = {name: held.enter_context(start()) for name, start in fleet_servers.ENGINES.items()}
        for count in counts:
            rows = sum(fleet_runs.generate(folder / f"{count}.db", templates, count).rows.values())
            for name, place in places.items():
                if not place:
                    continue
                url, begin = place(f"fleet{count}"), time.monotonic()
                subprocess.run([sys.executable, PROGRAM, "load", "--to", url, folder / f"{count}.db"], check=True, stdout=subprocess.DEVNULL)
                seconds = time.monotonic() - begin
                loads[name, count] = f"{seconds:.1f} s, {rows / seconds:,.0f} rows/s"
                for query in QUERIES:
                    spent, read = cost(url, query)
                    queries[f"{query}, {name}", count] = f"{spent:.3f} s, {read / 2**20:.1f} MiB"
    table("load", counts, loads)
    table("query", counts, queries)


if __name__ == "__main__":
    main()
