# SPDX-License-Identifier: Apache-2.0
"""Every command on traces of programs that do nothing, that end at once, and that have more of something than any other."""
import json

import pytest
from conftest import LIBRARY, WORKLOADS, Harness, analyze
from test_documented import COMMANDS, sections_of_json_page, undocumented

OTHERS = {"flamegraph", "html", "export", "compact", "bundle", "push", "import"}  # those without --json
MAKERS = {"import"}  # those that read no traces
ROOTS = {command: command for command in ("dump", "check", "lines", "compare", "diff", "roofline")}
ODD = {
    "nothing": (["/bin/true"], {}),
    "killed": (["/bin/sh", "-c", "kill -9 $$"], {}),
    "no event": (["/bin/true"], {"TPROF_ALLOC": "off", "TPROF_CPU": "0", "TPROF_OPS": "off"}),
    "never started": (["/bin/true"], {"TPROF_START": "off"}),
    "one thread": ([WORKLOADS / "steady", 100], {"TPROF_OPS": "off"}),
    "threads": ([WORKLOADS / "extremes", "threads", 10000], {}),
    "stacks": ([WORKLOADS / "extremes", "stacks", 14], {}),
    "deep": ([WORKLOADS / "extremes", "deep", 4096], {"TPROF_DEPTH": "1000"}),
    "long names": ([WORKLOADS / "extremes", "names", 61440], {}),
    "ops": ([WORKLOADS / "ops", 30], {}),  # an ordinary one: it has all keys
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    harness = Harness(tmp_path_factory.mktemp("odd"))
    found = {name: harness.run(command, [LIBRARY], env).traces() for name, (command, env) in ODD.items()}
    assert all(len(files) == 1 for files in found.values()), found
    return {name: files[0] for name, files in found.items()}


def options_of(command, trace):
    return {"check": ["--max-peak", "1TiB", trace], "diff": [trace, trace], "dump": ["--top", "100", trace]}.get(command, [trace])


def status_of(command, name):
    """Of what was never recorded no limit can be checked."""
    return int(command == "check" and name in ("no event", "never started"))


def keys_of(value):
    """As a tree of dictionaries; a list is a leaf, and so is what is not known (null)."""
    return {key: keys_of(item) for key, item in value.items()} if isinstance(value, dict) else value is None


def differences(one, other, path=()):
    """Keys that one has and the other has not, where both know the object."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        if isinstance(one, dict) != isinstance(other, dict) and True not in (one, other):
            return {".".join(path)}
        return set()
    found = {".".join([*path, key]) for key in set(one) ^ set(other)}
    return found.union(*(differences(one[key], other[key], (*path, key)) for key in set(one) & set(other)))


@pytest.mark.parametrize("command", [command for command in COMMANDS if command not in OTHERS | {"roofline"}])
def test_json(traces, command):
    """It parses, its keys are those of an ordinary trace, and each stands in tprof-json(5)."""
    sections = sections_of_json_page()
    answers = {name: json.loads(analyze(command, "--json", *options_of(command, trace), status=status_of(command, name)).stdout)
               for name, trace in traces.items()}
    for name, answer in answers.items():
        assert undocumented(answer, [ROOTS.get(command, "report")], sections) == set(), name
        assert differences(keys_of(answer), keys_of(answers["ops"])) == set(), name


@pytest.mark.parametrize("name", ODD)
def test_text_and_pictures(traces, tmp_path, name):
    """A page with something on it, status 0 and nothing on standard error; SVG, HTML, and JSON for viewers."""
    for command in COMMANDS:
        if command in OTHERS | {"roofline"}:
            continue
        done = analyze(command, *options_of(command, traces[name]), status=status_of(command, name))
        assert done.stderr == "" and (done.stdout.strip() or command == "dump"), command
        assert max(map(len, done.stdout.splitlines()), default=0) < 2000, f"{command}: a name went through whole"
    for what in ("peak", "allocated", "unfreed", "temporary", "cpu"):
        assert "</svg>" in analyze("flamegraph", "--what", what, traces[name]).stdout
        for line in analyze("export", "--format", "folded", "--what", what, traces[name]).stdout.splitlines():
            assert int(line.rpartition(" ")[2]) > 0
    assert analyze("html", traces[name]).stdout.rstrip().endswith("</html>")
    assert json.loads(analyze("export", "--format", "chrome", traces[name]).stdout)["traceEvents"]
    small = tmp_path / "small.bin"
    assert analyze("compact", "-o", small, traces[name]).stderr == ""
    assert analyze("info", small).stdout.strip()


def test_what_is_odd_is_in_them(traces):
    """The traces are what they are called."""
    def summary(name):
        return json.loads(analyze("summary", "--json", "--top", "0", traces[name]).stdout)
    assert summary("killed")["process"]["end"] == "killed" and summary("no event")["heap"]["allocations"] == 0
    assert summary("threads")["capture"]["threads"] == 10001
    folded = analyze("export", "--format", "folded", "--what", "allocated", traces["stacks"]).stdout
    assert len([line for line in folded.splitlines() if line.endswith(" 16")]) >= 1 << 14
    assert max(len(site["stack"]) for site in summary("deep")["heap"]["hot_sites"]) >= 900
    assert max(len(op["name"]) for op in summary("long names")["ops"]) >= 255  # all that a record has of a name
