# SPDX-License-Identifier: Apache-2.0
"""Names that are kept between runs of tprof-analyze change its speed, and nothing that it prints."""
import os
import shutil
import subprocess

import pytest
from conftest import ANALYZE, LIBRARY, WORKLOADS

SOURCE = """
#include <stdlib.h>
static inline __attribute__((always_inline)) void *inner(unsigned long n) { return malloc(n); }
__attribute__((noinline)) void *NAME(unsigned long n) { return inner(n + 1); }
int main(void) { return NAME(1000) && NAME(2000) ? 0 : 1; }
"""
COMMANDS = ("summary", "summary --full", "summary --json", "peak --by line", "leaks --json", "hotspots", "info", "info --json",
            "lines program.c", "flamegraph", "check --max-peak 1GiB")


def build(folder, name="kept", options=("-g",)):
    """folder/program, with one function of that name."""
    (folder / "program.c").write_text(SOURCE.replace("NAME", name))
    subprocess.run(["gcc", "-O1", "-Wl,--build-id", *options, "program.c", "-o", "program"], cwd=folder, check=True)


@pytest.fixture
def made(tprof, tmp_path):
    build(tmp_path)
    return tmp_path, tprof.run([tmp_path / "program"], [LIBRARY]).traces()[0]


def run(trace, *command, cache=None, cwd=None, **more):
    """What the command prints; cache=None: none is kept."""
    environment = {**os.environ, **({"XDG_CACHE_HOME": str(cache)} if cache else {"TPROF_CACHE": "off"}), **more}
    done = subprocess.run([ANALYZE, *command, trace], env=environment, cwd=cwd, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(cache):
    return sorted((cache / "tprof/symbols").iterdir())


def opened(trace, cache, path):
    """How often the report opens a file."""
    log = cache.parent / "strace"
    subprocess.run(["strace", "-f", "-e", "trace=open,openat", "-o", log, ANALYZE, "peak", "--by", "stack", trace],
                   env={**os.environ, "XDG_CACHE_HOME": str(cache)}, stdout=subprocess.DEVNULL, check=True, timeout=60)
    return log.read_text().count(f'"{path}"')


@pytest.mark.parametrize("command", COMMANDS)
def test_same_cold_warm_and_without(made, command):
    folder, trace = made
    cache = folder / "cache"
    without = run(trace, *command.split(), cwd=folder)
    assert without
    assert [run(trace, *command.split(), cache=cache, cwd=folder) for _ in range(3)] == 3 * [without]


def test_what_one_command_kept_serves_the_others(made):
    folder, trace = made
    for command in COMMANDS:
        assert run(trace, *command.split(), cache=folder / "cache", cwd=folder) == run(trace, *command.split(), cwd=folder)
    assert b"inner" in run(trace, "peak", "--by", "stack", cache=folder / "cache")


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_known_names_need_no_debug_information(made):
    """A module whose places are known is opened once less: only to look for allocators."""
    folder, trace = made
    cold = opened(trace, folder / "cache", folder / "program")
    assert opened(trace, folder / "cache", folder / "program") < cold


def test_other_build(tprof, made):
    """The same path with another build: its own names, and none for the old trace. Names of the old build come back with it."""
    folder, old = made
    cache = folder / "cache"
    kept = run(old, "peak", "--by", "stack", cache=cache)
    shutil.copy2(folder / "program", folder / "before")
    build(folder, "renamed")
    new = tprof.run([folder / "program"], [LIBRARY]).traces()[0]
    assert run(old, "peak", "--by", "stack", cache=cache) == run(old, "peak", "--by", "stack") != kept
    assert b"renamed" in run(new, "peak", "--by", "stack", cache=cache) and run(new, "peak", "--by", "stack", cache=cache) == run(new, "peak", "--by", "stack")
    os.replace(folder / "before", folder / "program")
    assert run(old, "peak", "--by", "stack", cache=cache) == kept


def test_debug_information_that_comes_later(made):
    """It is used, though names were kept without it: in --debug-dir, and beside the program."""
    folder, trace = made
    cache, debug = folder / "cache", folder / "debug"
    debug.mkdir()
    subprocess.run(["objcopy", "--only-keep-debug", folder / "program", folder / "aside"], check=True)
    subprocess.run(["strip", folder / "program"], check=True)
    command = ["peak", "--by", "stack", "--debug-dir", debug]
    bare = run(trace, *command, cache=cache)
    assert b"program.c" not in bare
    assert run(trace, *command, cache=cache) == run(trace, *command) == bare
    build_id = subprocess.run(["file", "-b", folder / "program"], check=True, capture_output=True, text=True).stdout
    build_id = build_id.split("sha1]=")[1].split(",")[0]
    (debug / ".build-id" / build_id[:2]).mkdir(parents=True)
    shutil.copy(folder / "aside", debug / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug")
    found = run(trace, *command, cache=cache)
    assert b"program.c" in found and found == run(trace, *command)
    assert b"program.c" not in run(trace, "peak", "--by", "stack", cache=cache)  # without --debug-dir
    shutil.copy(folder / "aside", folder / "program.debug")
    beside = run(trace, "peak", "--by", "stack", cache=cache)
    assert b"program.c" in beside and beside == run(trace, "peak", "--by", "stack")
    (folder / "program.debug").unlink()
    assert b"program.c" not in run(trace, "peak", "--by", "stack", cache=cache)


def test_no_build_id_is_not_kept(tprof, tmp_path):
    build(tmp_path, options=("-g", "-Wl,--build-id=none"))
    trace = tprof.run([tmp_path / "program"], [LIBRARY]).traces()[0]
    without = run(trace, "peak", "--by", "stack")
    assert run(trace, "peak", "--by", "stack", cache=tmp_path / "cache") == without
    build(tmp_path, "renamed", ("-g", "-Wl,--build-id=none"))
    assert run(trace, "peak", "--by", "stack", cache=tmp_path / "cache") == run(trace, "peak", "--by", "stack") != without


@pytest.mark.parametrize("damage", ("cut", "empty", "bit", "longer", "folder", "link"))
def test_damaged_file(made, damage):
    """It is as if it were not there, and is replaced."""
    folder, trace = made
    without = run(trace, "peak")
    run(trace, "peak", cache=folder / "cache")
    for file in files(folder / "cache"):
        content = file.read_bytes()
        file.unlink()
        if damage == "folder":
            file.mkdir()
        elif damage == "link":
            file.symlink_to("/dev/zero")
        else:
            middle = len(content) // 2
            file.write_bytes({"cut": content[:-1], "empty": b"", "longer": content + b"\0",
                              "bit": content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1:]}[damage])
    assert run(trace, "peak", cache=folder / "cache") == without
    assert run(trace, "peak", cache=folder / "cache") == without
    if damage != "folder":
        assert all(not file.is_symlink() and file.read_bytes()[:8] == content[:8] for file in files(folder / "cache"))


def test_folder_that_can_not_be_written(made):
    folder, trace = made
    without = run(trace, "peak")
    (folder / "file").write_text("no folder")
    assert run(trace, "peak", cache=folder / "file") == without
    assert run(trace, "peak", cache="/proc/nothing") == without
    bare = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    assert subprocess.run([ANALYZE, "peak", trace], env=bare, capture_output=True, check=True).stdout == without


def test_off(made):
    folder, trace = made
    run(trace, "peak", cache=folder / "cache", TPROF_CACHE="off")
    assert not (folder / "cache").exists()


def test_the_collector_does_not_mind(tprof, tmp_path):
    """The variable is the analyzer's: a program that is recorded with it prints no complaint."""
    done = tprof.run([WORKLOADS / "steady", "1"], [LIBRARY], {"TPROF_CACHE": "off"})
    assert b"TPROF_CACHE" not in done.stderr


def test_several_at_once(made):
    """Twenty write and read the same files, and one deletes them meanwhile: each prints the same."""
    folder, trace = made
    without, cache = run(trace, "peak"), folder / "cache"
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    for _ in range(5):
        at_once = [subprocess.Popen([ANALYZE, "peak", trace], env=environment, stdout=subprocess.PIPE) for _ in range(4)]
        shutil.rmtree(cache, ignore_errors=True)
        assert [process.communicate(timeout=60)[0] for process in at_once] == 4 * [without]
    assert run(trace, "peak", cache=cache) == without
    assert all("." not in file.name for file in files(cache))  # no draft is left


def test_bound(made):
    """The folder is kept below 64 MiB: what was not used for longest goes."""
    folder, trace = made
    symbols = folder / "cache/tprof/symbols"
    symbols.mkdir(parents=True)
    for number in range(10):
        (symbols / f"{number}").write_bytes(bytes(8 << 20))
        os.utime(symbols / f"{number}", (1000 + number, 1000 + number))
    run(trace, "peak", cache=folder / "cache")
    left = {file.name for file in files(folder / "cache")}
    assert sum(file.stat().st_size for file in files(folder / "cache")) <= 64 << 20
    assert {"0", "1", "2"}.isdisjoint(left) and {"3", "4", "5", "6", "7", "8", "9"} <= left | {"3"}
    assert len(left - {str(number) for number in range(10)}) > 0
