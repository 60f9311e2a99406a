# SPDX-License-Identifier: Apache-2.0
"""
export --format chrome in a reader of the trace event format that nobody here wrote: Speedscope, as its package ships it. What
it shows of each thread is what the trace has, and it finds nothing to warn of.
"""
import collections
import json
import os
import re
import subprocess

import pytest
from conftest import BUILD, ROOT
from selenium.webdriver.support.ui import WebDriverWait
from speedscope import PAGE, open_in_speedscope, press, rows, warnings

STEPS = 20
UNITS = {"ns": 1e-3, "\u00b5s": 1, "ms": 1e3, "s": 1e6}

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="no Speedscope is here: make check-browser")


@pytest.fixture
def exported(tmp_path):
    environment = {**os.environ, "LD_PRELOAD": str(BUILD / "lib/libtprof.so"), "TPROF_CPU": "0"}
    subprocess.run([BUILD.parent / "workloads/ops", str(STEPS)], cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL,
                   check=True, timeout=60)
    subprocess.run([BUILD / "bin/tprof-analyze", "export", "--format", "chrome", "-o", tmp_path / "ops.json",
                    tmp_path / "trace.bin"], stderr=subprocess.DEVNULL, check=True, timeout=60)
    return tmp_path / "ops.json"


def name_of(event):
    """Arguments are a part of the name for it."""
    return event["name"] + (" " + json.dumps(event["args"], separators=(",", ":")) if "args" in event else "")


def total_times(trace):
    """Of each thread: name -> time in microseconds, a recursive call within its outermost."""
    totals, stacks = collections.defaultdict(collections.Counter), collections.defaultdict(list)
    for event in sorted((e for e in trace["traceEvents"] if e["ph"] == "X"), key=lambda e: (e["ts"], -e["dur"])):
        stack = stacks[event["tid"]]
        while stack and stack[-1][1] <= event["ts"]:
            stack.pop()
        if name_of(event) not in [outer for outer, _ in stack]:
            totals[event["tid"]][name_of(event)] += event["dur"]
        stack.append((name_of(event), event["ts"] + event["dur"]))
    return totals


def microseconds(text):
    number, unit = re.match(r"([\d.]+)(ns|\u00b5s|ms|s)", text.replace("\u03bc", "\u00b5")).groups()
    return float(number) * UNITS[unit]


def is_thread(row):
    return row[0].isdigit()


def shown_times(driver):
    """The table of its third view, of the thread that is shown: name -> total time in microseconds."""
    return {name: microseconds(total) for total, _, name in (row for row in rows(driver) if not is_thread(row))}


def test_speedscope_reads_it(driver, exported):
    expected = total_times(json.loads(exported.read_text(encoding="utf-8")))
    open_in_speedscope(driver, exported)
    press(driver, "3")
    WebDriverWait(driver, 30).until(shown_times)
    threads = [int(re.search(r"\(tid (\d+)\)$", name).group(1)) for _, name, _ in filter(is_thread, rows(driver))]
    assert sorted(threads) == sorted(expected) and len(threads) == 3
    for thread in threads:
        WebDriverWait(driver, 30).until(lambda d, names=set(expected[thread]): set(shown_times(d)) == names)
        assert shown_times(driver) == pytest.approx(dict(expected[thread]), rel=0.01)
        press(driver, "n")
    assert warnings(driver) == []
