# SPDX-License-Identifier: Apache-2.0
"""make bench-machine: what the roofline says this machine can do, beside what likwid-bench's kernels, OpenBLAS and STREAM's
triad reach in the same run. They take turns; of each the best of all rounds counts, for whatever else the machine does only
takes away. Of each figure the best peer is held against ours. Nothing here passes or fails."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

WITHIN = 0.1
# Of one core the best of short runs is what nobody disturbed. Of several, likwid-bench has the time of the first thread alone,
# from when that one begins: if it begins late, the others' head start is counted as speed, so runs must be long beside it.
MILLISECONDS = {"one_core": 2, "all_cores": 10}
FLOP_PASSES = 2000  # of peakflops over 20 kB: some milliseconds' worth of one
TRIES = 3
VECTORS = (("AVX-512", "avx512f", "avx512"), ("AVX2", "avx2", "avx"))
# The peers ask for no huge pages, so they measure the TLB too; ours does. glibc asks for it, when told to.
HUGE = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}


def flags():
    found = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
    return set(found[1].split()) if found else set()


def ours(build):
    """The machine as tprof-analyze measures it, kept where it disturbs nobody."""
    cache = tempfile.mkdtemp(prefix="bench-", dir="build")
    try:
        done = subprocess.run([f"{build}/bin/tprof-analyze", "roofline", "--measure", "--json"], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env={**os.environ, "XDG_CACHE_HOME": os.path.abspath(cache)})
        return json.loads(done.stdout)["machine"]
    finally:
        shutil.rmtree(cache)


def likwid(kernel, kilobytes, threads, iterations):
    """GB/s or GFLOP/s, the best of some runs; None: it does not run here."""
    reached = [likwid_once(kernel, kilobytes, threads, iterations) for _ in range(TRIES)]
    return max((value for value in reached if value), default=None)


def likwid_once(kernel, kilobytes, threads, iterations):
    command = ["likwid-bench", "-t", kernel, "-i", str(iterations), "-W", f"N:{kilobytes * threads}kB:{threads}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
                          env={**os.environ, **HUGE})
    unit = "MFlops/s" if "flops" in kernel else "MByte/s"
    found = re.search(unit + r":\s+([\d.]+)", done.stdout)
    return float(found[1]) / 1000 if found and done.returncode == 0 else None


def widths(said):
    has = flags()
    return [(name, suffix) for name, flag, suffix in VECTORS if flag in has and said["gflops"].get(name)]


def kilobytes_of(said, level, threads):
    """
    Of each thread. Of the first cache nearly all: between two passes over the set likwid-bench takes some 3 ns, an eighth of
    the time of a half of it. Of the others as tprof-analyze has it (analyzer/machine/measure.c).
    """
    caches = said["cache_bytes"]
    if level == "memory":
        return min(4 * (caches.get("L3") or 16 << 20), 1 << 30) // threads // 1024
    if level == "L3":
        return max(min((caches.get("L3") or 0) // 4 // threads, 8 << 20), 2 * caches["L2"]) // 1024 if caches.get("L3") else 0
    return (caches.get(level) or 0) * (5 if level == "L1" else 3) // 6 // 1024


def passes(said, level, which, bytes_of_all):
    """So many over the set as take the time that a run is to take, at the speed that was measured."""
    expected = look_up(said, ("gbytes_per_s", level, which)) or 1
    return max(1, round(MILLISECONDS[which] * 1e6 * expected / bytes_of_all))


def likwid_rows(said, threads):
    """(figure, peer, how to run it), a figure being a path in what tprof-analyze says."""
    which = "one_core" if threads == 1 else "all_cores"
    for width, suffix in widths(said):
        for precision, infix in (("double", ""), ("single", "sp_")):
            kernel = f"peakflops_{infix}{suffix}_fma"
            yield (("gflops", width, precision, which), kernel, (kernel, 20, threads, FLOP_PASSES * MILLISECONDS[which]))
    suffix = widths(said)[0][1] if widths(said) else "sse"
    for level in ("L1", "L2", "L3", "memory"):
        size = kilobytes_of(said, level, threads)
        for kernel in () if not size else ("load", "ddot") if level in ("L3", "memory") else ("load",):
            kernel = f"{kernel}_{suffix}"
            yield (("gbytes_per_s", level, which), f"{kernel} {size} kB",
                   (kernel, size, threads, passes(said, level, which, size * 1000 * threads)))


def programs(build, said, threads, widest):
    reached = json.loads(subprocess.run([f"{build}/tests/bench/reached", str(threads)], stdout=subprocess.PIPE, check=True,
                                        text=True, env={**os.environ, **HUGE}).stdout)
    which = "one_core" if threads == 1 else "all_cores"
    yield ("gflops", widest, "double", which), "OpenBLAS dgemm", reached["dgemm"]
    yield ("gflops", widest, "single", which), "OpenBLAS sgemm", reached["sgemm"]
    yield ("gbytes_per_s", "memory", which), "OpenBLAS ddot", reached["ddot"]
    if said["cache_bytes"].get("L3"):
        yield ("gbytes_per_s", "L3", which), "OpenBLAS ddot", reached["ddot_cached"]
    if threads == 1:
        yield ("gbytes_per_s", "memory", which), "STREAM triad", reached["triad"]


def look_up(said, figure):
    for key in figure:
        said = said.get(key) if said else None
    return said


def one_round(build, best):
    said = ours(build)
    widest = widths(said)[0][0] if widths(said) else "SSE"
    for threads in {1: None, said["cores"]: None}:
        results = list(programs(build, said, threads, widest))
        for figure, peer, how in likwid_rows(said, threads) if shutil.which("likwid-bench") else ():
            results.append((figure, peer, likwid(*how)))
        for figure, peer, value in results:
            row = best.setdefault(figure, {"ours": 0, "peers": {}})
            row["ours"] = max(row["ours"], look_up(said, figure) or 0)
            row["peers"][peer] = max(row["peers"].get(peer, 0), value or 0)


def verdict(ratio):
    if abs(ratio - 1) <= WITHIN:
        return "within 10%"
    return "NOT within 10%"


def print_table(best):
    print(f"{'':34}{'tprof':>8} {'peer':>8}  ratio")
    for figure, row in sorted(best.items(), key=lambda item: (item[0][0], item[0][-1] != "one_core", item[0][1:])):
        unit = "GFLOP/s" if figure[0] == "gflops" else "GB/s"
        print(f"{' '.join(figure[1:]).replace('_', ' ')}, {unit}")
        first = max(row["peers"], key=row["peers"].get)
        for peer, value in sorted(row["peers"].items(), key=lambda item: -item[1]):
            ratio = value / row["ours"] if row["ours"] else float("nan")
            print(f"    {peer:30}{row['ours']:8.1f} {value:8.1f}  {ratio:.3f}  {verdict(ratio) if peer == first else ''}".rstrip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--json", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if not shutil.which("likwid-bench"):
        print("bench-machine: without likwid-bench: scripts/install-deps bench installs it")
    best = {}
    for _ in range(options.rounds):
        one_round(options.build, best)
    print_table(best)
    rows = [{"figure": "/".join(figure), **row} for figure, row in best.items()]
    pathlib.Path(options.json).write_text(json.dumps({"load": os.getloadavg()[0], "rows": rows}, indent=1) + "\n",
                                          encoding="utf-8")


main()
