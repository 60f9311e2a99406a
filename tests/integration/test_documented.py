# SPDX-License-Identifier: Apache-2.0
"""What the programs take, and what help, man pages, README and completion say of it, are the same."""
import json
import re
import subprocess
import time
from pathlib import Path

import pytest
from conftest import BUILD, LAUNCHER, LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, need_ptrace, report

ANALYZER = BUILD / "bin" / "tprof-analyze"
COMMANDS = re.findall(r"^  ([a-z]+) ", analyze("--help").stdout.split("\n\n")[1], re.M)
# One option of a program that takes all; what it means is the command's.
EVERY_COMMAND = {"--process", "--debug-dir", "--color", "--width", "--no-pager", "--jobs", "--output", "--help", "--version"}


def options_of(text):
    """Those that have lines of their own in a help text."""
    return {option for line in text.splitlines() if re.match(r" {2,6}-", line)
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", re.sub(r"(\w) {2,}.*", r"\1", line))}


def help_of(command):
    return analyze(command, "--help").stdout


def options_in_manual(page):
    """Of the paragraphs that begin with them."""
    source = (ROOT / page).read_text(encoding="utf-8").replace("\\-", "-").replace("\\fI", " ")
    tags = re.findall(r"^\.TP\n(.*)$", source, re.M) + re.findall(r"^\.TQ\n(.*)$", source, re.M)
    return {option for tag in tags for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", tag)}


def complete(words, function):
    line = " ".join(f"'{word}'" for word in words)
    script = (f"source {ROOT}/scripts/completion/tprof.bash; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
              f"{function}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    done = subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_commands():
    assert len(COMMANDS) > 15
    page = (ROOT / "analyzer/tprof-analyze.1").read_text(encoding="utf-8")
    named = set(re.findall(r"^\.TP\n\.BR? ([a-z]+)", page[page.index(".SH COMMANDS"):page.index(".SH OPTIONS")], re.M))
    assert named == set(COMMANDS)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [command for command in COMMANDS if not re.search(f"tprof(-analyze)? {command}", readme) and command != "summary"] == []
    assert set(COMMANDS) <= complete([ANALYZER, ""], "_tprof")
    assert complete([ANALYZER, "pe"], "_tprof") == {"peak"}


def test_options_of_the_analyzer():
    listed = options_of(analyze("--help").stdout)
    assert listed == set().union(*(options_of(help_of(command)) for command in COMMANDS))
    assert options_in_manual("analyzer/tprof-analyze.1") == listed
    assert all(EVERY_COMMAND <= options_of(help_of(command)) for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_what_is_taken(command, tmp_path):
    """Every option that help names is known; every other one is refused, and the message says what there is."""
    everything, taken = analyze("--help").stdout, options_of(help_of(command))
    for option in sorted(options_of(everything) - {"--help", "--version"}):
        if option == "--measure" and option in taken:
            continue  # it would
        value = "=\x01" if re.search(rf"{option} [A-Z]", everything) else ""
        done = subprocess.run([ANALYZER, command, option + value, "none.bin"], capture_output=True, text=True, check=False,
                              cwd=tmp_path)
        assert done.returncode in (2, 3) and len(done.stderr.splitlines()) == 1, (option, done.stderr)
        refused = re.search(rf"{command} takes no {option}(;|$)", done.stderr) is not None
        assert refused == (option not in taken), (option, done.stderr)
    assert complete([ANALYZER, command, "--"], "_tprof") == taken


def test_rows_unless_told():
    """What the manual says that --top is by itself, against the numbers in the commands' code."""
    page = (ROOT / "analyzer/tprof-analyze.1").read_text(encoding="utf-8").replace("\\-", "-")
    text = " ".join(re.sub(r"^\.BR? ", "", page.split('--top " n"')[1].split("\n.TP")[0], flags=re.M).replace('"', "").split())
    said = re.search(r"Unless told: (\d+) in a summary, (\d+) in compare, (\d+) in html, lines, roofline and threads and of a "
                     r"timeline's marks, (\d+) of ops --tree , all in dump, else (\d+)\. In JSON (\d+); all in compare, dump, "
                     r"info, lines, steps and timeline\. 0: all\.", text)
    assert said, text
    summary, compare, many, tree, others, in_json = map(int, said.groups())
    expected = {"summary": {summary}, "compare": {compare}, "html": {many}, "lines": {many}, "roofline": {many}, "threads": {many},
                "timeline": {many}, "ops": {others, tree}}
    found = {}
    for file in (ROOT / "analyzer/commands").rglob("*.c"):
        code = file.read_text(encoding="utf-8").replace("TOP_SITES)", str(summary) + ")")
        numbers = {int(n) for n in re.findall(r"\btpa_top\([^()]*, (\d+)\)", code)} - {0, in_json}  # those of JSON alone
        if numbers:
            found[file.stem] = numbers
    assert f"#define TOP_SITES {summary}\n" in (ROOT / "analyzer/commands/summary.c").read_text(encoding="utf-8")
    assert {"summary", "site_report", "steps", "diff", "cpu_report"} <= set(found)
    for stem, numbers in found.items():
        assert numbers == expected.get(stem, {others}), stem


def test_rows_in_json(tprof):
    """As many as the page says, of what there is more of."""
    trace = tprof.run([WORKLOADS / "growth", "spread", 300, 1], [LIBRARY]).traces()[0]

    def answer(command, *options):
        return json.loads(analyze(command, "--json", *options, trace).stdout)

    peak = answer("peak")["peak"]
    assert len(peak["sites"]) == 100 < peak["sites_total"] == len(answer("peak", "--top", "0")["peak"]["sites"])
    assert len(answer("dump")["events"]) > 1000 and len(answer("dump", "--top", "7")["events"]) == 7
    assert len(answer("steps")["steps"]["list"]) == 300
    command = [WORKLOADS / "mlp", "--data", ROOT / "tests/workloads/data/digits.csv", "--steps", 3]
    trace = tprof.run(command, [LIBRARY]).traces()[0]
    files = answer("lines")["files"]
    assert len(files) > 1 and answer("lines", "--top", "1")["files"] == files[:1]


def test_rows_of_a_timeline(tprof):
    """Its marks: 20 in the table, all in JSON; as many as --top says in both."""
    program = tprof.directory / "marks.c"
    program.write_text("#include <tprof.h>\nint main(void) { for (int i = 0; i < 30; i++) tprof_mark(\"here\"); return 0; }")
    subprocess.run(["gcc", f"-I{ROOT}/include", program, "-o", tprof.directory / "marks"], check=True)
    trace = tprof.run([tprof.directory / "marks"], [LIBRARY]).traces()[0]
    for options, table, in_json in (((), 20, 30), (("--top", "3"), 3, 3), (("--top", "0"), 30, 30)):
        lines = analyze("timeline", *options, trace).stdout.splitlines()
        assert sum(line.endswith("  here") for line in lines) == table
        assert any(line.strip() == f"and {30 - table} more (--top 0 shows all)" for line in lines) == (table < 30)
        assert len(json.loads(analyze("timeline", "--json", *options, trace).stdout)["timeline"]["marks"]) == in_json


@pytest.mark.parametrize("option", ["--by", "--sort"])
@pytest.mark.parametrize("command", COMMANDS)
def test_keys(command, option):
    """What help lists is what completes, and what the message for a wrong one allows."""
    line = re.search(rf"^  {option} .* one of: (.*)$", help_of(command), re.M)
    if not line:
        assert complete([ANALYZER, command, option, ""], "_tprof") == set()
        return
    keys = line.group(1).split()
    if option == "--by":
        general = re.search(r"^  --by .* group by (.*)$", analyze("--help").stdout, re.M).group(1)
        assert set(keys) <= set(re.split(r", | or ", general))
    assert complete([ANALYZER, command, option, ""], "_tprof") == set(keys)
    message = analyze(command, option, "nonsense", "none.bin", status=2).stderr
    assert all(re.search(rf"\b{key}\b", message) for key in keys), message


@pytest.mark.parametrize("option, command", [("--color", "peak"), ("--what", "flamegraph"), ("--language", "peak"),
                                             ("--format", "export")])
def test_words(option, command):
    words = complete([ANALYZER, command, option, ""], "_tprof")
    message = analyze(command, option, "nonsense", "none.bin", status=2).stderr
    assert words and set(re.split(r"[ ,]+", message.strip().split(": ")[-1])) - {"or", "allowed"} >= words, message


def test_options_of_the_launcher():
    text = subprocess.run([LAUNCHER, "--help"], capture_output=True, text=True, check=True).stdout
    listed = options_of(text)
    assert {"--output", "--depth", "--python"} <= listed
    assert options_in_manual("scripts/tprof.1") == listed
    assert complete([LAUNCHER, "run", "--"], "_tprof") == listed


def test_options_of_the_fleet():
    said = [subprocess.run([LAUNCHER.with_name("tprof-fleet"), command, "--help"], capture_output=True, text=True, check=True).stdout
            for command in ("load", "query")]
    listed = options_of(said[0]) | options_of(said[1])
    assert {"--to", "--from"} <= listed
    assert options_in_manual("scripts/tprof-fleet.1") == listed - {"--help"}
    assert all(complete([LAUNCHER.with_name("tprof-fleet"), command, "--"], "_tprof") == options_of(text)
               for command, text in zip(("load", "query"), said))


def test_environment():
    """Each variable that the collector reads has its paragraph, and each paragraph its variable."""
    source = (ROOT / "preload/core/config.c").read_text(encoding="utf-8")
    read = set(re.findall(r'{ "TPROF_([A-Z_]*[A-Z])", read_', source))
    page = (ROOT / "scripts/tprof.1").read_text(encoding="utf-8")
    described = set(re.findall(r"TPROF_([A-Z_]*[A-Z])", page))
    assert read and read <= described, read - described
    assert described <= read | {"OUTPUT"}, described - read
    analyzers = {name for path in (ROOT / "analyzer").rglob("*.c")
                 for name in re.findall(r'getenv\("TPROF_([A-Z_]*[A-Z])"', path.read_text(encoding="utf-8"))}
    page = (ROOT / "analyzer/tprof-analyze.1").read_text(encoding="utf-8")
    assert analyzers and all(re.search(rf"^\.B.* TPROF_{name}", page, re.M) for name in analyzers)
    # Nor does any other page, the README or a test name one that is not there.
    files = [*(ROOT / "analyzer").glob("*.[15]"), *(ROOT / "include").rglob("*.5"), *(ROOT / "scripts").glob("*.1"),
             ROOT / "README.md", *(ROOT / "tests/integration").glob("*.py")]
    assert len(files) > 20
    for file in files:
        named = set(re.findall(r"TPROF_([A-Z_]*[A-Z])", file.read_text(encoding="utf-8")))
        assert named <= read | {"OUTPUT"} | analyzers, (file, named - read)


def test_presets_of_operators(tmp_path):
    """The message for a list that is none names each preset, as README and tprof(1) do."""
    source = (ROOT / "preload/hooks/ops/presets/table.c").read_text(encoding="utf-8")
    presets = set(re.findall(r'^\t\{ "([a-z]+)",', source, re.M))
    assert {"torch", "onnxruntime", "instrument"} <= presets
    done = subprocess.run(["/bin/true"], env={"LD_PRELOAD": str(LIBRARY), "TPROF_OPS": ","}, cwd=tmp_path, check=True,
                          capture_output=True, text=True)
    (line,) = done.stderr.splitlines()
    named = re.fullmatch(r"tprof: TPROF_OPS=,: allowed is a comma list of (.*) and globs, or off; using auto", line)
    assert set(named.group(1).split(", ")) == presets | {"auto"}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    row = re.search(r"^\| `TPROF_OPS` .*$", readme, re.M).group(0)
    page = (ROOT / "scripts/tprof.1").read_text(encoding="utf-8")
    for preset in presets:
        assert f"`{preset}`" in row, preset
        assert re.search(rf"^\.BR? (.* )?{preset}\b", page, re.M), preset


@pytest.mark.parametrize("page", ["scripts/tprof.1", "scripts/tprof-fleet.1", "analyzer/tprof-analyze.1", "analyzer/tprof-json.5"])
def test_examples(tprof, page):
    """Each line under EXAMPLES works as it is typed: on a run of one process, and of more."""
    section = (ROOT / page).read_text(encoding="utf-8").split(".SH EXAMPLES\n.nf\n")[1].split(".fi")[0].replace("\\-", "-")
    lines = [line for line in section.splitlines() if line]
    assert len(lines) >= 3
    for program in (["steady", "20"], ["fork", "fork"]):
        run = tprof.run([WORKLOADS / program[0], *program[1:]], [LIBRARY])
        (run.directory / "known.supp").write_text("leak:nothing\n")
        (run.directory / "train.py").write_text("kept = [bytearray(100000) for _ in range(10)]\n")
        (run.directory / "python3").symlink_to("/usr/bin/python3")
        path = f"{BUILD}/bin:{run.directory}:/usr/bin:/bin"
        running = None
        for line in lines:
            if line.startswith("tprof ctl"):  # its own process, which records to what the next line reads
                running = subprocess.Popen([WORKLOADS / "still", "10"], cwd=run.directory, stdout=subprocess.DEVNULL,
                                           env={"LD_PRELOAD": str(LIBRARY), "TPROF_OUTPUT": "train.bin", "PATH": path})
                line = f"until tprof ctl {running.pid} status >/dev/null 2>&1; do sleep 0.01; done; " + line.replace("4711", str(running.pid))
            done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=run.directory, capture_output=True, text=True,
                                  env={"PATH": path, "HOME": str(tprof.directory)}, timeout=60, check=False)
            assert done.returncode == 0, (line, done.stderr)
        if running:
            running.kill()
            running.wait()


# ---- tprof-json(5) ----

# Keys that the trace gives: counters' names, numbers of stacks.
FREE_KEYS = {"ops.counters", "ops.self_counters", "dump.stacks.stacks"}
OF_A_RUN = ["summary", "peak", "leaks", "hotspots", "ops", "steps", "timeline", "threads", "info"]
MACHINE = {"schema": "tprof-machine/1", "cpu": "Made up", "cores": 2, "measured_unix_s": 0,
           "gflops": {"SSE": {"single": {"one": 100, "all": 200}, "double": {"one": 50, "all": 100}}},
           "gbytes_per_s": {"L1": {"one": 100, "all": 200}, "memory": {"one": 10, "all": 20}}, "cache_bytes": {"L1": 32768}}


def sections_of_json_page():
    """Where an object stands, as components: the keys that it may have."""
    source = (ROOT / "analyzer/tprof-json.5").read_text(encoding="utf-8").replace("\\-", "-")
    sections = {}
    for section in re.split(r"^\.S[SH] ", source, flags=re.M):
        heading, _, body = section.partition("\n")
        tags = re.findall(r"^\.TP\n\.BR? (.*)$", body, re.M)
        keys = {key for tag in tags for key in re.findall(r"[A-Za-z][\w-]*", tag)}
        for title in heading.strip('"').split(", ") if keys else []:
            assert tuple(title.split(".")) not in sections, title
            sections[tuple(title.split("."))] = keys
    return sections


def section_of(path, sections):
    """The one with the longest heading that the path ends with."""
    found = [title for title in sections if len(title) <= len(path) and
             all(a in (b, "*") for a, b in zip(title, path[-len(title):]))]
    return max(found, key=lambda title: (len(title), [part != "*" for part in title]), default=None)


def test_kinds_of_events():
    """Those of the reader's table, by which dump prints, are those that the page names; and so are their fields."""
    table = (ROOT / "analyzer/trace/fields.c").read_text(encoding="utf-8")
    names = re.findall(r'\[TPA_EVENT_\w+\] = \{ "(\w+)"', table)
    fields = set(re.findall(r'^.*(?:EVENT|FIELD|IF)\(.*?"(\w+)"', table, re.M))
    assert len(fields) > 30 and fields <= sections_of_json_page()[("dump", "events")]
    page = (ROOT / "analyzer/tprof-json.5").read_text(encoding="utf-8")
    said = page[page.index('.SS "dump.events"'):].split(".B kind\n")[1].split(".TP")[0]
    assert len(names) > 20 and sorted(re.findall(r"\w+", said.replace(" or ", " "))) == sorted(names)


def undocumented(value, path, sections):
    """Keys, with where they stand, that the page has not in the section of their object."""
    if isinstance(value, list):
        return set().union(*(undocumented(item, path, sections) for item in value))
    if not isinstance(value, dict):
        return set()
    missing, title = set(), section_of(path, sections)
    free = any(".".join(path).endswith(name) for name in FREE_KEYS)
    for key, item in value.items():
        known = sections[title] if title else set()
        if not free and key not in known and re.sub("_ci95$", "", key) not in known:
            missing.add(".".join([*path, key]))
        missing |= undocumented(item, [*path, key], sections)
    return missing


def traces_of_many_kinds(tprof):
    """By what they have of their own."""
    found = {
        "ops": tprof.run([WORKLOADS / "ops", 30], [LIBRARY]),
        "counters": tprof.run([WORKLOADS / "ops", 3], [LIBRARY], {"TPROF_COUNTERS": "page-faults,cycles"}),
        "outliers": tprof.run([WORKLOADS / "outliers"], [LIBRARY]),
        "roofs": tprof.run([WORKLOADS / "roofs"], [LIBRARY], {"OPENBLAS_NUM_THREADS": "1"}),
        "folded": tprof.run([WORKLOADS / "hot", "plain", 100000, 100], [LIBRARY], {"TPROF_OPS": "blas"}),
        "growth": tprof.run([WORKLOADS / "growth", "spread", 300, 1], [LIBRARY]),
        "lost": tprof.run([WORKLOADS / "lost"], [LIBRARY], {"TPROF_LEAKCHECK": "exit"}),
        "threads": tprof.run([WORKLOADS / "thread_work", 5], [LIBRARY]),
        "samples": tprof.run([WORKLOADS / "steady", 100000], [LIBRARY], {"TPROF_ALLOC": "sample:4096"}),
        "pools": tprof.run([WORKLOADS / "pools"], [LIBRARY]),
        "failures": tprof.run([WORKLOADS / "truth", 1, 500, 1, "failures"], [LIBRARY]),
        "fork": tprof.run([WORKLOADS / "fork", "nested"], [LIBRARY]),
    }
    return {name: run.traces() for name, run in found.items()}


def test_json_page_has_every_key(tprof, tmp_path):
    """Each key that any command prints stands in the section of its object."""
    sections, traces, missing = sections_of_json_page(), traces_of_many_kinds(tprof), set()
    machine, rules = tmp_path / "machine.json", tmp_path / "known.supp"
    machine.write_text(json.dumps(MACHINE))
    rules.write_text("leak:forgotten\n")

    def look(command, root, files, *options, status=0):
        done = analyze(command, "--json", *options, *files, status=status)
        missing.update(undocumented(json.loads(done.stdout), [root], sections))

    for name, files in traces.items():
        for command in OF_A_RUN:
            look(command, "report", files)
        look("dump", "dump", files, "--top", 500)
        look("diff", "diff", [traces["ops"][0], files[0]])
        for command, root in (("summary", "report"), ("compare", "compare"), ("roofline", "roofline")):
            if name in ("ops", "roofs", "fork"):
                look(command, root, files, "--machine", machine)
    for command in ("peak", "leaks", "hotspots"):
        for by in re.search(r"--by .* one of: (.*)$", help_of(command), re.M).group(1).split():
            for name in ("growth", "fork") if command == "leaks" else ("threads",):
                look(command, "report", traces[name], "--by", by)
    ops, growth = traces["ops"], traces["growth"]
    for options in (["--tree"], ["--by", "layer"]):
        look("ops", "report", ops, *options)
    for relation in ("--callers", "--callees"):
        look("hotspots", "report", traces["fork"], relation, "main")
        look("hotspots", "report", traces["threads"], relation, "main")
    for by in ("function", "module", "op"):
        look("diff", "diff", growth, "--by", by, "--baseline", ops[0], "--baseline", growth[0])
    look("check", "check", growth, "--max-peak", "1", "--max-regress", "peak=5%", "--baseline", ops[0], status=1)
    for name in ("ops", "fork"):
        look("lines", "lines", traces[name])
    look("lines", "lines", ops, "ops.c")
    look("dump", "dump", traces["folded"])
    look("leaks", "report", traces["lost"], "--suppressions", rules)
    half = tmp_path / "half.bin"
    half.write_bytes(ops[0].read_bytes()[:ops[0].stat().st_size // 2])
    look("info", "report", [half])
    assert missing == set()


def test_json_page_has_no_other_key():
    """Each key of the page stands in the code."""
    sources = [path for folder in ("analyzer", "include/tprof") for path in (ROOT / folder).rglob("*.[ch]")]
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    literals = set(re.findall(r'"([A-Za-z][\w-]*)\\?"', text))
    literals |= {f"{key}_total" for key in literals if key.endswith("_sites")} | {f"total_{key}" for key in literals}
    keys = set().union(*sections_of_json_page().values())
    assert len(keys) > 300 and keys - literals == set()


# ---- the tutorial ----

@pytest.mark.real
def test_tutorial(tprof):
    """Its program, run as it says, has the leak that it shows, at that line and rate; live and check say so."""
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.S)
    (tprof.directory / "train.py").write_text(program)
    assert "    tprof run -o new.bin -- python3 train.py 300\n" in page
    run = tprof.run([PYTHON, tprof.directory / "train.py", 300], [LIBRARY], {"OMP_NUM_THREADS": "1"}, timeout=300)
    assert run.status == 0, run.stderr
    trace = run.directory / "trace.bin"
    (leak,) = json.loads(analyze("live", "--json", trace).stdout)["answer"]["leaks"]
    assert (Path(leak["frame"]["file"]).name, leak["frame"]["line"]) == ("train.py", 9) and "train.py:9" in page
    said = analyze("check", "--max-growth", "1KiB/step", trace, status=1).stdout.strip()
    pattern = re.sub(r"7\.3\d", "7.3#", said)
    assert pattern in re.sub(r"7\.3\d", "7.3#", page)


def blocks(page, language):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text, re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_tutorial_on_roofs(tprof):
    """The same answers; memory bounds the first program and computing the second, and the work of both is the same."""
    page, (program, change) = blocks("tutorial-roofline.md", "c")
    changed = re.sub(r"static void layer\(void\)\n\{.*?\n\}\n", lambda _: change, program, flags=re.S)
    answers, ops = [], []
    for name, source in (("gemv", program), ("gemm", changed)):
        (tprof.directory / f"{name}.c").write_text(source)
        subprocess.run(["gcc", "-O2", "-g", tprof.directory / f"{name}.c", "-o", tprof.directory / name, "-lopenblas"], check=True)
        run = tprof.run([tprof.directory / name], [LIBRARY], {"OPENBLAS_NUM_THREADS": "1"})
        answers.append(run.stdout)
        (op,) = report(run.traces()[0], command="ops")["ops"]
        (roof,) = report(run.traces()[0], command="roofline")["roofline"]
        ops.append((op["name"], op["calls"], roof["bound"], op["flop"]))
    assert answers[0] == answers[1]
    assert [op[:3] for op in ops] == [("cblas_sgemv", 128, "memory"), ("cblas_sgemm", 4, "compute")]
    assert ops[0][3] == ops[1][3] and all(f"{op[0]}\n" in page for op in ops)


def test_tutorial_on_ci(tprof):
    """Its commands, in its order, print what it says."""
    page, (program,) = blocks("tutorial-ci.md", "c")
    ((old, new),) = re.findall(r"^-\t(.*)\n\+\t(.*)$", page, re.M)
    (tprof.directory / "tool.c").write_text(program)
    commands = re.findall(r"^    (gcc .*|cp .*|tprof run .* -- ./tool|tprof-analyze check .*)$", page, re.M)
    assert len(commands) == 7 and old in program
    said = []
    for i, command in enumerate(commands):
        if i == 4:  # the change is made, and built
            (tprof.directory / "tool.c").write_text(program.replace(old, new))
            subprocess.run(commands[0], shell=True, check=True, cwd=tprof.directory)
        done = subprocess.run(command.replace("tprof-analyze", str(ANALYZER)).replace("tprof run", f"{LAUNCHER} run"), shell=True, text=True,
                              check=False, cwd=tprof.directory, capture_output=True)
        said.append((done.returncode, done.stdout))
    assert [status for status, _ in said] == [0, 0, 0, 0, 0, 1, 1] and f"`{said[2][1].strip()}`" in page
    assert said[5][1] in page and all(line in page for line in said[6][1].splitlines() if "max-regress" in line)


def test_tutorial_on_a_service(tprof):
    """Attached to as it says, it leaks at the lines that it shows, and nowhere else."""
    need_ptrace()
    page, (program,) = blocks("tutorial-service.md", "cpp")
    (tprof.directory / "service.cc").write_text(program)
    subprocess.run(["g++", "-O1", "-g", "service.cc", "-o", "service"], check=True, cwd=tprof.directory)
    with subprocess.Popen([tprof.directory / "service"]) as service:
        time.sleep(0.5)
        done = subprocess.run([LAUNCHER, "attach", "--duration", "4s", "-o", "service.bin", str(service.pid)], cwd=tprof.directory, text=True,
                              capture_output=True, check=False)
        service.kill()
    assert done.returncode == 0 and "attached to" in done.stdout and "detached from" in done.stdout, done.stderr
    trace = tprof.directory / "service.bin"
    (leak,) = report(trace)["answer"]["leaks"]
    assert (Path(leak["frame"]["file"]).name, leak["frame"]["line"], leak["stacks"]) == ("service.cc", 24, 2)
    assert re.search(r"service\.cc:24 \(serve\); 2 stacks", page)
    by_line = analyze("leaks", "--by", "line", "--limit", "2GiB", trace).stdout
    assert re.findall(r"^ +\S*(service\.cc:\d+) \(serve\):", by_line, re.M) == re.findall(r"^ +(service\.cc:\d+) \(serve\):", page, re.M)
