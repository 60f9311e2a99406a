# SPDX-License-Identifier: Apache-2.0
"""What reports say to one who never heard of tprof, and that no width loses the line that he wrote."""

import pytest
from conftest import LIBRARY, PYTHON, ROOT, WORKLOADS, analyze

DEEP = 12
PACKAGE = "".join(f"def a_function_of_the_package_{i}(n):\n    return a_function_of_the_package_{i + 1}(n)\n\n\n"
                  for i in range(DEEP)) + f"def a_function_of_the_package_{DEEP}(n):\n    return bytearray(n)\n"
SIZE = 3 << 20


@pytest.fixture(name="trace", scope="module")
def make_trace(tmp_path_factory):
    """Memory that a package allocates, deep below the user's line 4."""
    import conftest
    folder = tmp_path_factory.mktemp("sentences")
    package = folder / "site-packages"
    package.mkdir()
    (package / "deep.py").write_text(PACKAGE)
    (folder / "mine.py").write_text(f"import sys\nsys.path.append({str(package)!r})\nimport deep\n"
                                    f"kept = deep.a_function_of_the_package_0({SIZE})\n")
    run = conftest.Harness(folder).run([PYTHON, folder / "mine.py"], [LIBRARY])
    assert run.status == 0, run.stderr
    return run.traces()[0]


@pytest.mark.parametrize("width", [60, 72, 80, 100, 132, 200])
def test_the_users_line_at_every_width(trace, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    long = analyze("summary", "--full", trace).stdout.split("What held the memory at the peak")[1].split("\n\n")[0]
    short = analyze("summary", trace).stdout.split("\nMemory: ")[1].split(" of the peak in ")[0].partition("\n")[2]
    for peak in (long, short):
        [row] = [line for line in peak.splitlines() if "3.00 MiB" in line]
        assert "mine.py:4" in row and len(row) <= width
        assert width < 200 or "a_function_of_the_package" in row


def test_what_only_info_says(trace):
    for command in ("summary", "ops", "peak", "hotspots"):
        text = analyze(command, trace).stdout
        assert "hooks" not in text and "reached through no pointer" not in text, command
    assert " timed, through " in analyze("info", trace).stdout


def test_what_the_built_in_list_leaves_out(tprof):
    """Little of it is not worth a line of the page; `leaks` has it."""
    trace = tprof.run([WORKLOADS / "digits", ROOT / "tests/workloads/data/digits.csv"], [LIBRARY]).traces()[0]
    leaks = analyze("leaks", trace).stdout
    assert "\nleft out by tprof's built-in list: " in leaks and "suppressed:" not in leaks
    assert "built-in list" not in analyze("summary", trace).stdout


def test_false_alarms(tprof):
    trace = tprof.run([WORKLOADS / "growth", "cache", 100, 1], [LIBRARY]).traces()[0]
    text = analyze("leaks", trace).stdout
    assert "(a false alarm) is under 5%" in text and " looks" not in text
