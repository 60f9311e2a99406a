# SPDX-License-Identifier: Apache-2.0
"""Each leak names what holds it: in `leaks`, and on the first page."""
import re

import pytest
from conftest import BUILD, PYTHON, ROOT, analyze, report
from test_control import ctl, wait_until

STEPS = 200


def search(tprof, command):
    """The trace of a program that leaks, is searched, and goes on when the file `go` is there."""
    process, run = tprof.start([*command, tprof.directory / "go"], env={"TPROF_CPU": "0"})
    trace = run.directory / "trace.bin"
    wait_until(process, lambda: trace.exists() and report(trace, command="steps")["steps"]["count"] == STEPS)
    assert "blocks are held" in ctl(process.pid, "holders")
    (tprof.directory / "go").touch()
    assert process.wait(timeout=60) == 0
    return trace


@pytest.mark.parametrize("kind, names, first", [
    ("list", ["__main__.kept", "[N]"], "__main__.kept (list, 200 items)"),
    ("cache", ["__main__.cache", "[N]"], "__main__.cache (dict, 200 items)"),
    ("attribute", ["__main__.Model", ".history"], "__main__.Model (type) -> .history (list, 200 items)"),
    ("closure", ["__main__.hooks", "[N]", "closure variable data"], "__main__.hooks (list, 200 items)"),
])
def test_kinds_of_python(tprof, kind, names, first):
    trace = search(tprof, [PYTHON, ROOT / "tests/workloads/leak_kinds.py", BUILD / "share/tprof", kind, STEPS])
    finding = report(trace, command="leaks")["growth"]["findings"][0]
    found = [re.sub("[0-9]+", "N", link["name"]) for link in finding["holder"][:len(names)]]
    assert found == names
    assert re.search(rf"held by {re.escape(first)}.*: \d+ KiB kept", analyze("leaks", trace).stdout)
    assert re.search(rf"is held by {re.escape(names[0])}.* kept", analyze(trace).stdout)
