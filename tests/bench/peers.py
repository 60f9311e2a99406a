# SPDX-License-Identifier: Apache-2.0
"""How a command is run under tprof and under each peer that is installed."""
import functools
import glob
import os
import shutil
import subprocess
import tempfile

HEAPTRACK_HOOK = "/usr/lib/heaptrack/libheaptrack_preload.so"


def tcmalloc():
    found = glob.glob("/usr/lib/*/libtcmalloc.so.4")
    return found[0] if found else None


@functools.cache
def uftrace_runs():
    """Where its tracing is forbidden, it ends the program."""
    if not shutil.which("uftrace"):
        return False
    with tempfile.TemporaryDirectory() as directory:
        return subprocess.run(["uftrace", "record", "--force", "-d", f"{directory}/uftrace", "true"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def installed():
    """Peer -> is it here, and does it run?"""
    return {"heaptrack": shutil.which("heaptrack") is not None and os.path.exists(HEAPTRACK_HOOK),
            "gperftools": tcmalloc() is not None, "uftrace": uftrace_runs()}


def bare(command):
    return command, {}


def tprof(build, command, **extra):
    return command, {"LD_PRELOAD": f"{build}/lib/libtprof.so", "TPROF_OUTPUT": "@/trace.bin", **extra}


def through(command):
    """Hooks of malloc and free that do nothing but call libc's: what any of these tools pays at least."""
    return command, {"LD_PRELOAD": os.path.abspath("build/bench/libthrough.so")}


def tracer(command, patched=None):
    """uftrace, which records calls between objects, as its users run it: of programs that were not built for it. Those of
    libraries that the program loads itself, as Python does libtorch, it does not see. `patched`: the one function that it is
    to patch, for which the program must be built. Empty if it does not run here."""
    if not installed()["uftrace"]:
        return {}
    what = ["-P", patched, "--no-libcall"] if patched else ["--nest-libcall"]
    return {"uftrace": (["uftrace", "record", "--force", *what, "-d", "uftrace", *command], {})}


def all_of(command, base="bare", longer=None):
    """Variant -> (command, environment) of the peers. heaptrack: the hook alone, writing into a file; and as its users
    run it, where an interpreter and a compressor behind a pipe keep up with it. gperftools' profiler comes with its own
    allocator, so it is compared with that. `longer`: a command so long that
    the start of heaptrack's pipe does not count; recorded raw, as its interpreter dies of bad_alloc on many stacks."""
    here = installed()
    variants = {}
    if here["heaptrack"]:
        variants["heaptrack hook"] = (command, {"LD_PRELOAD": HEAPTRACK_HOOK, "DUMP_HEAPTRACK_OUTPUT": "@/heaptrack"})
        variants["heaptrack"] = (["heaptrack", *(["-r"] if longer else []), "-o", "heaptrack", *(longer or command)],
                                 {})
    if here["gperftools"]:
        variants[f"{base} tcmalloc"] = (command, {"LD_PRELOAD": tcmalloc()})
        variants["gperftools"] = (command, {"LD_PRELOAD": tcmalloc(), "HEAPPROFILE": "@/profile"})
    return variants
