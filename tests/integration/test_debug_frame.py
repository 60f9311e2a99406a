# SPDX-License-Identifier: Apache-2.0
"""Code whose unwind tables are in .debug_frame only: stacks are whole, as the program's own calls tell. Where both compilers
differ is how they write the section: gcc has its assembler write CIEs of version 1, clang writes version 4."""
import json
import os
import random
import re
import shutil
import struct
import subprocess

import pytest

from conftest import LIBRARY, analyze, functions, report, sampled, sites

LIB = r"""
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) static void *deep(int n)
{
    void *block = n ? deep(n - 1) : malloc(777);

    if (!block)
        abort();
    return block;
}

/* A variable array: the frame is found by rbp, which is saved. */
__attribute__((noinline)) static void *dynamic(int n)
{
    volatile char room[n * 16 + 1];

    room[n] = 1;
    return (char *)deep(n) + room[n] - 1;
}

/* A realigned stack: the frame is found by a load. */
__attribute__((noinline)) static void *aligned(int n)
{
    volatile char room[64] __attribute__((aligned(64)));

    room[n] = 1;
    return (char *)dynamic(n) + room[n] - 1;
}

char *lib(int n)
{
    char *block = aligned(n);

    *block = 1;
    return block;
}

double burn(int n)
{
    double sum = 0;

    for (clock_t end = clock() + (clock_t)n * (CLOCKS_PER_SEC / 1000); clock() < end;)
        for (volatile int i = 0; i < 1000; i++)
            sum += i;
    return sum;
}
"""

PROGRAM = r"""
#include <stdlib.h>

char *lib(int n);
double burn(int n);

__attribute__((noinline)) static void mid(int n)
{
    *(volatile char *)lib(n) = 2;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 10; i++)
        mid(5);
    return argc > 1 && burn(atoi(argv[1])) < 0;
}
"""

CHAIN = [*6 * ["deep"], "dynamic", "aligned", "lib", "mid", "main"]
ONLY_DEBUG = ["-O2", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fomit-frame-pointer",
              "-fno-optimize-sibling-calls"]
TABLES = ["-O2", "-g", "-fasynchronous-unwind-tables", "-fomit-frame-pointer", "-fno-optimize-sibling-calls"]


def sections(path):
    lines = subprocess.run(["readelf", "-SW", path], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return {line.split("]")[1].split()[0]: line.split("]")[1].split() for line in lines if "]" in line and ". " not in line[:6]}


def compile_to(path, sources, flags, compiler="gcc"):
    """`sources`: text by file name."""
    for name, text in sources.items():
        (path.parent / name).write_text(text)
    subprocess.run([compiler, *flags, "-o", path, *[path.parent / name for name in sources]], check=True)
    return path


def build(folder, flags, compiler="gcc", library=True):
    """The program; with its functions in a library of its own, or in one file."""
    if not library:
        return compile_to(folder / "program", {"lib.c": LIB, "program.c": PROGRAM}, flags, compiler)
    compile_to(folder / "libwork.so", {"lib.c": LIB}, [*flags, "-shared", "-fPIC"], compiler)
    return compile_to(folder / "program", {"program.c": PROGRAM}, [*flags, f"-L{folder}", f"-Wl,-rpath,{folder}",
                                                                   "-Wl,--no-as-needed", "-lwork"], compiler)


def check_stack(trace, chain=CHAIN, blocks=10):
    (site,) = [site for site in sites(trace, "leaks") if site["bytes"] == 777 * blocks]
    assert functions(site["stack"])[:len(chain)] == chain and site["stack_end"] == "root"
    assert not any(frame["guessed"] for frame in site["stack"])
    assert site["blocks"] == blocks


def check(tprof, program, arguments=()):
    run, summary = tprof.summary([program, *arguments], env={"TPROF_CPU": "0"})
    check_stack(run.traces()[0])
    assert summary["capture"]["no_unwind_tables"] == [] and summary["capture"]["stacks_short"] == 0
    return run


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
@pytest.mark.parametrize("kind", ["library", "pie", "no-pie"])
def test_the_section_alone(tprof, tmp_path, compiler, level, kind):
    flags = [*ONLY_DEBUG, level, *(["-no-pie"] if kind == "no-pie" else [])]
    program = build(tmp_path, flags, compiler, kind == "library")
    assert ".debug_frame" in sections(tmp_path / ("libwork.so" if kind == "library" else "program"))
    check(tprof, program)


@pytest.mark.parametrize("version", [2, 3, 4, 5])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_versions_of_dwarf(tprof, tmp_path, compiler, version):
    check(tprof, build(tmp_path, [*ONLY_DEBUG, f"-gdwarf-{version}"], compiler))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_dwarf_of_64_bits(tprof, tmp_path, compiler):
    """Where the compiler writes it: lengths and references have 8 bytes."""
    program = build(tmp_path, [*ONLY_DEBUG, "-gdwarf-5", "-gdwarf64"], compiler, library=False)
    offset, _ = debug_frame_place(program)
    if program.read_bytes()[offset:offset + 4] != b"\xff" * 4:
        pytest.skip("the section is of 32 bits")
    check(tprof, program)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_cxx_without_exceptions(tprof, tmp_path, compiler):
    """Inline functions and instances of templates, of which the linker keeps one each; what is not called, it leaves out."""
    program = r"""
#include <cstdlib>
#include <vector>

template <int N> struct level {
    __attribute__((noinline)) static char *down() { return level<N - 1>::down() + 1; }
    __attribute__((noinline)) static char *not_called(int n) { return n ? not_called(n - 1) : down(); }
};
template <> struct level<0> {
    __attribute__((noinline)) static char *down() { return static_cast<char *>(malloc(777)); }
};
template char *level<7>::not_called(int);

int main()
{
    for (int i = 0; i < 10; i++)
        *const_cast<volatile char *>(level<5>::down()) = 1;
}
"""
    path = compile_to(tmp_path / "program", {"program.cc": program},
                      [*ONLY_DEBUG, "-fno-exceptions", "-ffunction-sections", "-Wl,--gc-sections"], compiler)
    run = tprof.profile([path], env={"TPROF_CPU": "0"})
    (site,) = [site for site in sites(run.traces()[0], "leaks") if site["bytes"] == 7770]
    assert functions(site["stack"])[:7] == [*[f"level<{n}>::down()" for n in range(6)], "main"]
    assert site["stack_end"] == "root"


@pytest.mark.parametrize("with_tables", ["lib.c", "program.c"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_two_kinds_in_one_file(tprof, tmp_path, compiler, with_tables):
    """Which table covers a function is a matter of the function, not of its module."""
    objects = []
    for name, text in (("lib.c", LIB), ("program.c", PROGRAM)):
        objects.append(compile_to(tmp_path / f"{name}.o", {name: text}, ["-c", *(TABLES if name == with_tables else ONLY_DEBUG)],
                                  compiler))
        assert (".eh_frame" in sections(objects[-1])) == (name == with_tables)
    subprocess.run([compiler, "-o", tmp_path / "program", *objects], check=True)
    check(tprof, tmp_path / "program")


def test_assembly(tprof, tmp_path):
    """Its directives say which section its rules are written to; a frame without a frame pointer, and rbp in use for a number."""
    functions_of = "\n".join(f"""
    .cfi_sections {section}
    .text
    .globl {name}
    .type {name}, @function
{name}:
    .cfi_startproc
    push %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbp, 0
    mov $12345, %ebp
    sub $64, %rsp
    .cfi_adjust_cfa_offset 64
    call {callee}@plt
    add $64, %rsp
    .cfi_adjust_cfa_offset -64
    pop %rbp
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size {name}, . - {name}
""" for name, section, callee in [("middle", ".debug_frame", "inner")])
    program = PROGRAM.replace("lib(n)", "middle(n)").replace("char *lib", "char *middle")
    inner = LIB.replace("lib(int", "inner(int")
    path = compile_to(tmp_path / "program", {"middle.S": functions_of + '\n    .section .note.GNU-stack, "", @progbits\n',
                                             "program.c": program, "lib.c": inner}, TABLES)
    run = tprof.profile([path], env={"TPROF_CPU": "0"})
    check_stack(run.traces()[0], [*CHAIN[:8], "inner", "middle", "mid", "main"])


def test_a_library_that_is_loaded_again(tprof, tmp_path):
    """Another one may take its place in memory; a child that was forked reads them again."""
    program = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void once(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW);
    char *(*lib)(int) = handle ? (char *(*)(int))dlsym(handle, "lib") : NULL;

    if (!lib)
        exit(3);
    *(volatile char *)lib(5) = 3;
    dlclose(handle);
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 50; i++)
        once(argv[1 + i % 2]);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 10; i++)
            once(argv[1]);
        exit(0);
    }
    int status;
    return argc < 3 || waitpid(child, &status, 0) != child || status;
}
"""
    one = compile_to(tmp_path / "libone.so", {"one.c": LIB}, [*ONLY_DEBUG, "-shared", "-fPIC"])
    other = compile_to(tmp_path / "libother.so", {"other.c": LIB.replace("dynamic", "another")},
                       [*ONLY_DEBUG, "-O0", "-shared", "-fPIC"])
    path = compile_to(tmp_path / "program", {"program.c": program}, TABLES)
    run = tprof.profile([path, one, other], env={"TPROF_CPU": "0"})
    parent, child = sorted(run.traces(), key=lambda trace: -report(trace)["heap"]["allocations"])
    for trace, counts in ((parent, {"dynamic": 25, "another": 25}), (child, {"dynamic": 10})):
        found = dict.fromkeys(counts, 0)
        for site in sites(trace, "leaks"):
            names = functions(site["stack"])
            if names[:6] == 6 * ["deep"] and site["stack_end"] == "root":
                assert names[7:11] == ["aligned", "lib", "once", "main"], names
                found[names[6]] += site["blocks"]
        assert found == counts


def test_threads_that_are_first_at_the_same_time(tprof, tmp_path):
    program = r"""
#include <pthread.h>
#include <stdlib.h>

char *lib(int n);
static pthread_barrier_t barrier;

static void *work(void *unused)
{
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 10; i++)
        *(volatile char *)lib(5) = 1;
    return unused;
}

int main(void)
{
    pthread_t threads[8];

    pthread_barrier_init(&barrier, NULL, 8);
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"""
    path = compile_to(tmp_path / "program", {"lib.c": LIB, "program.c": program}, [*ONLY_DEBUG, "-pthread"])
    for _ in range(5):
        run = tprof.profile([path], env={"TPROF_CPU": "0"})
        check_stack(run.traces()[0], [*CHAIN[:9], "work"], 80)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_samples(tprof, tmp_path, compiler):
    """Interrupted at any instruction of burn(), and of clock() that it calls."""
    program = build(tmp_path, ONLY_DEBUG, compiler)
    run = sampled(lambda capture: capture["cpu_samples"] >= 20, lambda: tprof.run([program, "500"], [LIBRARY], {"TPROF_CPU": "1000"}))
    dump = json.loads(analyze("dump", "--json", run.traces()[0]).stdout)
    (stacks,) = [{int(number): stack for number, stack in one["stacks"].items()} for one in dump["stacks"]]
    samples = [stacks[event["stack"]] for event in dump["events"] if event["kind"] == "sample"]
    assert report(run.traces()[0])["capture"]["stacks_short"] == 0
    through = [names for names in (functions(stack["stack"]) for stack in samples) if "burn" in names]
    assert len(through) >= 15 and all(names[names.index("burn") + 1] == "main" for names in through)


def split(folder, build_id, *more):
    """A program whose debug information is apart; returns the two files."""
    program = build(folder, [*ONLY_DEBUG, f"-Wl,--build-id={'sha1' if build_id else 'none'}"], library=False)
    debug = folder / "program.debug"
    subprocess.run(["objcopy", "--only-keep-debug", *more, program, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", program], check=True)
    assert ".debug_frame" in sections(debug) and ".debug_frame" not in sections(program)
    return program, debug


def of_notes(path):
    done = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", done).group(1)


@pytest.mark.parametrize("build_id", [True, False])
@pytest.mark.parametrize("folder", [".", ".debug"])
def test_a_file_that_the_link_names(tprof, tmp_path, folder, build_id):
    program, debug = split(tmp_path, build_id)
    (tmp_path / folder).mkdir(exist_ok=True)
    debug.rename(tmp_path / folder / debug.name)
    check(tprof, program)


@pytest.mark.parametrize("build_id", [True, False])
def test_a_file_that_the_link_names_of_another_build(tprof, tmp_path, build_id):
    """It has another build id, or another checksum."""
    program, debug = split(tmp_path, build_id)
    content = bytearray(debug.read_bytes())
    position = content.index(bytes.fromhex(of_notes(program))) + 7 if build_id else len(content) - 1
    content[position] ^= 1
    debug.write_bytes(content)
    run = tprof.profile([program], env={"TPROF_CPU": "0"})
    assert report(run.traces()[0])["capture"]["guessed_callers"]["allocations"] == 10


def test_a_link_to_what_is_no_file(tprof, tmp_path):
    """Nobody writes into the pipe: nothing waits for it."""
    program, debug = split(tmp_path, True)
    debug.unlink()
    os.mkfifo(debug)
    run = tprof.profile([program], env={"TPROF_CPU": "0"})
    debug.unlink()
    assert report(run.traces()[0])["capture"]["guessed_callers"]["allocations"] == 10


@pytest.mark.parametrize("by", ["id", "name"])
def test_a_file_among_the_systems(tprof, tmp_path, by):
    """In a mount namespace with a /usr/lib/debug of its own."""
    inside = ["unshare", "-Urm", "sh", "-c"]
    mount = "mount -t tmpfs none /usr/lib/debug"
    if not shutil.which("unshare") or subprocess.run([*inside, mount], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("no mount namespaces")
    program, debug = split(tmp_path, by == "id")
    aside = tmp_path / "aside"
    debug.rename(aside)
    number = of_notes(program) if by == "id" else ""
    to = f"/usr/lib/debug/.build-id/{number[:2]}/{number[2:]}.debug" if by == "id" else f"/usr/lib/debug{debug}"
    done = subprocess.run([*inside, f"{mount} && mkdir -p $(dirname {to}) && cp {aside} {to} && "
                           f"LD_PRELOAD={LIBRARY} TPROF_CPU=0 TPROF_OUTPUT={tmp_path}/trace.bin {program}"], check=False)
    assert done.returncode == 0
    assert report(tmp_path / "trace.bin")["capture"]["stacks_short"] == 0
    debug.write_bytes(aside.read_bytes())  # for the names
    check_stack(tmp_path / "trace.bin")


def debug_frame_place(path):
    """Offset and size of the section in the file."""
    fields = sections(path)[".debug_frame"]
    return int(fields[3], 16), int(fields[4], 16)


def test_a_file_that_was_replaced(tprof, tmp_path):
    """It has other rules than the code that runs: they are not used."""
    program = build(tmp_path, ONLY_DEBUG, library=False)
    other = tmp_path / "other"
    shutil.copy(program, other)
    with open(other, "r+b") as file:
        file.seek(24)  # the entry point, in the first page
        file.write(struct.pack("<Q", 0x1234))
    swap = compile_to(tmp_path / "swap.so", {"swap.c": r"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void swap(void) { if (rename(getenv("SWAP_FROM"), getenv("SWAP_TO"))) abort(); }
"""}, ["-shared", "-fPIC", "-O1"])
    run = tprof.run([program], [swap, LIBRARY], {"TPROF_CPU": "0", "SWAP_FROM": str(other), "SWAP_TO": str(program)})
    assert run.status == 0, run.stderr
    assert report(run.traces()[0])["capture"]["guessed_callers"]["allocations"] == 10


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_section_of_garbage(tprof, tmp_path, compiler):
    """The program runs as it does alone, whatever the section holds; its stacks may be wrong then, or end."""
    program = build(tmp_path, ONLY_DEBUG, compiler, library=False)
    offset, size = debug_frame_place(program)
    original = program.read_bytes()
    rng = random.Random(29)
    for round_ in range(60):
        content = bytearray(original)
        if round_ == 0:
            content[offset:offset + size] = bytes(size)
        elif round_ == 1:
            content[offset:offset + size] = b"\xff" * size
        elif round_ < 10:
            content[offset:offset + size] = rng.randbytes(size)
        else:
            for _ in range(rng.choice((1, 3, 10))):
                content[offset + rng.randrange(size)] = rng.choice((0, 0x7f, 0x80, 0xff, rng.randrange(256)))
        program.write_bytes(content)
        run = tprof.run([program], [LIBRARY], {"TPROF_CPU": "0"})
        assert (run.status, run.stderr) == (0, b""), (round_, run.stderr)
        assert report(run.traces()[0])["heap"]["allocations"] >= 10
