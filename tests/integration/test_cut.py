# SPDX-License-Identifier: Apache-2.0
"""A replay that is looked at, saved, freed and loaded again every few events says the same as one that is not: tests/cut
is a tprof-analyze that does so, and each command must print the same bytes."""
import json
import re

import pytest
from conftest import BUILD, LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, report

CUT = BUILD / "tests/cut/tprof-analyze-cut"
COMMANDS = [["summary"], ["summary", "--json"], ["peak", "--by", "step", "--json"], ["peak", "--by", "size", "--json"],
            ["peak", "--by", "layer", "--json"], ["leaks", "--json", "--top", "0"], ["ops", "--json"],
            ["ops", "--tree", "--json"], ["steps", "--json"], ["timeline", "--json"], ["threads", "--json"],
            ["ranks", "--json"], ["html", "-o", "/dev/stdout"]]
OF_TWO = [["diff", "--json"], ["compare", "--json"]]

PROGRAMS = {
    "heap of several threads": ([WORKLOADS / "shared_arena", 2000], {}),
    "sampled": ([WORKLOADS / "shared_arena", 20000], {"TPROF_ALLOC": "sample:4k"}),
    "growth": ([WORKLOADS / "growth", "cache", 100, 1], {}),
    "growth without steps": ([WORKLOADS / "digits", ROOT / "tests/workloads/data/digits.csv"], {}),
    "mappings": ([WORKLOADS / "remapped"], {}),
    "pools": ([WORKLOADS / "pools", 200], {}),
    "ops": ([WORKLOADS / "ops", 30], {}),
    "ops that are folded": ([WORKLOADS / "op_calls", 200], {"TPROF_OPS": "op_*"}),
    "pauses": ([WORKLOADS / "pauses", 50], {}),
    "code that moves": ([WORKLOADS / "jitdump", "made.dump"], {}),
    "processes": ([WORKLOADS / "fork", "nested"], {}),
    "ranks": (["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "-np", 2, WORKLOADS / "stragglers-openmpi", "sleep", 1, 8, 5],
              {}),
    "ranks with empty parts": (["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "-np", 2,
                                WORKLOADS / "neighbours-openmpi", 1, 4, 5], {}),
    "Python": ([PYTHON, ROOT / "tests/workloads/python_steps.py", ROOT / "scripts"], {"TPROF_PYTHON": "alloc"}),
}


def events_of(traces):
    captures = [report(trace)["capture"] for trace in traces]
    return max(sum(c[key] for key in ("alloc_events", "free_events", "op_events")) for c in captures)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_command_prints_the_same(tprof, monkeypatch, name):
    command, environment = PROGRAMS[name]
    run = tprof.run(command, [LIBRARY], {"PYTHONPATH": str(ROOT / "scripts"), **environment})
    assert run.status == 0, run.stderr
    traces = run.traces()
    events = events_of(traces)
    assert events > 20
    assert name != "ranks" or report(*traces, command="ranks")["ranks"]["count"] == 2
    for number, words in enumerate([*COMMANDS, *(OF_TWO if len(traces) > 1 else [])]):
        paths = traces[:2] if words in OF_TWO else traces
        whole = analyze(*words, *paths)
        monkeypatch.setenv("CUT_EVERY", str(events // (3 + number % 5) + 1))
        cut = analyze(*words, *paths, program=CUT)
        assert cut.stdout == whole.stdout, words
        assert cut.stderr == whole.stderr, words


# Each has several chunks, but for the one whose code moves.
LONG = {
    "heap of several threads": ([WORKLOADS / "shared_arena", 20000], {}),
    "sampled": ([WORKLOADS / "shared_arena", 200000], {"TPROF_ALLOC": "sample:4k"}),
    "growth": ([WORKLOADS / "growth", "cache", 1000, 1], {}),
    "pools": ([WORKLOADS / "pools", 200], {}),
    "ops": ([WORKLOADS / "ops", 3000], {}),
    "ops that are folded": ([WORKLOADS / "op_calls", 40000], {"TPROF_OPS": "op_*"}),
    "code that moves": PROGRAMS["code that moves"],
}


def sums(part, of):
    """Of each thing, over all looks."""
    columns = [key for key in part if key not in ("ends", of) and isinstance(part[key], list) and len(part[key]) == len(part[of])]
    found = {}
    for i, thing in enumerate(part[of]):
        row = found.setdefault(thing, dict.fromkeys(columns, 0))
        for key in columns:
            row[key] += part[key][i]
    return found


def summed(text):
    """
    A page's history says when things happened, between its looks. What a saved state has counted is, as in a ring, in the first look
    behind it: the same sums, and no single calls. Other reports are as they are. And the sums of times, which are rounded at each
    look.
    """
    times = []

    def of_data(found):
        data = json.loads(found.group(1))
        for part, of in (("changes", "site"), ("work", "thread"), ("cpu", "where")):
            data[part] = sorted(sums(data[part], of).items())
        times.extend(row.pop("opNs") for _, row in data["work"])
        data["memory"] = {key: values[-1] for key, values in data["memory"].items()}
        data["looksNs"] = (data["looksNs"][0], data["looksNs"][-1])
        data["opTree"] = {key: data["opTree"][key] for key in ("parent", "op")}
        for moments in ("intervals", "calls", "callsShown"):
            del data["reduced"][moments]
        del data["calls"], data["peakLook"]
        return repr(data)

    return re.sub(r'<script type="application/json"[^>]*>(.*?)</script>', of_data, text, flags=re.S), times


@pytest.mark.parametrize("name", LONG)
def test_a_saved_state_does_without_the_chunks_it_was_read_from(tprof, monkeypatch, name):
    """A replay is saved, and all chunks that it has read are overwritten with zeros. What another process then makes of
    the saved state and of the chunks that are left is what it would have said of the whole file."""
    command, environment = LONG[name]
    run = tprof.run(command, [LIBRARY], environment)
    assert run.status == 0, run.stderr
    trace, = run.traces()
    whole, state, events, thrown = trace.read_bytes(), trace.with_name("state"), events_of([trace]), []
    for number, words in enumerate(COMMANDS):
        expected = analyze(*words, trace)
        monkeypatch.setenv("CUT_EVERY", str(events * (1 + number % 3) // 4))
        monkeypatch.setenv("CUT_SAVE", str(state))
        saved = analyze(*words, trace, program=CUT)
        thrown.append(int(re.search(r"(\d+) chunks thrown away", saved.stderr).group(1)))
        monkeypatch.delenv("CUT_SAVE")
        monkeypatch.setenv("CUT_LOAD", str(state))
        rest = analyze(*words, trace, program=CUT)
        monkeypatch.delenv("CUT_LOAD")
        (said, times), (said_of_whole, times_of_whole) = summed(rest.stdout), summed(expected.stdout)
        assert said == said_of_whole, words
        assert times == pytest.approx(times_of_whole, rel=0, abs=402)
        assert rest.stderr == expected.stderr, words
        trace.write_bytes(whole)
    assert max(thrown) > 1 or name == "code that moves"
