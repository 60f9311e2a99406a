# SPDX-License-Identifier: Apache-2.0
"""Who gets the name trace.bin: no live run's trace and no file of the user's is ever lost to another process."""
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from conftest import LIBRARY, report

ENV = {**os.environ, "LD_PRELOAD": str(LIBRARY)}


def start(command, directory, stdin=None, stdout=subprocess.DEVNULL):
    return subprocess.Popen(command, cwd=directory, env=ENV, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)


def traces(directory):
    return sorted(p.name for p in directory.iterdir())


@pytest.mark.parametrize("old", [False, True])
def test_two_that_start_at_once(tmp_path, old):
    for turn in range(25):
        directory = tmp_path / str(turn)
        directory.mkdir()
        if old:
            assert start(["true"], directory).wait() == 0
            hour_ago = time.time() - 3600
            os.utime(directory / "trace.bin", (hour_ago, hour_ago))
            time.sleep(0.03)  # a run that begins within two ticks of an old one's end may be taken for a part of it
        both = [start(["cat"], directory, subprocess.PIPE, subprocess.PIPE) for _ in range(2)]
        for process in both:  # neither ends before both have begun
            process.stdin.write(b"x")
            process.stdin.flush()
            assert process.stdout.read(1) == b"x"
        for process in both:
            assert process.communicate() == (b"", b"") and process.returncode == 0
        names = traces(directory)
        if old:  # kept, once
            names.remove("trace.bin.old")
        assert len(names) == 2 and "trace.bin" in names and not any(n.endswith((".new", ".old")) for n in names), names


def test_an_empty_file_is_the_users(tmp_path):
    (tmp_path / "trace.bin").touch()
    inode = (tmp_path / "trace.bin").stat().st_ino
    process = start(["true"], tmp_path)
    assert process.wait() == 0 and b"no trace" in process.stderr.read()
    assert traces(tmp_path) == ["trace.bin"] and (tmp_path / "trace.bin").stat().st_ino == inode


def test_a_live_run_in_another_pid_namespace(tmp_path):
    unshare = ["unshare", "-Urpf", "--mount-proc"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no pid namespaces here")
    live = start(["sleep", "600"], tmp_path)
    try:
        while not (tmp_path / "trace.bin").exists():
            time.sleep(0.01)
        inode = (tmp_path / "trace.bin").stat().st_ino
        subprocess.run([*unshare, "env", f"LD_PRELOAD={LIBRARY}", "true"], cwd=tmp_path, check=True)
        assert (tmp_path / "trace.bin").stat().st_ino == inode
        assert len(traces(tmp_path)) == 2
    finally:
        live.kill()
        live.wait()


def test_a_run_whose_first_process_is_over(tmp_path):
    script = "exec 3<&0; (read line <&3; ls >/dev/null; ls >/dev/null; ls >/dev/null) & exit 0"
    run = start(["sh", "-c", script], tmp_path, subprocess.PIPE)
    assert run.wait() == 0
    first = (tmp_path / "trace.bin").stat().st_ino
    run.stdin.write(b"go\n")
    run.stdin.close()
    deadline = time.monotonic() + 60
    while len(traces(tmp_path)) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(traces(tmp_path)) >= 4
    assert (tmp_path / "trace.bin").stat().st_ino == first


def test_programs_by_their_names(tmp_path):
    """Those that a recorded program starts one after the other are of its run: none takes the other's name."""
    subprocess.run(["sh", "-c", "ls; ls; (ls; ls); true"], cwd=tmp_path, env={**ENV, "TPROF_OUTPUT": "%e.bin"},
                   stdout=subprocess.DEVNULL, check=True, timeout=20)
    listed = list(tmp_path.glob("ls*.bin"))
    assert len(listed) == 4 and {report(path)["process"]["end"] for path in listed} == {"exit"}
    subprocess.run(["ls"], cwd=tmp_path, env={**ENV, "TPROF_OUTPUT": "%e.bin"}, stdout=subprocess.DEVNULL, check=True)
    assert (tmp_path / "ls.bin").exists() and len(list(tmp_path.glob("ls*.bin"))) == 5


AS_NOBODY = "setpriv --reuid=65534 --clear-groups "


@pytest.mark.parametrize("umask, recorded", [(0o022, True), (0o077, False)])
def test_a_run_that_gives_up_its_user(umask, recorded):
    """Its traces so far are another's: that they are traces can be read, and if not, the line says why."""
    if os.geteuid() != 0 or not shutil.which("setpriv") or os.system(f"{AS_NOBODY} test -r '{LIBRARY}'"):
        pytest.skip("needs root, setpriv, and a library that all may read")
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        run = subprocess.run(["sh", "-c", AS_NOBODY + "sh -c 'exit 3'; exit $?"], cwd=name, env=ENV, umask=umask,
                             capture_output=True, check=False, timeout=20)
        assert (run.returncode, run.stdout) == (3, b"")
        denied = f"tprof: {name}/trace.bin: permission denied; nothing is recorded\n"
        assert run.stderr.decode() == ("" if recorded else denied)
        owners = [path.stat().st_uid for path in Path(name).iterdir()]
        assert sorted(owners) == [0, 0] + [65534] * recorded  # the shell, setpriv, and the shell that it becomes
        assert all(report(path)["capture"]["damage"] == [] for path in Path(name).iterdir())
