# SPDX-License-Identifier: Apache-2.0
"""What a call leads to is the loader's to say: hooked, it leads there still, and is counted once."""
import shutil
import struct
import subprocess

import pytest
from conftest import LIBRARY, WORKLOADS, report
from test_op_hooks import ops_of


@pytest.mark.parametrize("program", ["bindings", "bindings-now"])
@pytest.mark.parametrize("how, said, calls", [
    ("plt", b"plt 50 1\n", {"bind_call": 50}),
    ("versions", b"versions 3 4\n", {"bind_versioned": 2}),
    ("deep", b"deep 1 2 2 2\n", {"bind_lazy": 1}),  # the others could be either: they are left alone
    ("shallow", b"shallow 1 1 1 1\n", {"bind_lazy": 3}),  # and what stands among code can't be changed
    ("none", b"none 0 0\n", {}),
    ("data", b"data 7 7\n", {}),
    ("errors", None, {}),
    ("asked", b"asked 4 3 4, 4 3 4, -1\n", {"bind_versioned": 6}),
    ("told", None, {}),
])
def test_targets(tprof, program, how, said, calls):
    """
    plt: an address that is a PLT entry leads to a slot, which leads to the function; not round and round, nor counted twice.
    versions: of two functions of one name each caller has its own. deep: so it has with RTLD_DEEPBIND, and is answered so.
    none: a pointer that is NULL, as nothing defined the symbol, or since the program made it so, stays NULL. data: a
    constant is no function. errors: the loader's last message is about what the program asked. asked: by dlsym and dlvsym, of
    all that is loaded too. told: dladdr says of a stub what it says of the function (poll and sleep are hooked as they wait).
    """
    command = [WORKLOADS / program, how]
    env = {"TPROF_OPS": "bind_*,-bind_by_*,-bind_user,-bind_off,-bind_weak", "LD_LIBRARY_PATH": str(WORKLOADS)}
    bare = tprof.run(command, env=env)
    assert (bare.status, bare.stdout) == (0, said or bare.stdout)
    run = tprof.run(command, [LIBRARY], env)
    assert (run.status, run.stdout, run.stderr) == (0, bare.stdout, b"")
    assert ops_of(run.traces()[0]) == {name: (count, 0) for name, count in calls.items()}


def longer_relro(path, more):
    """Makes the part of an object that is read-only after relocation end within a page: the loader leaves that page alone."""
    image = bytearray(path.read_bytes())
    (at,), (size, count) = struct.unpack_from("<Q", image, 32), struct.unpack_from("<HH", image, 54)
    for header in range(at, at + size * count, size):
        if struct.unpack_from("<I", image, header)[0] == 0x6474e552:  # PT_GNU_RELRO
            (memory,) = struct.unpack_from("<Q", image, header + 40)
            struct.pack_into("<Q", image, header + 40, memory + more)
            path.write_bytes(image)


def test_data_beside_relro_stays_writable(tprof, tmp_path):
    for library in ("libbind_one.so", "libbind_two.so", "libbind_late.so", "libplugin_a.so", "libbind_user.so"):
        shutil.copy(WORKLOADS / library, tmp_path)
    longer_relro(tmp_path / "libbind_user.so", 0x200)
    env = {"TPROF_OPS": "bind_lazy", "LD_LIBRARY_PATH": str(tmp_path)}
    command = [WORKLOADS / "bindings", "none"]
    bare = tprof.run(command, env=env)
    run = tprof.run(command, [LIBRARY], env)
    assert (run.status, run.stdout) == (bare.status, bare.stdout) == (0, b"none 0 0\n")


def file_maps(run):
    """(file, its bytes, their permissions) of all that the program maps of files; the collector's own left out."""
    maps = []
    for line in run.stdout.decode().splitlines():
        fields = line.split(None, 5)
        if len(fields) < 6 or not fields[5].startswith("/") or "libtprof" in fields[5] or fields[5].endswith(".bin"):
            continue
        low, high = (int(address, 16) for address in fields[0].split("-"))
        start, path = int(fields[2], 16), fields[5]
        if maps and maps[-1][0] == path and maps[-1][2] == start and maps[-1][3] == fields[1]:
            maps[-1][2] += high - low
        else:
            maps.append([path, start, start + high - low, fields[1]])
    return sorted(maps)


@pytest.mark.parametrize("command", [
    ["/bin/cat", "/proc/self/maps"],
    ["/usr/bin/python3", "-c", "import ctypes, sqlite3; print(open('/proc/self/maps').read())"],  # loads others later
], ids=["cat", "python"])
def test_relro_is_restored(tprof, command):
    """Every page of every object is as readable and writable as the loader left it."""
    bare = tprof.run(command)
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "*"})
    assert run.status == 0 and report(run.traces()[0])["capture"]["hooks"]["slots"] > 20
    assert file_maps(run) == file_maps(bare)
    assert any(permissions == "r--p" for *_, permissions in file_maps(run))


def test_counters_of_the_compiler(tprof):
    """A glob that is everything: what is called with arguments still in registers, as mcount() is, is left alone."""
    bare = tprof.run([WORKLOADS / "counted"])  # 0 + 1 + 4 + ... + 99 * 99, and 2 a call
    assert (bare.status, bare.stdout) == (0, b"counted 328550\n")
    run = tprof.run([WORKLOADS / "counted"], [LIBRARY], {"TPROF_OPS": "*"})
    assert (run.status, run.stdout) == (0, bare.stdout)
    assert "printf" in ops_of(run.traces()[0])


BOTH = """
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
int main(void)
{
	struct sigaction old;
	int taken = 0;
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
		taken += sigaction(i, NULL, &old) == 0 && old.sa_handler != SIG_DFL;
	for (int i = 0; i < 10; i++)
		if (mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			return 1;
	printf("%d taken\\n", taken);
	return 0;
}
"""


@pytest.mark.parametrize("flag", ["-Wl,-z,lazy", "-Wl,-z,now"])
def test_what_is_hooked_otherwise_too(tprof, flag):
    """A glob names functions that have hooks for another reason: these have their calls as before."""
    (tprof.directory / "both.c").write_text(BOTH)
    subprocess.run(["gcc", flag, "-o", tprof.directory / "both", tprof.directory / "both.c"], check=True)
    run = tprof.run([tprof.directory / "both"], [LIBRARY], {"TPROF_OPS": "sigaction,mmap"})
    assert (run.status, run.stdout, run.stderr) == (0, b"0 taken\n", b"")
    assert ops_of(run.traces()[0])["mmap"] == (10, 0)
    assert report(run.traces()[0])["heap"]["mapped_peak_bytes"] >= 10 << 20
