# SPDX-License-Identifier: Apache-2.0
"""The differential mode: in libtprof-verify.so every walk is compared with libunwind's, frame by frame. Its last line on
stderr tells how many walks there were and how many differed. The programs note no stacks themselves, so that libunwind
is only ever entered from the walks."""
import re
import subprocess

import pytest
from conftest import BUILD, PYTHON, ROOT, WORKLOADS, build_libtorch, has_greenlet, report

VERIFY = BUILD / "lib/libtprof-verify.so"
PROGRAMS = WORKLOADS / "verify"
LEVELS = ("O0", "O1", "O2", "O3")
VARIANTS = [f"{compiler}-{level}-{pointer}" for compiler in ("gcc", "clang") for level in LEVELS
            for pointer in ("fp", "nofp")]
SUMMARY = re.compile(rb"tprof-verify: walks (\d+) interrupted (\d+) early (\d+) astray (\d+) guessed (\d+) different (\d+)\n")


def verified(tprof, command, env=None, timeout=120, walks=1, interrupted=0, early=0.0, guessed=0.1):
    """Runs a command under the verifying library; every process's walks are libunwind's. Returns the run, with how many
    `walks` of allocations were compared, and how many of samples. Of these a share of `early` at most may end, and say so,
    in a frame that no rule leads out of: assembly without rules or with wrong ones. libunwind guesses there; a share of
    `guessed` at most, or four, may end in what is no code, where tprof's walk goes on to the end. Of a few more it goes there
    astray, by wrong rules."""
    bare = tprof.run(command, env=env, timeout=timeout)
    run = tprof.run(command, [VERIFY], env, timeout=timeout)
    counts = [tuple(map(int, numbers)) for numbers in SUMMARY.findall(run.stderr)]
    assert counts, run.stderr[-2000:]
    assert sum(different for *_, different in counts) == 0, run.stderr[-8000:].decode(errors="replace")
    assert max(n for n, *_ in counts) >= walks, counts
    assert (run.status, run.stdout) == (bare.status, bare.stdout)
    run.walks = sum(n for n, *_ in counts)
    run.interrupted = sum(n for _, n, *_ in counts)
    assert run.interrupted >= interrupted, counts
    run.early, astray, run.guessed = (sum(count[i] for count in counts) for i in (2, 3, 4))
    assert run.early <= early * run.interrupted, run.stderr[-2000:]
    assert astray <= max(4, 0.02 * run.interrupted), counts
    assert astray + run.guessed <= max(4, guessed * run.interrupted), counts
    return run


def test_assertions_are_in_it_alone():
    """A failed assertion ends the process: what users preload has none (preload/core/assert.h)."""
    def has_assertions(library):
        return "tpc_assert_failed" in subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout

    assert has_assertions(VERIFY)
    assert not has_assertions(BUILD / "lib/libtprof.so")


@pytest.mark.parametrize("variant", VARIANTS)
def test_kinds_of_frames(tprof, variant):
    """alloca, VLAs, realigned stacks, callbacks, signals on either stack, faults, coroutines."""
    verified(tprof, [PROGRAMS / f"stack-{variant}"], walks=55)


@pytest.mark.parametrize("variant", VARIANTS)
def test_exceptions_in_flight(tprof, variant):
    verified(tprof, [PROGRAMS / f"exceptions-{variant}"], walks=60)


@pytest.mark.parametrize("variant", VARIANTS)
def test_stacks_that_share_their_outer_part(tprof, variant):
    """What is remembered of earlier stacks never passes for a stack that differs from them anywhere."""
    verified(tprof, [PROGRAMS / f"tree-{variant}", 3000], walks=10000)


@pytest.mark.parametrize("level", ("O0", "O2", "O3"))
def test_openmp(tprof, level):
    verified(tprof, [PROGRAMS / f"openmp-gcc-{level}"], walks=2500)


@pytest.mark.parametrize("command,walks", [
    (["deep", 1000], 1), (["threads", 3], 100), (["fork", "fork"], 20), (["fork", "threads"], 20),
    (["dl", "reuse", WORKLOADS], 20), (["dl", "origin", WORKLOADS], 15), (["early"], 10),
    (["digits", ROOT / "tests/workloads/data/digits.csv"], 20), (["truth", 4, 3000, 1], 5000),
    (["truth_cxx", 4500, 1], 2000), (["shared_arena", 3000], 3000)])
def test_workloads(tprof, command, walks):
    run = verified(tprof, [WORKLOADS / command[0], *command[1:]], walks=walks)
    if len(run.traces()) == 1:  # no allocation and no mapping went uncompared
        heap = report(run.traces()[0])["heap"]
        assert run.walks == heap["allocations"] + heap["maps"]


SAMPLED = {"TPROF_CPU": "5000"}  # on a busy machine signals come late, and few


@pytest.mark.parametrize("variant", VARIANTS)
def test_interrupted_at_any_instruction(tprof, variant):
    """Samples begin where no call does: in prologues, in stubs of the PLT, in libc's assembly, in the vDSO."""
    verified(tprof, [PROGRAMS / f"anywhere-{variant}", 300], SAMPLED, walks=0, interrupted=1)


@pytest.mark.parametrize("variant", ("gcc-O0-fp", "gcc-O2-nofp", "clang-O2-nofp"))
def test_the_frame_is_told_by_any_register(tprof, variant):
    """As in ld.so's lazy binder, in OpenSSL's assembly, in the prologues of realigned stacks; of allocations also, whose
    callers' registers are where the callees saved them."""
    verified(tprof, [PROGRAMS / f"by_register-{variant}", 500], SAMPLED, walks=1000, interrupted=10)


@pytest.mark.parametrize("kernel", ("near", "far", "strange"))
def test_assembly_without_rules(tprof, kernel):
    """As kernels of OpenBLAS are: libunwind follows rbp, past the caller, or gives up where the frame is large; tprof reads the kernel's
    code. Nobody finds the way where rbp is none, and the code keeps it in another register."""
    run = verified(tprof, [PROGRAMS / "no_rules-gcc-O2-fp", kernel, 500], SAMPLED, walks=0, interrupted=10,
                   early=1 if kernel == "strange" else 0, guessed=1)
    assert (run.guessed > 0, run.early > 0) == (kernel != "strange", kernel == "strange")


def test_deeper_than_what_is_kept(tprof):
    verified(tprof, [WORKLOADS / "deep", 3000], walks=1)


@pytest.mark.parametrize("command,interrupted", [
    (["cpu_split", 500], 1), (["cpu_traps", "threads"], 1), (["cpu_traps", "calls"], 1), (["cpu_traps", "exec", 20], 0),
    (["shared_arena", 60000], 0), (["digits", ROOT / "tests/workloads/data/digits.csv"], 0)])
def test_interrupted_walks(tprof, command, interrupted):
    verified(tprof, [WORKLOADS / command[0], *command[1:]], SAMPLED, walks=0, interrupted=interrupted, early=0.1)


def test_a_greenlet_goes_on_elsewhere(tprof):
    """In the middle of a hooked call: what is outside of it is not what it was."""
    if not has_greenlet(PYTHON):
        pytest.skip("python3-greenlet is not installed")
    run = verified(tprof, [PYTHON, ROOT / "tests/workloads/python_greenlet_calls.py", WORKLOADS / "libbetween.so"],
                   env={"TPROF_OPS": "between", "TPROF_CPU": "0"}, walks=400)
    calls = [(op["name"], op["calls"]) for op in report(run.traces()[0])["ops"]]
    assert calls == [("between", 199)]  # the last one goes on no more


@pytest.mark.real
@pytest.mark.parametrize("program,walks", [("torch_train.py", 500000), ("sklearn_fit.py", 50000)])
def test_python_programs(tprof, program, walks):
    verified(tprof, [PYTHON, ROOT / "tests/workloads" / program], timeout=900, walks=walks, interrupted=20, early=0.05)


@pytest.mark.real
def test_numpy(tprof):
    program = ("import numpy; a = numpy.random.default_rng(1).random((300, 300)); "
               "u, s, v = numpy.linalg.svd(a @ a.T); print(len(s), sorted(map(str, range(2000)))[-1])")
    verified(tprof, [PYTHON, "-c", program], SAMPLED, timeout=600, walks=10000, early=0.1)


@pytest.mark.real
def test_libtorch_without_python(tprof):
    verified(tprof, [build_libtorch(tprof.directory), 40], timeout=600, walks=500000, early=0.2)
