# SPDX-License-Identifier: Apache-2.0
"""make install, and that what was installed works from there."""
import os
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, LIBRARY, ROOT, WORKLOADS, report

# Not looked at: whatever the tree was built with, it is what is installed.
FLAGS = BUILD / "flags"


def make(*arguments, tree=ROOT, **options):
    """Whatever make runs these tests has no say in it."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k not in ("MFLAGS", "BUILD", "V")}
    return subprocess.run(["make", "-C", tree, *map(str, arguments)], check=True, env=environment, capture_output=True, text=True,
                          **options).stdout


def make_install(target, *arguments):
    make("-s", "-o", FLAGS, "-o", BUILD / "commit", f"BUILD={BUILD.parent}", target, *arguments)


def files_below(directory):
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if not path.is_dir()}


def test_install(tmp_path):
    make_install("install", "PREFIX=/opt/tprof", f"DESTDIR={tmp_path}")
    prefix = tmp_path / "opt/tprof"
    for name in ("lib/libtprof.so", "bin/tprof", "bin/tprof-analyze", "bin/tprof-fleet", "share/man/man1/tprof.1", "share/man/man1/tprof-fleet.1",
                 "share/man/man1/tprof-analyze.1", "share/man/man5/tprof-trace.5", "share/man/man5/tprof-json.5",
                 "share/man/man5/tprof-sql.5", "share/bash-completion/completions/tprof",
                 "share/bash-completion/completions/tprof-analyze", "share/bash-completion/completions/tprof-fleet", "share/zsh/site-functions/_tprof",
                 "share/fish/vendor_completions.d/tprof.fish", "share/fish/vendor_completions.d/tprof-analyze.fish"):
        assert (prefix / name).is_file(), name
    run = subprocess.run([prefix / "bin/tprof", "run", "--", WORKLOADS / "steady", "12"], cwd=tmp_path, check=True,
                         capture_output=True, text=True)
    assert run.stdout == "steady: done\n"
    report = subprocess.run([prefix / "bin/tprof-analyze", tmp_path / "trace.bin"], check=True, capture_output=True,
                            text=True)
    assert "12" in report.stdout
    for command in (["load", "--to", "sqlite:fleet.db", "trace.bin"], ["query", "top-sites", "--from", "sqlite:fleet.db"]):
        said = subprocess.run([prefix / "bin/tprof-fleet", *command], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "steady.c" in said


def test_install_where_it_is_told_to(tmp_path):
    """Each kind of file in a directory of its own, whose name has a space; and uninstall leaves none."""
    stage, places = tmp_path / "the stage", ["PREFIX=/o p/t", "libdir=/o p/t/lib/x86_64-linux-gnu", "mandir=/man", "includedir=/inc"]
    make_install("install", f"DESTDIR={stage}", *places)
    assert {"o p/t/lib/x86_64-linux-gnu/libtprof.so", "man/man1/tprof.1", "inc/tprof.h", "inc/tprof/format.h",
            "o p/t/lib/x86_64-linux-gnu/pkgconfig/tprof.pc", "o p/t/bin/tprof"} <= files_below(stage)
    said = subprocess.run([stage / "o p/t/bin/tprof", "run", "--", "sh"], capture_output=True, text=True, check=False).stderr
    assert "no libtprof.so in /o p/t/lib/x86_64-linux-gnu" in said  # it is in the stage yet
    (tmp_path / "uses.c").write_text("#include <tprof.h>\n#include <tprof/format.h>\nint main(void) { tprof_step(1); }\n")
    subprocess.run(["gcc", "-Werror", f"-I{stage}/inc", tmp_path / "uses.c", "-o", tmp_path / "uses"], check=True)
    make_install("uninstall", f"DESTDIR={stage}", *places)
    assert not files_below(stage)


def test_build_with_settings_of_ones_own(tmp_path):
    """In a tree whose path has a space and that is not written to; a line a file, or with V=1 the commands."""
    tree, build = tmp_path / "a tree", tmp_path / "build"
    tree.mkdir()
    shutil.copy(ROOT / "Makefile", tree)
    for part in ("analyzer", "preload", "include", "scripts"):
        shutil.copytree(ROOT / part, tree / part)
    before = files_below(tree)
    objects = [build / "release" / name for name in ("preload/core/text.c.o", "analyzer/commands/line/help.c.o", "bin/tprof")]
    settings = [f"BUILD={build}", "CC=gcc -pipe", "CPPFLAGS=-DONES_OWN", "CFLAGS=-O1 -g"]
    quiet = make("-s", *settings, *objects, tree=tree)
    assert quiet.splitlines() == [f"  CC  {path}" for path in ("preload/core/text.c", "analyzer/commands/line/help.c")] + [f"  SH  {objects[2]}"]
    assert make("-s", *settings, *objects, tree=tree) == ""
    whole = make("V=1", *settings[:3], "CFLAGS=-O3", objects[0], tree=tree)  # another flag: it is compiled anew
    assert "gcc -pipe -D" in whole and "-DONES_OWN -O3" in whole and "-O2" not in whole
    assert files_below(tree) == before


def test_version_names_the_commit():
    for program in ("tprof", "tprof-analyze"):
        said = subprocess.run([BUILD / "bin" / program, "--version"], check=True, capture_output=True, text=True).stdout
        commit = r" \([0-9a-f]{7,}(-dirty)?\)" if (ROOT / ".git").exists() else ""
        assert re.fullmatch(rf"{program} \d+\.\d+\.\d+{commit}\n", said)


def test_dependencies_without_rights(tmp_path):
    """Who may not install gets the command for who may."""
    for name, script in (("id", "echo 1000"), ("dpkg-query", "exit 1"), ("sudo", "exit 1"), ("apt-get", "touch called")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    for sudo in (True, False):
        if not sudo:
            (tmp_path / "sudo").unlink()
        done = subprocess.run(["/bin/sh", ROOT / "scripts/install-deps", "build"], cwd=tmp_path, capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL, env={"PATH": f"{tmp_path}:/bin:/usr/bin"})
        assert done.returncode == 1 and not (tmp_path / "called").exists()
        assert re.search(r"^    apt-get install --no-install-recommends gcc .*libjansson-dev", done.stderr, re.M), done.stderr


def test_man_pages_have_no_warnings():
    for page in ("scripts/tprof.1", "scripts/tprof-fleet.1", "analyzer/tprof-analyze.1", "analyzer/tprof-json.5", "analyzer/tprof-sql.5", "include/tprof/tprof-trace.5"):
        done = subprocess.run(["groff", "-mandoc", "-ww", "-z", ROOT / page], check=True, capture_output=True, text=True)
        assert done.stderr == "", page


def test_exported_names():
    """libtprof.so shows what it intercepts and nothing else: a name of its own would take a program's."""
    done = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True)
    names = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}
    assert {"malloc", "free", "calloc", "realloc", "posix_memalign", "_Znwm", "_ZdlPv", "mmap", "munmap"} <= names
    assert not [name for name in names if name.startswith("tpc_") or "backtrace" in name or name.startswith("unw_")]


def test_no_copying_by_libc():
    """libc's memcpy() uses vector registers, which are a hooked function's arguments: core/memory.c."""
    done = subprocess.run(["nm", "-D", "--undefined-only", LIBRARY], check=True, capture_output=True, text=True)
    names = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}
    assert "strlen" in names and not [name for name in names if name.startswith(("mem", "__mem", "bcopy", "bzero"))]


def imports(path):
    done = subprocess.run(["nm", "-u", path], check=True, capture_output=True, text=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def test_nothing_of_libc_that_allocates_or_waits():
    """A hook may stand in any call, whatever lock its thread holds. So libtprof.so takes from libc only what allocates
    nothing and waits for nobody, and the loader's lock (dl_iterate_phdr) only where no hook of memory, op or sample comes:
    in a look at what is loaded, which a start, a dlopen or a dlsym begins."""
    reads = {"strchr", "strcmp", "strcspn", "strlen", "strncmp", "strnlen", "strrchr", "strstr", "sigaddset", "sigdelset",
             "sigfillset", "sigismember", "__errno_location", "__libc_current_sigrtmax", "__libc_current_sigrtmin",
             "__libc_stack_end", "environ", "__environ", "getauxval", "pthread_self", "pthread_getspecific", "clock_gettime",
             "_dl_find_object"}
    at_few_places = {
        "dl_iterate_phdr": {"hooks/link/slots.c", "hooks/ops/presets/pointers.c", "hooks/process/caller_scope.c", "hooks/process/find_python.c"},
        "dlerror": {"hooks/link/loader.c", "hooks/link/bind.c"},
        "on_exit": {"hooks/process/lifecycle.c"}, "__register_atfork": {"hooks/link/loader.c"},
        "pthread_key_create": {"hooks/process/thread_end.c"}, "pthread_key_delete": {"hooks/process/thread_end.c"},
        "pthread_setspecific": {"hooks/process/thread_end.c"}}
    assert imports(LIBRARY) == reads | set(at_few_places)
    objects = LIBRARY.parent.parent / "preload"
    users = {name: set() for name in at_few_places}
    for path in sorted(objects.rglob("*.c.o")):
        for name in imports(path) & set(users):
            users[name].add(str(path.relative_to(objects))[:-len(".o")])
    assert users == at_few_places


def test_no_instruction_that_a_processor_may_lack():
    """Virtual machines hide rdtscp, and Valgrind says that it is there where it then ends the program for it."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", LIBRARY], check=True, capture_output=True, text=True).stdout
    assert "rdtsc\n" in code.replace(" ", "") and "rdtscp" not in code


def test_threads_under_valgrind(tprof):
    """Without CPU samples: Valgrind may end the program over their signal, where the stack has to grow for its frame."""
    if not shutil.which("valgrind"):
        pytest.skip("no Valgrind")
    run = tprof.run(["valgrind", "-q", "--tool=none", WORKLOADS / "truth", "2", "100", "1"], [LIBRARY],
                    {"TPROF_EXE": "truth"})
    assert (run.status, run.stdout, run.stderr) == (0, b"truth: done\n", b"")
    assert report(run.traces()[0])["capture"]["cpu_period_ns"] == 0
