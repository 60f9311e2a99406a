# SPDX-License-Identifier: Apache-2.0
"""export --format speedscope in Speedscope itself: it finds nothing to warn of, and shows the figures of the reports."""
import json
import re
import subprocess

import pytest
from conftest import BUILD
from selenium.webdriver.support.ui import WebDriverWait
from speedscope import PAGE, open_in_speedscope, press, rows, warnings

UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="no Speedscope is here: make check-browser")


def export(trace, *options, form="speedscope", suffix=".speedscope.json"):
    output = trace.with_name(f"out{suffix}")
    subprocess.run([BUILD / "bin/tprof-analyze", "export", "--format", form, "-o", output, *options, trace],
                   stderr=subprocess.DEVNULL, check=True, timeout=60)
    return output


def of_bytes(text):
    number, unit = re.match(r"([\d.]+) ([KMG]?B)", text).groups()
    return float(number) * UNITS[unit]


def self_bytes(driver):
    """The table of its third view, of the profile that is shown: function -> bytes of its own. A function has a row for each line."""
    own = {}
    for _, shown, name in rows(driver):
        if re.match(r"[\d.]+ [KMG]?B", shown):
            own[name] = own.get(name, 0) + of_bytes(shown)
    return own


def test_the_leak_is_what_grows(driver, trace):
    file = export(trace, "--what", "unfreed")
    data = json.loads(file.read_text(encoding="utf-8"))
    profile = data["profiles"][data["activeProfileIndex"]]
    assert profile["name"].startswith("memory unfreed")
    expected = {}
    for stack, weight in zip(profile["samples"], profile["weights"]):
        name = data["shared"]["frames"][stack[-1]]["name"]
        expected[name] = expected.get(name, 0) + weight
    open_in_speedscope(driver, file, data["name"])
    press(driver, "3")
    WebDriverWait(driver, 30).until(self_bytes)
    shown = {name: own for name, own in self_bytes(driver).items() if own}
    assert shown == pytest.approx(expected, rel=0.01)
    assert max(shown, key=shown.get) == "remember_loss" and shown["remember_loss"] == pytest.approx(312000, rel=0.01)
    for _ in data["profiles"]:
        press(driver, "n")
    assert warnings(driver) == []


def test_a_profile_of_pprof(driver, trace):
    """Speedscope reads those, too: the value that --what names. Of functions that are inlined in another it shows that one."""
    data = json.loads(export(trace, "--what", "unfreed").read_text(encoding="utf-8"))
    profile = data["profiles"][data["activeProfileIndex"]]
    open_in_speedscope(driver, export(trace, "--what", "unfreed", form="pprof", suffix=".pb.gz"))
    press(driver, "3")
    WebDriverWait(driver, 30).until(self_bytes)
    shown = {name: own for name, own in self_bytes(driver).items() if own}
    assert sum(shown.values()) == pytest.approx(profile["endValue"], rel=0.01) and max(shown.values()) == pytest.approx(312000, rel=0.01)
    assert warnings(driver) == []
