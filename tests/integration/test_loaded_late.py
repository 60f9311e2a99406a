# SPDX-License-Identifier: Apache-2.0
"""What a dlopen brings is hooked before the program goes on, and found where the program's own call finds it. The library that
is loaded announces itself by its constructor: nobody asks the loader for anything of it."""
import subprocess

import pytest
from conftest import LIBRARY, nothing_lost, report

CALLS = 1000
ANNOUNCED = """
#include <stdlib.h>

void announce(void (*function)(void));
#ifdef NEEDS
int needed(void);
#endif

static int compare(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

static void work(void)
{
	char text[] = "cba";

	for (int i = 0; i < CALLS; i++)
		qsort(text, 3, 1, compare);
#ifdef NEEDS
	needed();
#endif
}

__attribute__((constructor)) static void begin(void)
{
	announce(work);
}
"""
ASKER = """
#include <dlfcn.h>

void *ask(const char *name)
{
	return dlopen(name, RTLD_NOW);
}
"""
HOST = """
#include <dlfcn.h>
#include <stdio.h>

static void (*work)(void);

void announce(void (*function)(void))
{
	work = function;
}

/* host NAME [ASKER]: by whom it is to be loaded, else by the program. */
int main(int argc, char **argv)
{
	void *asker = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
	void *(*ask)(const char *) = asker ? (void *(*)(const char *))dlsym(asker, "ask") : NULL;
	void *found = ask ? ask(argv[1]) : dlopen(argv[1], RTLD_NOW);

	if (work)
		work();
	printf("%d ", found != NULL);
	puts(found ? "" : dlerror());
	return 0;
}
"""


def build(source, target, *options):
    subprocess.run(["gcc", "-x", "c", "-", "-fno-builtin", "-o", target, f"-DCALLS={CALLS}", *options], input=source.encode(),
                   check=True)


@pytest.fixture(name="folder", scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("late")
    shared, nested = ("-shared", "-fPIC"), folder / "nested"
    nested.mkdir()
    build("int needed(void) { return 1; }", nested / "libneeded.so", *shared)
    build(ANNOUNCED, folder / "libannounced.so", *shared)
    build(ANNOUNCED, nested / "libnested.so", *shared)
    build(ANNOUNCED, folder / "libneeds.so", *shared, "-DNEEDS", f"-L{nested}", "-lneeded")
    for name, tags in (("rpath", "--disable-new-dtags"), ("runpath", "--enable-new-dtags")):
        build(ASKER, folder / f"lib{name}.so", *shared, f"-Wl,{tags},-rpath,$ORIGIN/nested")
    build(HOST, folder / "host", "-rdynamic")
    build(HOST, folder / "host-rpath", "-rdynamic", "-Wl,--disable-new-dtags,-rpath,$ORIGIN/nested")
    return folder


# Arguments, and whether the calls are counted: where it depends on who asks what is found, nothing of ours runs behind that.
# Whether an asker's RPATH holds for what is needed in turn is the libc's to say: it is found as it is without tprof.
WAYS = {"by its path": (["host", "{}/libannounced.so"], True),
        "by its name": (["host", "libannounced.so"], True),
        "not there": (["host", "{}/libnowhere.so"], False),
        "nothing of that name": (["host", "libnowhere.so"], False),
        "beside the program": (["host", "$ORIGIN/libannounced.so"], False),
        "by the program's RPATH": (["host-rpath", "libnested.so"], True),
        "what it needs by the program's RPATH": (["host-rpath", "{}/libneeds.so"], True),
        "what it needs is not there": (["host", "{}/libneeds.so"], False),
        "by the asker's RPATH": (["host", "libnested.so", "{}/librpath.so"], False),
        "what it needs by the asker's RPATH": (["host", "{}/libneeds.so", "{}/librpath.so"], False),
        "by the asker's RUNPATH": (["host", "libnested.so", "{}/librunpath.so"], False),
        "a path, and a RUNPATH that does not matter": (["host", "{}/libannounced.so", "{}/librunpath.so"], True)}


@pytest.mark.parametrize("way", WAYS)
def test_loaded_late(tprof, folder, way):
    (program, *arguments), counted = WAYS[way]
    command = [folder / program, *(argument.replace("{}", str(folder)) for argument in arguments)]
    env = {"TPROF_OPS": "qsort", "LD_LIBRARY_PATH": str(folder)}
    bare, run = tprof.run(command, env=env), tprof.run(command, [LIBRARY], env=env)
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    assert bare.stdout.startswith(b"1") or not counted, bare.stdout
    summary = report(run.traces()[0])
    nothing_lost(summary)
    assert {op["name"]: op["calls"] for op in summary["ops"]} == ({"qsort": CALLS} if counted else {})
