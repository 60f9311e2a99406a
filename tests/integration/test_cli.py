# SPDX-License-Identifier: Apache-2.0
"""The command lines of tprof-analyze and of the launcher."""
import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import ANALYZE, LAUNCHER, LIBRARY, ROOT, WORKLOADS, analyze, report, sites

COMMANDS = ["summary", "peak", "leaks", "hotspots", "ops", "steps", "lines", "timeline", "compare", "info", "dump"]


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    directory = tmp_path_factory.mktemp("cli")
    subprocess.run([WORKLOADS / "threads", "3"], cwd=directory, env={"LD_PRELOAD": str(LIBRARY)}, check=True,
                   stdout=subprocess.DEVNULL)
    return directory / "trace.bin"


@pytest.mark.parametrize("command", COMMANDS)
def test_text_and_json(trace, command):
    text = analyze(command, trace)
    assert len(text.stdout.splitlines()) >= 3
    assert text.stderr == ""  # no progress bar in a pipe
    assert "\033[" not in text.stdout
    assert "\033[" in analyze(command, "--color", "always", trace).stdout or command == "dump"
    answer = analyze(command, "--json", trace).stdout
    assert json.loads(answer)["schema"] == "tprof/1"


def test_without_a_command_it_is_summary(trace):
    assert analyze(trace).stdout == analyze("summary", trace).stdout


@pytest.mark.parametrize("arguments, word", [
    (["nonsense"], "peak"), (["peak", "--by", "colour"], "thread"), (["peak", "--nonsense"], "--json"),
    (["peak", "--top", "x"], "--top"), (["leaks", "--sort", "age"], "blocks"), (["summary", "--color", "red"], "auto"),
    (["summary", "--filter", "("], "--filter"), ([], "usage"), (["timeline", "--from", "later"], "1.5s")])
def test_wrong_usage(trace, arguments, word):
    """One line, what is allowed, status 2."""
    done = analyze(*arguments, *([trace] if arguments and arguments != ["nonsense"] else []), status=2)
    assert word.lower() in done.stderr.lower()
    assert done.stdout == ""
    if arguments:
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments, meant", [
    (["sumary"], "summary"), (["flame"], "flamegraph"), (["paek"], "peak"), (["help", "peek"], "peak"),
    (["peak", "--jsn"], "--json"), (["summary", "--colour", "x"], "--color"),
    (["peak", "--by", "fonction"], "function"), (["leaks", "--sort", "block"], "blocks"), (["export", "--format", "crome"], "chrome"),
    (["peak", "--by", "colour"], None), (["xyzzy"], None), (["peak", "--zzz"], None)])
def test_did_you_mean(trace, arguments, meant):
    said = analyze(*arguments, *([trace] if len(arguments) > 1 and arguments[0] != "help" else []), status=2).stderr
    assert len(said.splitlines()) == 1
    assert re.findall(r"did you mean (\S+)\?", said) == ([meant] if meant else []), said


def test_an_option_of_other_commands(trace):
    said = analyze("peak", "--shapes", trace, status=2).stderr
    assert said == "tprof-analyze: peak takes no --shapes; these do: ops\n"


def test_help_as_a_command():
    assert analyze("help").stdout == analyze("--help").stdout
    assert analyze("help", "leaks").stdout == analyze("leaks", "--help").stdout
    assert analyze("help", "ctl").stdout == analyze("ctl", "--help").stdout


@pytest.mark.parametrize("begin, reason", [
    (b"\x1f\x8b\x08", "is compressed by gzip: gunzip it first"), (b"\x28\xb5\x2f\xfd", "is compressed by zstd: unzstd it first"),
    (b"\xfd7zXZ\0", "is compressed by xz: unxz it first"), (b"BZh9", "is compressed by bzip2: bunzip2 it first"),
    (b"\x7fELF", "offset 0: not a tprof trace but a program or a library: 'tprof run -- PROGRAM' writes its trace")])
def test_files_that_are_no_traces(tmp_path, begin, reason):
    (tmp_path / "t").write_bytes(begin + bytes(100))
    assert analyze(tmp_path / "t", status=3).stderr == f"tprof-analyze: {tmp_path}/t: {reason}\n"


def test_files_that_can_not_be_opened(tmp_path):
    assert analyze(tmp_path / "no.bin", status=3).stderr == f"tprof-analyze: {tmp_path}/no.bin: can't be opened: No such file or directory\n"
    assert analyze(tmp_path, status=3).stderr == f"tprof-analyze: {tmp_path}: is a directory, and there is no trace in it or below\n"


def test_settings_that_are_none(tprof):
    """The name that was probably meant stands beside one that there is not."""
    run = tprof.run([WORKLOADS / "steady", 7], [LIBRARY], {"TPROF_" + "OPTS": "off", "TPROF_" + "XYZZY": "1"})
    assert sorted(run.stderr.decode().splitlines()) == [
        "tprof: TPROF_" + "OPTS: not known to this version; ignored; did you mean TPROF_OPS?",
        "tprof: TPROF_" + "XYZZY: not known to this version; ignored"]


@pytest.mark.parametrize("size, good", [("1GiB", True), ("0.5 MiB", True), ("2048B", True), ("1t", True), ("1k", True), ("1x", False)])
def test_sizes_are_the_same_everywhere(tprof, trace, size, good):
    """What check takes, TPROF_ALLOC takes, and leaks --limit."""
    analyze("check", "--max-peak", size, trace, status=2 if not good else 1 if size in ("2048B", "1k") else 0)
    analyze("leaks", "--limit", size, trace, status=0 if good else 2)
    run = tprof.run([WORKLOADS / "steady", 7], [LIBRARY], {"TPROF_ALLOC": f"sample:{size}"})
    assert (run.stderr == b"") == good, run.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command):
    assert command in analyze(command, "--help").stdout
    assert command in analyze("--help").stdout


def test_versions_agree(trace):
    version = analyze("--version").stdout.split()[-1]
    assert subprocess.run([LAUNCHER, "--version"], stdout=subprocess.PIPE, check=True,
                          text=True).stdout.split()[-1] == version
    assert trace.exists()


@pytest.mark.parametrize("by", ["stack", "function", "line", "module", "thread", "size"])
def test_by(trace, by):
    """However it is grouped, the sum is the same."""
    heap = report(trace)["heap"]
    assert sum(site["bytes"] for site in sites(trace, "peak", "--by", by)) == heap["peak_bytes"]
    assert sum(site["allocations"] for site in sites(trace, "hotspots", "--by", by)) == heap["allocations"]


def test_top(trace):
    assert len(report(trace, command="hotspots", options=["--top", "1"])["hotspots"]["sites"]) == 1


def test_filter(trace):
    found = sites(trace, "hotspots", "--filter", "^work$")
    assert found and len(found) < len(sites(trace, "hotspots"))
    for site in found:
        assert "work" in [frame["function"] for frame in site["stack"]]


def test_thread(trace):
    whole = report(trace)["heap"]["allocations"]
    parts = [report(trace, options=["--thread", str(n)])["heap"]["allocations"] for n in range(1, 23)]
    assert sum(parts) == whole


def test_time_window(trace):
    whole = report(trace)
    middle = whole["process"]["duration_ns"] // 2
    first = report(trace, options=["--to", f"{middle}ns"])["heap"]["allocations"]
    second = report(trace, options=["--from", f"{middle}ns"])["heap"]["allocations"]
    assert first + second == whole["heap"]["allocations"]
    # What is live from before a part is no part's own at its end.
    for moment in (middle, whole["process"]["duration_ns"] - 1):
        answer = report(trace, command="leaks", options=["--from", f"{moment}ns", "--top", "0"])
        for key in ("bytes", "blocks"):
            listed = sum(site[key] for site in answer["unfreed"]["sites"]) + answer["unfreed"]["suppressed"][key]
            assert answer["heap"][f"end_{key}"] == listed < whole["heap"][f"peak_{key}"]


def bytes_read():
    """By this process and by those that it waited for."""
    with open("/proc/self/io", encoding="ascii") as counts:
        return int(counts.readline().split()[1])


def test_what_comes_after_a_part_is_not_read(tprof):
    trace = tprof.run([WORKLOADS / "ring", "counts", 2, 1000000], [LIBRARY], {"TPROF_CPU": "0"}).traces()[0]

    def read(*options):
        before = bytes_read()
        found = report(trace, options=options)
        return found, bytes_read() - before

    whole, all_bytes = read()
    assert all_bytes > os.path.getsize(trace) * 0.9
    for part in 1, 10, 50:
        found, some_bytes = read("--to", f"{whole['process']['duration_ns'] * part // 100}ns")
        share = found["heap"]["allocations"] / whole["heap"]["allocations"]
        assert share < 0.9 and some_bytes < (share + 0.05) * all_bytes, part


def test_a_part_behind_the_end(trace):
    """A run has none; it is not one in which nothing was allocated, with the peak of what came before."""
    for command in ("peak", "leaks", "timeline", "ops", "export"):
        said = analyze(command, "--from", "1000s", trace, status=2).stderr
        assert said.startswith("tprof-analyze: --from 16 min 40 s: the run lasted ") and said.count("\n") == 1, said
    assert analyze("peak", "--to", "1000s", trace).stdout


def test_what_is_alive_where_the_part_ends(trace):
    """What is alive where the part of the run ends is not called unfreed at exit: the program may free it yet."""
    end = report(trace)["process"]["duration_ns"]
    for command in (["summary"], ["leaks"], ["flamegraph", "--what", "unfreed"]):
        for to, part in ((end // 2, True), (2 * end, False)):
            text = analyze(*command, "--to", f"{to}ns", trace).stdout
            assert ("alive at the end of that part" in text) == part
            assert ("unfreed at exit" in text) != part


def test_resident_memory_of_a_part(tprof):
    """That of the run's greatest moment is no part's that ends before it."""
    trace = tprof.run([WORKLOADS / "outliers"], [LIBRARY]).traces()[0]
    first, whole = (json.loads(analyze("summary", "--json", *part, trace).stdout)["heap"] for part in (["--to", "step:50"], []))
    assert 0 < first["rss_peak_bytes"] < whole["rss_peak_bytes"] / 2


def test_suppressions(tprof, tmp_path):
    run, summary = tprof.summary([WORKLOADS / "steady", 100])
    rules = tmp_path / "rules"
    rules.write_text("# a comment\nleak:main\n")
    answer = report(run.traces()[0], command="leaks", options=["--suppressions", rules])["unfreed"]
    assert answer["sites"] == []
    assert answer["suppressed"]["blocks"] == 100
    assert answer["suppressed"]["bytes"] == summary["heap"]["end_bytes"]
    text = analyze("leaks", "--suppressions", rules, run.traces()[0]).stdout  # not everything: 100 blocks stand beside it
    assert "everything else was freed" in text and "everything was freed" not in text


def test_shares_are_of_what_the_headline_says(tprof, tmp_path):
    """With what is suppressed, as in HTML."""
    source, rules = tmp_path / "two.c", tmp_path / "rules"
    source.write_text("#include <stdlib.h>\nvoid *kept[2];\n"
                      "__attribute__((noinline)) static void *known(void) { return malloc(1000); }\n"
                      "__attribute__((noinline)) static void *lost(void) { return malloc(3000); }\n"
                      "int main(void) { kept[0] = known(); kept[1] = lost(); return 0; }\n")
    subprocess.run(["gcc", "-g", "-O1", "-fno-builtin", source, "-o", tmp_path / "two"], check=True)
    rules.write_text("leak:known\n")
    trace = tprof.run([tmp_path / "two"], [LIBRARY]).traces()[0]
    for command, by in (("leaks", "stack"), ("leaks", "line"), ("summary", None)):
        options = [*(["--full"] if command == "summary" else []), "--suppressions", rules, "--exact", *(["--by", by] if by else [])]
        unfreed = analyze(command, *options, trace).stdout.split("What was unfreed at exit")[-1]
        line = next(line for line in unfreed.splitlines() if "3,000 B" in line)
        assert "75.0%" in line and "100.0%" not in line and "suppressed: 1,000 B in 1 block" in unfreed


@pytest.mark.parametrize("what", ["peak", "allocated", "unfreed", "temporary"])
def test_flamegraph_and_folded(trace, tmp_path, what):
    svg = tmp_path / "out.svg"
    analyze("flamegraph", "--what", what, "-o", svg, trace)
    text = svg.read_text()
    assert text.lstrip().startswith("<?xml") or text.lstrip().startswith("<svg")
    assert text.rstrip().endswith("</svg>") and "http://" not in text.replace("http://www.w3.org/", "")
    folded = analyze("export", "--format", "folded", "--what", what, trace).stdout
    total = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())
    heap = report(trace)["heap"]
    unfreed = report(trace, command="leaks")["unfreed"]["bytes"]  # without what is suppressed
    temporary = sum(s["temporary"] for s in sites(trace, "hotspots"))
    expected = {"peak": heap["peak_bytes"], "allocated": heap["allocated_bytes"], "unfreed": unfreed,
                "temporary": temporary}
    assert total == expected[what]


def test_demo_names_the_leak(tprof):
    """The line of the leak and those of the peak are in the report's text."""
    source = WORKLOADS.parents[1] / "tests/workloads/digits.c"
    leak = next(n for n, line in enumerate(source.read_text().splitlines(), 1) if "malloc(sizeof(*note))" in line)
    run, _ = tprof.summary([WORKLOADS / "digits", source.parent / "data/digits.csv"])
    assert b"accuracy 0.9" in run.stdout
    for command in ("summary", "leaks"):
        text = analyze(command, run.traces()[0]).stdout
        assert re.search(rf"remember_loss .*digits\.c:{leak}\b|digits\.c:{leak} .*remember_loss", text), text
    assert re.search(r"digit_set\.c:\d+ .*load_digits", analyze("peak", run.traces()[0]).stdout)


# ---- tprof run ----

def launch(tprof, *arguments, preload=(), env=None):
    return tprof.run([LAUNCHER, *arguments], preload, env)


def test_launcher(tprof):
    run = launch(tprof, "run", "-o", "here.bin", "--depth", "3", "--", WORKLOADS / "steady", "7")
    assert (run.status, run.stdout) == (0, b"steady: done\n")
    assert "tprof-analyze ./here.bin" in run.stderr.decode()
    answer = report(run.directory / "here.bin")
    assert answer["heap"]["allocations"] == 7
    assert answer["process"]["exe"].endswith("/steady")


@pytest.mark.parametrize("script, status", [("exit 7", 7), ("kill -9 $$", 137), ("exec /no/such/file", 127)])
def test_launcher_keeps_the_status(tprof, script, status):
    assert launch(tprof, "run", "--", "sh", "-c", script).status == status


def test_launcher_prints_findings(tprof):
    """A line each for the peak, the leak with its holder, and the slowest op; --quiet leaves them out."""
    source = WORKLOADS.parents[1] / "tests/workloads/digits.c"
    leak = next(n for n, line in enumerate(source.read_text().splitlines(), 1) if "malloc(sizeof(*note))" in line)
    command = ["--", WORKLOADS / "digits", source.parent / "data/digits.csv"]
    env = {"OPENBLAS_NUM_THREADS": "1", "TPROF_LEAKCHECK": "exit"}
    run = launch(tprof, "run", *command, env=env)
    lines = run.stderr.decode().splitlines()
    answer = report(run.directory / "trace.bin")
    assert len(lines) == 4
    assert re.match(r"tprof: memory: .* at the peak \(RSS .*\); largest of yours: 456 KiB at digit_set\.c:\d+ load_digits: ", lines[0])
    assert re.fullmatch(rf"tprof: leak: 104 B a step at \S*digits\.c:{leak} \(remember_loss\), held by loss_notes \(static\)"
                        r" -> .* x 3,000: 305 KiB kept", lines[1])
    op = max(answer["ops"], key=lambda op: op["self_ns"])
    assert re.fullmatch(rf"tprof: time: .* in {op['calls']:,} calls of {op['name']}, the op that took most", lines[2])
    (run.directory / "trace.bin").unlink()
    assert launch(tprof, "run", "--quiet", *command, env=env).stderr.decode() == "tprof: next: tprof-analyze ./trace.bin\n"
    assert "; largest: " in launch(tprof, "run", "ls").stderr.decode()  # no line of the user's, no leak


def test_launcher_reads_no_large_trace(tprof):
    """Not to keep the user waiting. What follows the trace in its file counts."""
    script = f'{WORKLOADS}/steady 10; for trace in y.[0-9]*.bin; do head -c {{}} /dev/zero >>"$trace"; done'
    for size, findings in (("1M", 1), ("33M", 0)):
        run = launch(tprof, "run", "-o", "y.bin", "--", "sh", "-c", script.format(size))
        assert run.stderr.decode().count("memory: ") == findings, run.stderr
        for trace in run.directory.glob("y*"):
            trace.unlink()


def test_launcher_names_all_traces(tprof):
    run = launch(tprof, "run", "--", WORKLOADS / "fork", "fork")
    (trace, child) = run.traces()
    assert trace.name in run.stderr.decode() and child.name in run.stderr.decode()


def test_launcher_keeps_an_existing_preload(tprof):
    run = launch(tprof, "run", "--", WORKLOADS / "steady", "7", env={"LD_PRELOAD": "libjemalloc.so.2"})
    assert report(run.traces()[0])["capture"]["malloc"].split("/")[-1].startswith("libjemalloc")


def test_launcher_and_a_static_program(tprof):
    run = launch(tprof, "run", "--", "/sbin/ldconfig", "--version")
    assert run.status == 0 and run.stdout.startswith(b"ldconfig")
    assert run.stderr == b"tprof: /sbin/ldconfig itself is not recorded: it is linked statically\n"


@pytest.mark.parametrize("patch", [(4, b"\1"), (18, b"\3")])
def test_launcher_and_a_program_of_another_processor(tprof, patch):
    """A file that the kernel does not start either; a 32-bit one would run."""
    program = bytearray((WORKLOADS / "steady").read_bytes())
    program[patch[0]:patch[0] + 1] = patch[1]
    file = tprof.directory / "other"
    file.write_bytes(program)
    file.chmod(0o755)
    assert b"not recorded: it is not of x86-64" in launch(tprof, "run", "--", file).stderr


def test_launcher_and_another_c_library(tprof):
    """musl's loader ends at a preloaded library that it can't link; here the true loader, by such a name, shows the preload."""
    program, mine, other = (WORKLOADS / "steady").read_bytes(), b"/lib64/ld-linux-x86-64.so.2\0", b"ld-musl-x86_64.so.1\0"
    assert program.count(mine) == 1
    file = tprof.directory / "foreign"
    file.write_bytes(program.replace(mine, other.ljust(len(mine), b"\0")))
    file.chmod(0o755)
    link = f"ln -s /lib64/ld-linux-x86-64.so.2 {other[:-1].decode()}; exec "
    bare = tprof.run(["sh", "-c", link + f"{file} 7"])
    run = tprof.run(["sh", "-c", link + f"{LAUNCHER} run -- {file} 7"])
    assert (run.status, run.stdout) == (bare.status, bare.stdout) == (0, b"steady: done\n")
    assert not run.traces()
    assert b"of another C library than glibc: its loader is ld-musl-x86_64.so.1" in run.stderr


@pytest.mark.parametrize("output, made", [
    ("a b/it's.bin", "a b/it's.bin"), ("-x.bin", "-x.bin"), ("back\\nslash*.bin", "back\\nslash*.bin"), ("no suffix", "no suffix"),
    ("%e.%%.bin", "steady.%%.bin"), ("in %e/t.bin", "in steady/t.bin"), ("deep/%e/x/t[1].bin", "deep/steady/x/t[1].bin")])
def test_launcher_and_odd_names(tprof, output, made):
    """What it says to do next can be pasted into a shell, and is no other trace's analysis."""
    script = 'mkdir -p "$(dirname -- "./$2")"; touch -d "1 minute ago" old.bin; "$0" run --cpu off -o "$1" -- "$3" 7'  # no sample by chance, which is a line
    run = tprof.run(["sh", "-c", script, LAUNCHER, output, made, WORKLOADS / "steady"])
    assert run.status == 0, run.stderr
    assert report(run.directory / made)["heap"]["allocations"] == 7
    (findings, line) = run.stderr.decode().splitlines()
    assert findings.startswith("tprof: memory: ")
    command = line.removeprefix("tprof: next: tprof-analyze ")
    text = subprocess.run(["sh", "-c", f'"$0" {command}', ANALYZE], cwd=run.directory, check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    assert "steady (pid" in text


def test_launcher_and_a_program_that_others_start(tprof):
    """As a shim of a version manager does: what is to be looked at is not the first process, nor the first image of it."""
    script = "/bin/true; /bin/true; sh -c '/bin/true; exec env \"$0\" 20000' \"$0\"; exec /bin/true"
    run = launch(tprof, "run", "-o", "trace of all.bin", "--", "sh", "-c", script, WORKLOADS / "steady")
    assert run.status == 0 and len(run.traces()) > 4, run.stderr
    *_, count, following = run.stderr.decode().splitlines()
    name = re.fullmatch(r"tprof: next: tprof-analyze '(.+)', or all of them for the whole run", following).group(1)
    assert count == f"tprof: {len(run.traces())} traces, the largest is '{name}'"
    assert report(run.directory / name)["heap"]["allocations"] == 20000


@pytest.mark.parametrize("output", ["trace.bin", "./%e.%p.bin"])
def test_launcher_and_programs_started_elsewhere(tprof, output):
    """A relative name is one of the launcher's directory, wherever the command's processes are started."""
    script = "mkdir one one/two; cd one && $0 7 && cd two && $0 8"
    run = launch(tprof, "run", "-o", output, "--", "sh", "-c", script, WORKLOADS / "steady")
    assert run.status == 0 and not list((run.directory / "one").glob("**/*.bin"))
    traces = sorted(run.directory.glob("*.bin"))
    steady = [answer for answer in map(report, traces) if answer["process"]["exe"].endswith("steady")]
    assert sorted(answer["heap"]["allocations"] for answer in steady) == [7, 8]
    assert f"tprof: {len(traces)} traces" in run.stderr.decode() or all(t.name in run.stderr.decode() for t in traces)


@pytest.mark.parametrize("output", ["missing/t.bin", "/proc/t.bin", "."])
def test_launcher_where_nothing_can_be_written(tprof, output):
    run = launch(tprof, "run", "-o", output, "--", WORKLOADS / "steady", "7")
    assert (run.status, run.stdout) == (0, b"steady: done\n")
    assert b"nothing is recorded" in run.stderr and b"no trace was written" in run.stderr


def test_launcher_leaves_the_options_behind_the_command(tprof):
    run = launch(tprof, "run", "echo", "-o", "x.bin", "--help", "--", "run")
    assert (run.status, run.stdout) == (0, b"-o x.bin --help -- run\n")
    assert not (run.directory / "x.bin").exists() and len(run.traces()) == 1


def test_launcher_and_a_set_user_id_program(tprof):
    """The kernel takes the preload away from it; from its owner, who runs it as he is, it does not."""
    if os.geteuid() != 0:
        pytest.skip("only root gives a file to another user")
    file = tprof.directory / "others"
    shutil.copy("/bin/echo", file)
    os.chown(file, 65534, 65534)
    file.chmod(0o4755)
    run = launch(tprof, "run", "--", file, "7")
    assert (run.status, run.stdout) == (0, b"7\n")
    assert not run.traces()
    assert run.stderr == f"tprof: {file} itself is not recorded: it is set-user-ID or set-group-ID\n".encode()
    os.chown(file, 0, 0)
    file.chmod(0o4755)
    run = launch(tprof, "run", "--", file, "7")
    assert len(run.traces()) == 1 and b"next: tprof-analyze" in run.stderr


@pytest.mark.parametrize("arguments, word", [(["run"], "no command"), (["walk"], "run"), (["run", "--deep", "x"], "--deep"),
                                             (["run", "-o"], "-o"), ([], "Usage")])
def test_launcher_wrong_usage(tprof, arguments, word):
    run = launch(tprof, *arguments)
    assert run.status == 2 and word in run.stderr.decode()


@pytest.mark.parametrize("arguments, said", [
    (["rnu", "-x"], "unknown command 'rnu' (did you mean run?)"), (["run", "--ouput", "x"], "unknown option --ouput (did you mean --output?)"),
    (["sh", "-c", "exit 3"], "to run a program, type: tprof run -- sh -c 'exit 3'"), (["peak", "x.bin"], "type: tprof-analyze peak x.bin"),
    (["-o", "x.bin", "sh"], "options of tprof run stand behind run"), (["help", "runn"], "(did you mean run?)"),
    (["run", "--alloc", "1k", "--", "sh"], "--alloc 1k: allowed is trace, off or sample:BYTES"),
    (["run", "--depth=0", "--cpu", "fast", "--", "sh"], "--depth 0: allowed is a number from 1 to 1000"),
    (["run", "--depth=0", "--cpu", "fast", "--", "sh"], "--cpu fast: allowed is"),
    (["run", "-o", "", "--", "sh"], "needs the name of a file")])
def test_launcher_says_what_to_type(tprof, arguments, said):
    """Before anything runs."""
    run = launch(tprof, *arguments)
    assert run.status == 2 and said in run.stderr.decode() and not run.traces(), run.stderr


def test_launcher_help(tprof):
    usage = launch(tprof, "--help").stdout
    assert launch(tprof, "help").stdout == launch(tprof, "help", "run").stdout == launch(tprof, "run", "-h").stdout == usage
    assert b"leakcheck" in launch(tprof, "help", "ctl").stdout


def test_launcher_leaves_values_of_the_environment_to_the_library(tprof):
    """One that is none is named, its default used, and the program runs, as without tprof run."""
    run = launch(tprof, "run", "--depth", "9", "--", WORKLOADS / "steady", "7", env={"TPROF_ALLOC": "1k"})
    assert run.status == 0 and report(run.traces()[0])["heap"]["allocations"] == 7
    assert b"TPROF_ALLOC=1k: allowed is trace" in run.stderr


def test_launcher_and_a_command_that_begins_with_a_dash(tprof):
    """What stands behind -- is no option of a shell's either."""
    run = launch(tprof, "run", "--", "-x")
    assert run.status == 127 and b"-x: command not found; options of tprof run stand before the --" in run.stderr
    (tprof.directory / "-x").write_text("#!/bin/sh\necho $1\n")
    (tprof.directory / "-x").chmod(0o755)
    run = launch(tprof, "run", "--", "-x", "7", env={"PATH": f"{tprof.directory}:{os.environ['PATH']}"})
    assert (run.status, run.stdout) == (0, b"7\n")


@pytest.mark.parametrize("output, reason", [("missing/t.bin", "there is no directory missing; mkdir -p missing makes it"),
                                            (".", "it is a directory; name a file, as in ./trace.bin"),
                                            ("file/t.bin", "file is not a directory")])
def test_launcher_names_an_output_that_can_not_be_written(tprof, output, reason):
    """Before the program runs, which may take hours."""
    run = tprof.run(["sh", "-c", 'touch file; exec "$0" run -o "$1" -- sh -c "echo it runs >&2"', LAUNCHER, output])
    said = run.stderr.decode()
    assert said.startswith(f"tprof: {output} can't be written: {reason}\n") and "it runs" in said


def test_launcher_in_a_path_with_a_space(tprof):
    """LD_PRELOAD takes that for the end of a name, and a colon: by a link, or else refused before the program runs."""
    prefix = tprof.directory / "a b:c"
    for folder in ("bin", "lib"):
        shutil.copytree(LAUNCHER.parents[1] / folder, prefix / folder)
    program = WORKLOADS / "fork"
    for home, status in ((tprof.directory / "home", 0), (tprof.directory / "no home", 2)):
        run = tprof.run([prefix / "bin/tprof", "run", "--", program, "fork"], env={"HOME": str(home), "XDG_CACHE_HOME": ""})
        assert (run.status, len(run.traces())) == (status, 0 if status else 2), run.stderr
    assert b"LD_PRELOAD can't name a path with a space or colon" in run.stderr
    assert len(list((tprof.directory / "home").rglob("libtprof.so"))) == 1


def test_ops_that_are_none(tprof):
    """A name that no function met, a slip for a preset's most likely."""
    def notes(ops, step="op_big"):
        run = tprof.run([WORKLOADS / "op_calls"], [LIBRARY], {"TPROF_OPS": ops, "TPROF_STEP": step})
        every = report(run.traces()[0])["notes"]
        unmet = [note for note in every if "no function that matches was called" in note]
        assert every[:len(unmet)] == unmet, "first: a page may show no more"
        return run.stderr.decode(), unmet

    said, (note,) = notes("pytorch")
    assert said == "tprof: TPROF_OPS: pytorch is not a preset, and taken for the name of a function; did you mean torch?\n"
    assert note.startswith("TPROF_OPS: ") and note.endswith(": pytorch")
    said, (note,) = notes("auto,op_*,none_*,-other,op_bigg")
    assert said == "" and note.endswith(": none_*, op_bigg")
    assert notes("op_jump,blas") == ("", [])
    said, (note,) = notes("blas", "op_bigg")
    assert note.startswith("TPROF_STEP: ") and note.endswith(": op_bigg")


def test_launcher_unknown_command(tprof):
    run = launch(tprof, "run", "--", "no-such-command")
    assert run.status == 127 and "no-such-command" in run.stderr.decode()


def test_launcher_command_that_is_no_program(tprof):
    (tprof.directory / "data").write_text("")
    for command in tprof.directory, tprof.directory / "data":
        run = launch(tprof, "run", "--", command)
        assert (run.status, run.stdout) == (126, b"")
        assert run.stderr.decode() == f"tprof: {command}: no program that can be run\n"


NAMES = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <tprof.h>
int main(void)
{
	pthread_setname_np(pthread_self(), THREAD);
	for (int i = 0; i < 30; i++) {
		tprof_op_begin(OP, KIND);
		if (!malloc(1000))
			return 1;
		tprof_op_end();
		tprof_mark(MARK);
		tprof_step(1);
	}
}
"""
THAT_STEER = {"THREAD": r"t\033[2J", "OP": r"op\033[31m\001\177\n", "KIND": r"kind\033[2J", "MARK": r"mark\033[2J\n"}
THAT_ARE_NO_TEXT = {"THREAD": r"t\377\302\2332J", "OP": r"op\377\303\251\233(", "KIND": r"kind\302\233m", "MARK": r"mark\300\257"}


def build_names(directory, program, names):
    """A program that calls its thread, its ops and their kind, and its marks so."""
    (directory / "names.c").write_text(NAMES)
    subprocess.run(["gcc", "-fno-builtin", "-I", ROOT / "include", *(f'-D{what}="{name}"' for what, name in names.items()),
                    directory / "names.c", "-o", program], check=True)


def test_names_do_not_steer_a_terminal(tprof, tmp_path):
    """A program, and so a trace from elsewhere, may name its ops, threads and marks as it likes."""
    build_names(tmp_path, tmp_path / "names", THAT_STEER)
    run = tprof.run([tmp_path / "names"], [LIBRARY])
    for command in ("summary", "peak", "leaks", "hotspots", "ops", "steps", "threads", "timeline", "info", "dump", "compare"):
        text = analyze(command, run.traces()[0]).stdout
        assert not [c for c in text if (c < " " and c != "\n") or c == "\x7f"], command


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_names_may_be_any_bytes(tprof, tmp_path, locale):
    """Text is UTF-8 without control characters, whatever a path, an argument, an op, a thread or a mark is called, and so is JSON,
    in which each byte that is no UTF-8 is a question mark and the rest of the name stays."""
    program = os.fsdecode(os.fsencode(tmp_path) + b"/a\xff\xc2\x9b2J")
    build_names(tmp_path, program, THAT_ARE_NO_TEXT)
    trace = tprof.run([program, os.fsdecode(b"argument\xff\xc2\x9b")], [LIBRARY]).traces()[0]

    def output(*arguments):
        done = subprocess.run([ANALYZE, *arguments, trace], stdout=subprocess.PIPE, check=True, env={**os.environ, "LC_ALL": locale})
        return done.stdout.decode("utf-8")

    for command in ("summary", "peak", "leaks", "hotspots", "ops", "steps", "threads", "timeline", "info", "dump", "compare", "lines"):
        for color in ("never", "always"):
            text = re.sub("\033\\[[0-9;]*m", "", output(command, "--color", color)) if color == "always" else output(command)
            assert not [c for c in text if (c < " " and c != "\n") or "\x7f" <= c < "\xa0"], command
        answer = json.loads(output(command, "--json"))
        if command == "ops":
            assert answer["ops"][0]["name"] == "op?\xe9?("
    assert json.loads(output("info", "--json"))["process"]["exe"].endswith("/a?\x9b2J")
    assert json.loads(output("export", "--format", "chrome"))["traceEvents"]
    for command in ("flamegraph", "html"):
        output(command)


@pytest.mark.parametrize("name, reason", [("missing", "No such file or directory"), ("file", "Not a directory"),
                                          ("", "No such file or directory")])
def test_debug_dir_that_is_none(tprof, name, reason):
    run = tprof.profile([WORKLOADS / "steady", "7"])
    (tprof.directory / "file").write_text("")
    folder = tprof.directory / name if name else ""
    done = analyze("--debug-dir", folder, run.traces()[0], status=2)
    assert (done.stdout, done.stderr) == ("", f"tprof-analyze: --debug-dir {folder}: can't be read: {reason}\n")
    analyze("--debug-dir", tprof.directory, run.traces()[0])


@pytest.mark.parametrize("command", ["summary", "peak", "export --format chrome", "compare", "check --max-peak 1GiB"])
def test_a_trace_named_twice(tprof, tmp_path, command):
    """Under one name or two, all its numbers would count twice. To hold a run against itself is another thing."""
    trace = tprof.profile([WORKLOADS / "steady", "7"]).traces()[0]
    (tmp_path / "copy.bin").write_bytes(trace.read_bytes())
    for other in (trace, tmp_path / "copy.bin"):
        done = analyze(*command.split(), trace, other, status=2)
        assert done.stderr == f"tprof-analyze: {other}: the same process's trace as {trace}: one of them is enough\n"
    analyze("diff", trace, trace)
