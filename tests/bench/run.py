# SPDX-License-Identifier: Apache-2.0
"""make bench: measures, prints a table, writes JSON. Nothing here passes or fails by time."""
import argparse
import json
import os
import pathlib
import subprocess
import time

import peers
from rows import Bench

COLUMNS = ("bare", "tprof", "empty hooks", "heaptrack hook", "heaptrack", "gperftools", "uftrace")


def machine():
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="ascii", errors="replace")
             if line.startswith("model name")]
    clocks = subprocess.run(["build/bench/clocks"], stdout=subprocess.PIPE, check=True)
    return {"cpu": model[0] if model else "unknown", "processors": os.cpu_count(), "kernel": os.uname().release,
            "load": os.getloadavg()[0], "ns": json.loads(clocks.stdout), "peers": peers.installed()}


def figure(value, unit, bare):
    if value is None:
        return "-"
    sign = "+" if unit == "+ns" and not bare else ""
    digits = {"+ns": 0, "x": 3, "s": 2, "MiB": 0}.get(unit, 1)
    text = f"{sign}{value['median']:.{digits}f}"
    if "low" in value:
        return f"{text} ({value['low']:.{digits}f} to {value['high']:.{digits}f})"
    return f"{text} ~{value['spread']:.{digits}f}" if value["spread"] else text


def cells(row):
    if "skipped" in row:
        return [row["name"], "", row["target"], row["skipped"]]
    unit = row["unit"]
    # A program's bare figure is its own time, not a ratio.
    figures = [figure(row.get(column), "" if column == "bare" and row["name"][:3] != "two" else unit, column == "bare")
               for column in COLUMNS]
    return [row["name"], {"+ns": "ns", "x": "ratio"}.get(unit, unit), row["target"], *figures]


def print_table(rows):
    lines = [["work", "unit", "at most", *COLUMNS], *map(cells, rows)]
    widths = [max(len(line[i]) for line in lines if i < len(line) and len(line) > 4) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(text.ljust(width) if i == 0 or len(line) == 4 else text.rjust(width)
                        for i, (text, width) in enumerate(zip(line, widths))).rstrip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--json", required=True)
    options = parser.parse_args()
    facts = machine()
    rows = []
    start = time.monotonic()
    for row in Bench(options.build, bool(os.environ.get("BENCH_QUICK"))).all():
        rows.append(row)
        print(f"... {row['name']}: at {time.monotonic() - start:.0f} s", flush=True)
    print(f"\n{facts['cpu']}, {facts['processors']} processors, load {facts['load']:.1f}; ns: "
          + ", ".join(f"{name} {ns}" for name, ns in facts["ns"].items()))
    for peer, here in facts["peers"].items():
        if not here:
            print(f"{peer}: not installed")
    print("median, and after ~ the distance of the quartiles, or in brackets what it is with 95% certainty; added "
          "nanoseconds or ratio, to the bare program in the same round\n")
    print_table(rows)
    pathlib.Path(options.json).write_text(json.dumps({"machine": facts, "rows": rows}, indent=1) + "\n",
                                          encoding="ascii")


if __name__ == "__main__":
    main()
