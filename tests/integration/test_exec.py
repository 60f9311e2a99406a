# SPDX-License-Identifier: Apache-2.0
"""Programs that programs start: recorded whatever environment they are given, or named with the reason why they are not."""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

import pytest
from conftest import LAUNCHER, LIBRARY, PYTHON, WORKLOADS, analyze, nothing_lost, report

WAYS = ["execve", "execvpe", "execle", "fexecve", "execveat", "syscall", "syscallat", "null", "execv", "execvp", "execl", "execlp",
        "fork-execve", "fork-execle", "vfork-execve", "vfork-syscall", "vfork-execl", "spawn", "spawnp"]
P = WORKLOADS / "steady"


def by_program(run):
    found = {}
    for trace in run.traces():
        summary = report(trace)
        found[summary["process"]["name"]] = (trace, summary)
    return found


@pytest.mark.parametrize("how, many", [*((how, False) for how in WAYS), ("execve", True), ("vfork-execve", True), ("spawn", True)])
def test_an_environment_of_its_own(tprof, how, many):
    command = [WORKLOADS / "starts", how, P, "17", *(["many"] if many else [])]
    run = tprof.run(command, [LIBRARY], env={"TPROF_DEPTH": "99"})
    assert (run.status, run.stderr) == (0, b"")
    assert len(run.traces()) == 2
    own, summary = by_program(run)["starts"]
    name = next(name for name in by_program(run) if name != "starts")
    trace, child = by_program(run)[name]
    assert name == "steady" and child["heap"]["allocations"] == 17
    assert child["process"]["run"] == summary["process"]["run"]
    assert "TPROF_DEPTH=99" in report(trace, command="info")["trace"]["settings"]
    nothing_lost(child)
    nothing_lost(summary)
    if child["process"]["pid"] == summary["process"]["pid"]:
        assert summary["process"]["end"] == "exec" and summary["run"]["replaced_by"]["trace"] == str(trace)
        assert f"replaced by steady: see {trace}" in analyze(own).stdout
    else:
        assert [(s["name"], s["trace"]) for s in summary["run"]["started"]] == [("steady", str(trace))]
        assert f"started steady (pid {child['process']['pid']}): see {trace}" in analyze(own).stdout


def test_what_the_program_gets(tprof):
    """Its own variables, in their order; LD_PRELOAD of its own is kept behind libtprof.so."""
    script = "env -i B=2 A=1 LD_PRELOAD=libm.so.6 TPROF_CPU=7 /usr/bin/env"
    run = tprof.run(["sh", "-c", script], [LIBRARY], env={"TPROF_CPU": "50", "TPROF_DEPTH": "80"})
    lines = run.stdout.decode().splitlines()
    assert lines[:4] == ["B=2", "A=1", f"LD_PRELOAD={LIBRARY}:libm.so.6", "TPROF_CPU=7"]
    assert "TPROF_DEPTH=80" in lines[4:] and len([line for line in lines if "TPROF_CPU" in line]) == 1


MUSL = r"""
#include <stdio.h>
#include <stdlib.h>
int preloaded(void) __attribute__((weak));
int main(void)
{
    printf("%s %d\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "-", preloaded ? preloaded() : 0);
    free(malloc(100));
    return 3;
}
"""

STARTS = r"""
import os, subprocess, sys
program, others = sys.argv[1], sys.argv[2:]
mine = dict(os.environ, LD_PRELOAD=":".join([*others, os.environ["LD_PRELOAD"], *others]))
print(subprocess.run([program], stdout=subprocess.PIPE), flush=True)
print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn(program, ["x"], mine), 0)[1]), flush=True)
print(subprocess.call(["sh", "-c", "$0; exec $0", program], env=mine), flush=True)
if not os.fork():
    os.execve(program, ["x"], mine)
os.wait()
"""


def test_of_another_c_library(tprof):
    """musl's loader would end at libtprof.so, which it can't link. What else is preloaded is kept."""
    if not shutil.which("musl-gcc"):
        pytest.skip("no musl-gcc")
    folder = tprof.directory
    (folder / "program.c").write_text(MUSL)
    (folder / "other.c").write_text("int preloaded(void) { return 42; }\n")
    (folder / "starts.py").write_text(STARTS)
    subprocess.run(["musl-gcc", "-o", folder / "program", folder / "program.c"], check=True)
    subprocess.run(["musl-gcc", "-shared", "-fPIC", "-nostdlib", "-o", folder / "other.so", folder / "other.c"], check=True)
    other = str(folder / "other.so")
    run = tprof.run([PYTHON, folder / "starts.py", folder / "program", other], [LIBRARY])
    assert (run.status, run.stderr) == (0, b"")
    lines = run.stdout.decode().splitlines()
    kept = f"{other}:{other} 42"
    assert "returncode=3, stdout=b'- 0\\n'" in lines[0] and lines[1:] == [kept, "3", kept, kept, "3", kept]
    said = [line for trace in run.traces() for line in analyze("info", trace).stdout.splitlines() if re.search(r"started \S*program ", line)]
    assert said and all("not recorded: it is of another C library than glibc" in line for line in said)


def test_not_where_the_user_forbids_it(tprof):
    run = tprof.run(["sh", "-c", "env -i A=1 /usr/bin/env"], [LIBRARY], env={"TPROF_CHILDREN": "0"})
    assert run.stdout == b"A=1\n"
    (trace,) = run.traces()
    (note,) = report(trace)["run"]["not_recorded"]
    assert note["reason"] == "TPROF_CHILDREN=0"


def test_exec_that_fails(tprof):
    run, summary = tprof.summary([WORKLOADS / "starts", "failing", "x", "1"])
    assert (run.status, summary["process"]["end"], summary["run"]["not_recorded"]) == (0, "exit", [])


STATIC = "int main(void) { return 0; }\n"


def build(directory, name, *options):
    source = directory / f"{name}.c"
    source.write_text(STATIC)
    done = subprocess.run(["gcc", "-o", directory / name, source, *options], stderr=subprocess.PIPE, check=False)
    if done.returncode:
        pytest.skip(f"gcc {options}: {done.stderr.decode(errors='replace')[:80]}")
    return directory / name


@pytest.mark.parametrize("how", ["fork-execve", "vfork-execve", "spawn", "execve"])
def test_what_can_not_be_recorded(tprof, tmp_path, how):
    static = build(tmp_path, "plain", "-static")
    run = tprof.run([WORKLOADS / "starts", how, static, "1"], [LIBRARY])
    assert (run.status, run.stderr) == (0, b"")
    (trace,) = run.traces()
    summary = report(trace)
    (note,) = summary["run"]["not_recorded"]
    assert note["name"].endswith("plain") and note["reason"] == "it is linked statically" and note["count"] == 1
    assert (note["how"] == "exec") == (how == "execve")
    assert summary["process"]["end"] == ("exec" if how == "execve" else "exit")
    for command in ("summary", "info"):
        text = analyze(command, trace).stdout
        assert re.search(r"(started|replaced by) .*plain.*, not recorded: it is linked statically; to record it, link it dynamically\n", text)
        assert "no trace beside this one" not in text
    shutil.move(trace, tmp_path / "moved.bin")
    assert report(tmp_path / "moved.bin")["run"]["not_recorded"] == [{**note, "advice": "link it dynamically"}]


def test_what_the_launcher_says(tprof, tmp_path):
    """Also where the program that started it is not the largest of the run."""
    static = build(tmp_path, "plain", "-static")
    run = tprof.run([LAUNCHER, "run", "-o", "x.bin", "sh", "-c", f"{static}; {static}; {P} 100000"])
    (line,) = re.findall(r"^tprof: not recorded: (.*)$", run.stderr.decode(), re.M)
    assert line.endswith("plain: it is linked statically; and 1 more")
    text = analyze(*run.directory.glob("*.bin")).stdout
    assert text.startswith("steady ")
    assert len(re.findall(r"^started .*plain \(pid \d+\) and 1 more, not recorded: it is linked statically;", text, re.M)) == 1
    run = tprof.run([LAUNCHER, "run", "-o", "x.bin", "sh", "-c", f"{P} 3"])
    assert run.status == 0 and b"not recorded" not in run.stderr


def test_a_fork_with_a_trace_becomes_one_without(tprof, tmp_path):
    """The fork's trace says what replaced it, and its parent's what was started."""
    static = build(tmp_path, "plain", "-static")
    code = f"import os; pid = os.fork(); pid or [bytearray(i) for i in range(9999)] and os.execl({str(static)!r}, 'x'); print(pid); os.wait()"
    run = tprof.run([PYTHON, "-c", code], [LIBRARY])
    pid, answers = int(run.stdout), {report(trace)["process"]["pid"]: report(trace)["run"]["not_recorded"] for trace in run.traces()}
    assert len(answers) == 2 and [note["how"] for note in answers.pop(pid)] == ["exec"]
    ((note,),) = answers.values()
    assert (note["how"], note["pid"], note["reason"]) == ("start", pid, "it is linked statically")
    assert f"plain (pid {pid}), not recorded: it is linked statically" in analyze(run.directory / "trace.bin").stdout


UNKNOWN = "replaced by a program that has no trace beside this one\n"


def test_a_replacement_without_a_trace(tprof):
    """One that the user does not want, or whose trace is gone."""
    run = tprof.run(["sh", "-c", f"exec {P} 3"], [LIBRARY], {"TPROF_EXE": "sh"})
    (trace,) = run.traces()
    assert UNKNOWN in analyze(trace).stdout and report(trace)["run"]["not_recorded"] == []
    run = tprof.run(["sh", "-c", f"exec {P} 3"], [LIBRARY])
    for command in ("summary", "info"):
        assert all(UNKNOWN not in analyze(command, trace).stdout for trace in run.traces())
    (other,) = [trace for trace in run.traces() if report(trace)["process"]["name"] == "steady"]
    other.unlink()
    assert UNKNOWN in analyze(*run.traces()).stdout


def test_many_that_can_not_be_recorded(tprof, tmp_path):
    static = build(tmp_path, "plain", "-static")
    others = []
    for i in range(14):
        others.append(str(shutil.copy(static, tmp_path / f"other{i}")))
    script = "; ".join([f"{static}; {static}", *others, "true"])
    run = tprof.run(["sh", "-c", script], [LIBRARY])
    (trace,) = [t for t in run.traces() if t.name == "trace.bin"]
    answer = report(trace)["run"]
    assert answer["not_recorded"][0]["count"] == 2
    assert len(answer["not_recorded"]) == 12 and answer["not_recorded_more"] == 3


def test_a_set_user_id_program(tprof, tmp_path):
    if os.geteuid():
        pytest.skip("only root makes one of another user")
    program = build(tmp_path, "rights")
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    run = tprof.run(["sh", "-c", f"env -i {program}; true"], [LIBRARY])
    notes = [note for trace in run.traces() for note in report(trace)["run"]["not_recorded"]]
    assert [note["reason"] for note in notes] == ["it is set-user-ID, set-group-ID or has capabilities"]


RIGHTS = r"""
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
	posix_spawnattr_t attributes;
	char *arguments[] = { argv[2], NULL };
	pid_t pid;
	if (argc == 1)
		return printf("%d\n", (int)getauxval(AT_SECURE)) != 2;
	if (strstr(argv[1], "nnp"))
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if ((strstr(argv[1], "egid") && setegid(1234)) || (strstr(argv[1], "euid") && seteuid(65534)) ||
	    (strstr(argv[1], "user") && setresuid(65534, 65534, 65534)))
		return 77;
	if (strstr(argv[1], "spawn")) {
		posix_spawnattr_init(&attributes);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_RESETIDS);
		return posix_spawn(&pid, argv[2], NULL, &attributes, arguments, environ) || wait(NULL) != pid;
	}
	execv(argv[2], arguments);
	return 1;
}
"""

STATES = ["none", "nnp", "user", "euid", "egid", "nnp,euid", "euid,spawn", "egid,spawn"]
KINDS = ["plain", "user", "root", "group", "capable", "no-suid"]
CLOSED = "the directory of its trace is not there, or closed to its user"
NOT_SAID = ("root", "euid")  # the effective user becomes the real one: kernels differ
PRIVILEGED, IDS = ("it is set-user-ID, set-group-ID or has capabilities", "its effective user or group was not the real one")


def program_of_kind(kind, directory):
    program = directory / kind
    subprocess.run(["gcc", "-x", "c", "-o", program, "-"], input=RIGHTS.encode(), check=True)
    os.chown(program, *{"user": (1000, 0), "group": (0, 1000), "no-suid": (1000, 1000)}.get(kind, (0, 0)))
    program.chmod({"user": 0o4755, "root": 0o4755, "group": 0o2755, "no-suid": 0o6755}.get(kind, 0o755))
    if kind == "capable" and (not shutil.which("setcap") or
                              subprocess.run(["setcap", "cap_net_raw+ep", program], check=False).returncode):
        pytest.skip("setcap can't be used here")
    return program


@pytest.mark.parametrize("kind", KINDS)
def test_the_loader_ignores_the_collector(tprof, kind):
    """The kernel tells the started program whether it does (AT_SECURE): then there is a note, and no other is there."""
    if os.geteuid():
        pytest.skip("only root makes programs of other users")
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        if kind == "no-suid" and subprocess.run(["mount", "-t", "tmpfs", "-o", "nosuid,mode=777", "none", name], check=False).returncode:
            pytest.skip("mount can't be used here")
        try:
            program = program_of_kind(kind, pathlib.Path(name))
            for state in STATES:
                output = pathlib.Path(name) / f"traces of {state}"
                output.mkdir()
                output.chmod(0o777)
                run = tprof.run([program if kind == "plain" else program_of_kind("plain", pathlib.Path(name)), state, program],
                                [LIBRARY], {"TPROF_OUTPUT": f"{output}/x.bin"})
                assert (run.status, run.stderr) == (0, b"")
                traces = [path for path in output.iterdir() if report(path)["process"]["end"] == "exec" or "spawn" in state]
                notes = [note["reason"] for path in traces for note in report(path)["run"]["not_recorded"]]
                secure = run.stdout == b"1\n"
                assert len(notes) == secure - (secure and (kind, state) == NOT_SAID) and set(notes) <= {PRIVILEGED, IDS}, state
                assert len(list(output.iterdir())) == 2 - secure, state
                if kind == "plain" and secure:
                    assert notes == [IDS] and "not recorded: " + IDS in analyze(*traces).stdout
        finally:
            if kind == "no-suid":
                subprocess.run(["umount", name], check=False)


@pytest.mark.parametrize("where", ["closed", "open", "missing", "elsewhere"])
@pytest.mark.parametrize("state", ["none", "user", "user,spawn"])
def test_a_directory_that_is_closed_to_the_user(tprof, where, state):
    if os.geteuid():
        pytest.skip("only root can give up root")
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        output = pathlib.Path(name) / "traces"
        output.mkdir()
        output.chmod(0o755 if where == "closed" else 0o777)
        program = program_of_kind("plain", pathlib.Path(name))
        script = {"missing": f"mv {output} {output}.moved; ", "elsewhere": f"export TPROF_OUTPUT={name}/%e.bin; "}.get(where, "")
        run = tprof.run(["sh", "-c", f"{script}exec {program} {state} {program}"], [LIBRARY], {"TPROF_OUTPUT": f"{output}/x.bin"})
        assert (run.status, run.stdout) == (0, b"0\n")
        reports = [report(path) for path in pathlib.Path(name).glob("**/*.bin")]
        notes = [(note["how"], note["reason"]) for answer in reports for note in answer["run"]["not_recorded"]]
        if where == "missing":  # mv and the shell have traces; what comes then has none to say more
            assert len(reports) == 2 and notes == [("exec", CLOSED)]
        elif where == "closed" and state != "none":
            assert len(reports) == 2 and notes == [("start" if "spawn" in state else "exec", CLOSED)]
            assert run.stderr.count(b"permission denied") == 1
        else:
            assert len(reports) == 3 and notes == []


def test_a_script_of_a_static_interpreter(tprof, tmp_path):
    static = build(tmp_path, "plain", "-static")
    script = tmp_path / "script"
    script.write_text(f"#!{static} -x\n")
    script.chmod(0o755)
    run = tprof.run([WORKLOADS / "starts", "fork-execve", script, "1"], [LIBRARY])
    (note,) = report(*run.traces())["run"]["not_recorded"]
    assert (note["name"][-6:], note["reason"]) == ("script", "it is linked statically")


def elf32(directory):
    """A program of i386 that ends with status 0: mov $1, %eax; xor %ebx, %ebx; int $0x80."""
    code = b"\xb8\x01\0\0\0\x31\xdb\xcd\x80"
    base, size = 0x8048000, 52 + 32 + len(code)
    head = struct.pack("<4s12B2H5I6H", b"\x7fELF", 1, 1, 1, *[0] * 9, 2, 3, 1, base + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    program = directory / "i386"
    program.write_bytes(head + struct.pack("<8I", 1, 0, base, base, size, size, 5, 4096) + code)
    program.chmod(0o755)
    return program


def test_a_program_of_another_machine(tprof, tmp_path):
    program = elf32(tmp_path)
    try:
        subprocess.run([program], check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this kernel runs no programs of i386")
    run = tprof.run([WORKLOADS / "starts", "fork-execve", program, "1"], [LIBRARY])
    (note,) = report(*run.traces())["run"]["not_recorded"]
    assert (note["count"], note["reason"]) == (1, "it is not of x86-64")


SHELL = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
static int by_popen(const char *command)
{
	FILE *stream = popen(command, "r");
	return !stream || pclose(stream);
}
int main(int argc, char **argv)
{
	struct rlimit none = { 0, 0 };
	int failed = system(":") || by_popen(": again");
	if (argc > 1) {
		unsetenv("LD_PRELOAD");
		failed |= system(argv[1]) || system(argv[1]) || by_popen(": three\n: lines\033[1m\n:");
		setrlimit(RLIMIT_NOFILE, &none);
		failed |= popen(": never", "r") != NULL;
	}
	return failed;
}
"""


def test_commands_without_the_collector(tprof, tmp_path):
    """system() and popen() pass on the environment as it is, and a command that was not started is not named."""
    subprocess.run(["gcc", "-x", "c", "-o", tmp_path / "shell", "-"], input=SHELL.encode(), check=True)
    reason = "system() or popen() started it without libtprof.so in LD_PRELOAD"
    run = tprof.run([tmp_path / "shell"], [LIBRARY])
    assert run.status == 0 and len(run.traces()) == 3
    assert [note for trace in run.traces() for note in report(trace)["run"]["not_recorded"]] == []
    run = tprof.run([tmp_path / "shell", ": once"], [LIBRARY])
    assert (run.status, run.stderr, len(run.traces())) == (0, b"", 3)
    (trace,) = [trace for trace in run.traces() if report(trace)["process"]["name"] == "shell"]
    notes = report(trace)["run"]["not_recorded"]
    assert [(note["name"], note["count"]) for note in notes] == [(": once", 2), (": three : lines [1m :", 1)]
    assert all((note["pid"], note["how"], note["reason"]) == (None, "start", reason) for note in notes)
    assert all(note["advice"] == "leave that in the environment" for note in notes)
    assert f"started : once and 1 more, not recorded: {reason}; to record it, leave that in the environment\n" in analyze(trace).stdout
    run = tprof.run([tmp_path / "shell"], [LIBRARY], {"TPROF_CHILDREN": "0"})
    (trace,) = run.traces()
    assert [(note["name"], note["reason"]) for note in report(trace)["run"]["not_recorded"]] == [
        (":", "TPROF_CHILDREN=0"), (": again", "TPROF_CHILDREN=0")]


def test_a_fork_that_can_not_write(tprof, tmp_path):
    if os.geteuid():
        pytest.skip("only root may chroot")
    source = tmp_path / "chrooted.c"
    source.write_text("""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc > 1 && !fork()) {
		if (chroot(argv[1]) || chdir("/") || close_range(3, ~0U, 0))
			_exit(3);
		for (int i = 0; i < 100; i++) {
			void *volatile p = malloc(1000);
			(void)p;
		}
		_exit(0);
	}
	int status;
	wait(&status);
	return status != 0;
}
""")
    subprocess.run(["gcc", "-o", tmp_path / "chrooted", source], check=True)
    (tmp_path / "empty").mkdir()
    run = tprof.run([tmp_path / "chrooted", tmp_path / "empty"], [LIBRARY])
    assert run.status == 0
    (trace,) = run.traces()
    (note,) = report(trace)["run"]["not_recorded"]
    assert note["how"] == "fork" and note["reason"] == "its trace could not be written: no such directory after chroot"
    assert "not recorded: its trace could not be written: no such directory after chroot" in analyze(trace).stdout


def test_a_wrapper_names_the_program(tprof):
    run = tprof.run([LAUNCHER, "run", "-o", "x.bin", "timeout", "20", P, "5"])
    assert run.status == 0
    (child,) = run.directory.glob("x.[0-9]*-2.bin")  # of a fork of timeout's, which has one too
    text = analyze(run.directory / "x.bin").stdout
    assert re.search(rf"started steady \(pid \d+\): see {re.escape(str(child))}", text)
    text = analyze(child).stdout
    assert re.search(rf"also of this run: .*{re.escape(str(run.directory))}/x.bin \(timeout\)", text)


def test_names_of_a_program(tprof, tmp_path):
    """A link, a script, argv[0], and what they lead to."""
    link = tmp_path / "linked"
    link.symlink_to(P)
    script = tmp_path / "scripted"
    script.write_text("#!/bin/sh\ntrue\n")
    script.chmod(0o755)
    for glob, command, name in (("linked", [link, "3"], "linked"), ("steady", [link, "3"], "linked"),
                                ("scripted", [script], "scripted"),
                                ("assumed", ["bash", "-c", f"exec -a assumed {P} 3"], "steady")):
        run = tprof.run(command, [LIBRARY], env={"TPROF_EXE": glob})
        (trace,) = run.traces()
        process = report(trace)["process"]
        assert process["name"] == name
        assert os.path.basename(process["started_as"]) == name
    run = tprof.run([link, "3"], [LIBRARY])
    assert analyze(*run.traces()).stdout.startswith(f"linked (pid {report(*run.traces())['process']['pid']}, executable steady): ")


def test_a_name_that_matches_nothing(tprof):
    run = tprof.run([LAUNCHER, "run", "--exe", "nosuch*", "true"])
    assert run.status == 0 and run.traces() == []
    assert b"no program of this run has a name that matches --exe 'nosuch*'" in run.stderr
