# SPDX-License-Identifier: Apache-2.0
"""The program does not notice: signals, descriptors, standard streams, names."""
import os
import resource
import subprocess

import pytest
from conftest import LIBRARY, PYTHON, WORKLOADS


@pytest.mark.parametrize("env", [{}, {"TPROF_CPU": "1000"}])
def test_no_system_call_is_cut_short(tprof, env):
    run = tprof.profile([WORKLOADS / "interrupts", 300], env=env)
    assert run.stdout == b"interrupts: 0 early, SIGPROF default\n"


@pytest.mark.parametrize("script", [
    "exec 2>&-; exec {0}/steady 1000", "exec 1>&-; {0}/steady 1000; true", "exec 0<&- 1>&- 2>&-; {0}/ends _exit",
    "{0}/steady 1000 | true", "ulimit -s 256; {0}/truth 1 1000 1", "cd /; {0}/steady 5; pwd", "echo $$ >/dev/null; kill -l",
    "exec -a another_name {0}/steady 5", "umask 777; {0}/steady 5"])
def test_shells(tprof, script):
    """profile() compares stdout, stderr and status with those of a bare run."""
    output = str(tprof.directory / "trace.%p.bin")
    run = tprof.profile(["/bin/bash", "-c", script.format(WORKLOADS)], env={"TPROF_OUTPUT": output})
    assert b"tprof" not in run.stderr


def test_descriptors_and_signals(tprof):
    """The descriptors that a program gets, the signals it has handlers for and blocks, its threads."""
    script = """if True:
        import os, signal, threading
        print(os.open("/dev/null", 0), os.open("/dev/null", 0), threading.active_count())
        print([n for n in range(1, 65) if n not in (32, 33) and signal.getsignal(n) not in (signal.SIG_DFL, None)])
        print(signal.pthread_sigmask(signal.SIG_BLOCK, []), len(os.listdir("/proc/self/task")))
    """
    run = tprof.profile([PYTHON, "-c", script])
    assert run.stdout.startswith(b"3 4 1\n")


def test_no_frame_in_a_free(tprof):
    """Whoever looks at the stack of a crash in free() finds the program, as without tprof: the hook jumped there."""
    run = tprof.profile([WORKLOADS / "free_faults"])
    assert run.stdout == b"called by the program: yes\n"


def test_standard_input_passes(tprof):
    command = ["/bin/sh", "-c", "head -c 3; cat | tr a-z A-Z"]
    for preload in ((), (LIBRARY,)):
        with subprocess.Popen(["/bin/echo", "hello there"], stdout=subprocess.PIPE) as source:
            run = tprof.run(command, preload, stdin=source.stdout)
        assert (run.status, run.stderr) == (0, b"")
        assert run.stdout.startswith(b"hel")


TALKATIVE = [{"TPROF_VERBOSE": "2"}, {"TPROF_DEPTH": "x"}, {"TPROF_OUTPUT": "/no/such/directory/t.bin"}]


def with_stderr(tprof, stderr, env):
    """A traced program with that as its standard error."""
    return subprocess.run([WORKLOADS / "steady", "1000"], cwd=tprof.directory, stdout=subprocess.PIPE, stderr=stderr,
                          env={"LD_PRELOAD": str(LIBRARY), **env}, timeout=20, check=False)


@pytest.mark.parametrize("env", TALKATIVE)
def test_nobody_reads_stderr(tprof, env):
    """A line of tprof's would be a SIGPIPE in a program that writes none itself."""
    reader, writer = os.pipe()
    os.close(reader)
    done = with_stderr(tprof, writer, env)
    os.close(writer)
    assert (done.returncode, done.stdout) == (0, b"steady: done\n")


@pytest.mark.parametrize("env", TALKATIVE)
def test_stderr_is_a_full_pipe(tprof, env):
    """Nobody empties it: a line of tprof's is left out, and the program does not wait."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, bytes(4096))
    except BlockingIOError:
        pass
    os.set_blocking(writer, True)
    done = with_stderr(tprof, writer, env)
    os.close(reader)
    os.close(writer)
    assert (done.returncode, done.stdout) == (0, b"steady: done\n")


@pytest.mark.parametrize("size, lines", [(0, 0), (100, 0), (1000, 1)])
def test_stderr_is_a_file_at_its_limit(tprof, size, lines):
    """A line that does not fit by RLIMIT_FSIZE would be a SIGXFSZ."""
    written = tprof.directory / "stderr"
    with open(written, "wb") as stderr:
        stderr.write(b"bare\n" * 15 if size else b"")
        stderr.flush()
        done = subprocess.run([WORKLOADS / "steady", "1000"], cwd=tprof.directory, stdout=subprocess.PIPE, stderr=stderr,
                              env={"LD_PRELOAD": str(LIBRARY)}, timeout=20, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    assert (done.returncode, done.stdout) == (0, b"steady: done\n")
    assert written.read_bytes().count(b"tprof: ") == lines


def test_errno_of_what_is_too_large(tprof):
    """count * size that is more than there is: the call fails as libc's own does, with the same errno."""
    script = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name in ("calloc", "reallocarray"):
    call = getattr(libc, name)
    call.restype, call.argtypes = ctypes.c_void_p, [ctypes.c_size_t] * (2 if name == "calloc" else 3)
    ctypes.set_errno(0)
    print(name, call(*[0] * (len(call.argtypes) - 2), 1 << 62, 8), ctypes.get_errno())
"""
    bare = tprof.run([PYTHON, "-I", "-c", script])
    run = tprof.run([PYTHON, "-I", "-c", script], [LIBRARY])
    assert bare.stdout == b"calloc None 12\nreallocarray None 12\n"
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
