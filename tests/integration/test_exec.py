# SPDX-License-Identifier: Apache-2.0
"""Programs that programs start: recorded whatever environment they are given, or named with the reason why they are not."""
import os
import re
import shutil
import subprocess

import pytest
from conftest import LAUNCHER, LIBRARY, WORKLOADS, analyze, nothing_lost, report

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
        assert re.search(r"(started|replaced by) .*plain.*, not recorded: it is linked statically", text)


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
