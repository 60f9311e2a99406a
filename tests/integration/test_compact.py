# SPDX-License-Identifier: Apache-2.0
"""Compact traces: every command says of them what it says of the trace, with the program's files and without."""
import json
import os
import random
import re
import shutil
import struct
import subprocess

import pytest
from conftest import BUILD, LIBRARY, PYTHON, ROOT, WORKLOADS, Harness, analyze, report
from second_compact import expand, frames
from second_reader import Trace
from test_bad_input import survive
from test_cut import COMMANDS, OF_TWO, PROGRAMS

TORCH = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode == 0
MORE = [["info"], ["info", "--json"], ["dump", "--json", "--top", "2000"], ["hotspots", "--json"], ["lines", "--json"],
        ["peak", "--by", "stack", "--json", "--top", "0"], ["flamegraph"], ["export", "--format", "chrome"], ["holders", "--json"]]
NEWLY = {  # of test_cut.py's programs, and others
    **PROGRAMS,
    "an op's tensors": ([WORKLOADS / "mlp", "--data", ROOT / "tests/workloads/data/digits.csv", "--steps", 3], {}),
    "another allocator": ([WORKLOADS / "unseen", "obstack"], {}),
    "exceptions": ([WORKLOADS / "op_throws"], {}),
}


def traces_of(tprof, name):
    command, environment = NEWLY[name]
    run = tprof.run(command, [LIBRARY], {"PYTHONPATH": str(ROOT / "scripts"), **environment})
    assert run.status == 0, run.stderr
    return run.traces()


def compacted(traces, *options):
    """Beside them, in a folder of their own, with the same names."""
    folder = traces[0].parent / "compact"
    folder.mkdir()
    for trace in traces:
        done = analyze("compact", *options, "-o", folder / trace.name, trace)
        assert done.stdout == done.stderr == ""
    return [folder / trace.name for trace in traces]


def answers(monkeypatch, traces, words):
    """What a command prints, named as they are in their folder."""
    monkeypatch.chdir(traces[0].parent)
    paths = [trace.name for trace in traces]
    done = analyze(*words, *(paths[:2] if words in OF_TWO else paths))
    return done.stdout, done.stderr


def meaningful(data):
    """The trace's bytes, with zeros for those that have no meaning: behind what a chunk has committed."""
    out, (header_size, chunk_size) = bytearray(data), struct.unpack_from("<2I", data, 12)
    for at in range(header_size, len(data), chunk_size):
        end = at + 120 + struct.unpack_from("<Q", data, at + 40)[0] if struct.unpack_from("<I", data, at)[0] else at + 120
        out[end:at + chunk_size] = bytes(max(at + chunk_size - end, 0))
    return bytes(out[:len(data)])


def without_compact(text):
    """Without what says how large the file is."""
    return re.sub(r'"compact_bytes": (null|\d+)', "", re.sub(r"\n.*\(compact\)\n", "\n", text))


@pytest.mark.parametrize("name", NEWLY)
def test_every_command_says_the_same(tprof, monkeypatch, name):
    traces = traces_of(tprof, name)
    compact = compacted(traces, *(["--embed-symbols"] if len(name) % 2 else []))
    for words in [*COMMANDS, *MORE, *(OF_TWO if len(traces) > 1 else [])]:
        raw, (out, err) = answers(monkeypatch, traces, words), answers(monkeypatch, compact, words)
        assert without_compact(out) == without_compact(raw[0]), words
        assert err == raw[1], words


@pytest.mark.parametrize("name", ["heap of several threads", "mappings", "ops that are folded", "Python"])
def test_the_second_reader_has_the_same_bytes(tprof, name):
    traces = traces_of(tprof, name)
    for trace, compact in zip(traces, compacted(traces)):
        raw, back = trace.read_bytes(), expand(compact.read_bytes())
        assert back == meaningful(raw)
        assert Trace(back).events == Trace(raw).events != []
        assert len(compact.read_bytes()) < len(raw) / 2


def test_a_compact_trace_of_a_compact_trace(tprof):
    """Has the same bytes; --embed-symbols adds names to it."""
    trace = traces_of(tprof, "growth")[0]
    once, = compacted([trace])
    twice, = compacted([once])
    assert twice.read_bytes() == once.read_bytes()
    shutil.rmtree(once.parent / "compact")
    named, = compacted([once], "--embed-symbols")
    assert len(frames(named.read_bytes())) == len(frames(once.read_bytes())) + 1


def test_size_in_info(tprof):
    compact, = compacted([traces_of(tprof, "growth")[0]])
    size = compact.stat().st_size
    assert report(compact, command="info")["capture"]["compact_bytes"] == size
    line, = [line for line in analyze("info", "--exact", compact).stdout.splitlines() if "(compact)" in line]
    assert f"{size:,} B in the file (compact)" in line


# ---- without the program's files ----

PROGRAM = """
#include <cstdlib>
#include <vector>
namespace shop {
struct basket { std::vector<int *> items; };
__attribute__((always_inline)) inline int *inlined(int n) { return static_cast<int *>(std::malloc(n)); }
template <typename T> __attribute__((noinline)) T *buy(basket &b, int n)
{
    b.items.push_back(inlined(n));
    return b.items.back();
}
}
int main()
{
    shop::basket b;
    for (int i = 0; i < 1000; i++)
        shop::buy<int>(b, 100 + i);
    return b.items.size() != 1000;
}
"""


def program_in(folder):
    folder.mkdir()
    (folder / "shop.cc").write_text(PROGRAM)
    subprocess.run(["g++", "-g", "-O2", "-o", folder / "shop", folder / "shop.cc"], check=True)
    return folder / "shop"


WITHOUT = [["peak", "--by", "stack", "--json"], ["hotspots", "--json"], ["leaks", "--json"], ["summary", "--json"], ["ops", "--json"],
           ["info", "--json"], ["summary"], ["lines", "--json"]]


@pytest.mark.parametrize("how", ["missing", "of another build", "no program"])
def test_names_without_the_program(tprof, monkeypatch, tmp_path, how):
    """A C++ program's functions, lines and inlined calls."""
    program = program_in(tmp_path / "program")
    trace = tprof.run([program], [LIBRARY]).traces()[0]
    compact, = compacted([trace], "--embed-symbols")
    expected = [answers(monkeypatch, [trace], words) for words in WITHOUT]
    if how == "missing":
        program.unlink()
    elif how == "of another build":
        subprocess.run(["g++", "-g", "-O0", "-o", program, program.with_name("shop.cc")], check=True)
    else:
        program.write_text("#!/bin/sh\n")
    for words, (out, err) in zip(WITHOUT, expected):
        assert [without_compact(text) for text in answers(monkeypatch, [compact], words)] == [without_compact(out), err], words
    stack = report(compact, command="peak", options=["--by", "stack"])["peak"]["sites"][0]["stack"]
    assert [re.sub(r"[<(].*", "", frame["function"]) for frame in stack][:3] == ["shop::inlined", "shop::buy", "main"]
    assert stack[0]["line"] == 6


def test_what_is_missing_is_named(tprof, tmp_path):
    """Of a trace without names, and of one whose names are all there."""
    program = program_in(tmp_path / "program")
    trace = tprof.run([program], [LIBRARY]).traces()[0]
    plain, = compacted([trace])
    named = plain.with_name("named.bin")
    analyze("compact", "--embed-symbols", "-o", named, trace)
    program.unlink()
    note, = [line for line in analyze("peak", plain).stdout.splitlines() if "not there any more" in line]
    assert str(program) in note and "compact --embed-symbols" in note
    assert "not there any more" not in analyze("peak", named).stdout


def test_names_of_python_and_its_modules(tprof, monkeypatch, tmp_path):
    """The interpreter is a copy, which goes away; the functions' names in its own stacks stay."""
    python = tmp_path / "python3-copy"
    shutil.copy(os.path.realpath(PYTHON), python)
    script = tmp_path / "grows.py"
    script.write_text("kept = []\nfor i in range(3000):\n    kept.append(bytearray(1000 + i))\n")
    run = tprof.run([python, "-S", script], [LIBRARY], {"PYTHONHOME": "/usr"})
    assert run.status == 0, run.stderr
    compact, = compacted(run.traces(), "--embed-symbols")
    words = ["peak", "--by", "stack", "--json", "--interpreter"]
    expected = answers(monkeypatch, run.traces(), words)
    assert "PyByteArray" in expected[0] and "grows.py" in expected[0]
    python.unlink()
    assert without_compact(answers(monkeypatch, [compact], words)[0]) == without_compact(expected[0])


# ---- damage ----

@pytest.fixture(scope="module", name="sound")
def sound_trace(tmp_path_factory):
    directory = tmp_path_factory.mktemp("sound")
    run = Harness(directory).run([WORKLOADS / "truth", "4", "3000", "1"], [LIBRARY])
    trace = run.traces()[0]
    compact, = compacted([trace], "--embed-symbols")
    return trace, compact.read_bytes()


def test_cut_off(sound, tmp_path):
    """Without the table of its frames nothing can be found in it."""
    path = tmp_path / "cut.bin"
    for length in (0, 7, 8, 47, 48, 49, 1000, len(sound[1]) // 2, len(sound[1]) - 1):
        path.write_bytes(sound[1][:length])
        survive(path, statuses=(3,))
    assert "cut off" in analyze("summary", path, status=3).stderr


def test_a_damaged_group_is_lost_and_told(sound, tmp_path):
    """Bits change in the middle of each frame: the chunks of a group are lost, and told; without a header or a list there is nothing."""
    path, data = tmp_path / "damaged.bin", sound[1]
    count = struct.unpack("<I", data[-9:-5])[0]
    sizes = [struct.unpack_from("<I", data, len(data) - 9 - 8 * (count - i))[0] for i in range(count)]
    events = report(sound[0])["capture"]
    for number in range(1, count):
        changed = bytearray(data)
        changed[sum(sizes[:number]) + sizes[number] // 2] ^= 0x55
        path.write_bytes(changed)
        done = survive(path)
        assert done.returncode == (3 if number < 3 else 0), number
        if number < 3:
            assert "damaged" in done.stderr
            continue
        capture = json.loads(done.stdout)["capture"]
        assert capture["damage"] != [], number
        assert "unreadable" in done.stderr, number
        assert capture["alloc_events"] <= events["alloc_events"]


def test_bits_anywhere(sound, tmp_path):
    numbers, path = random.Random(5), tmp_path / "bits.bin"
    for _ in range(60):
        changed = bytearray(sound[1])
        for _ in range(numbers.randrange(1, 4)):
            changed[numbers.randrange(len(changed))] ^= 1 << numbers.randrange(8)
        path.write_bytes(changed)
        survive(path)


def rebuilt(data, change):
    """With the decompressed frames changed, and all else as it should be."""
    import zstandard  # pylint: disable=import-outside-toplevel
    found = [bytearray(frame) for frame in frames(data)]
    first = bytearray(data[:48])
    change(first, found)
    packed = [bytes(first), *(zstandard.ZstdCompressor().compress(bytes(frame)) for frame in found[1:])]
    table = b"".join(struct.pack("<II", len(packed[i]), len(found[i])) for i in range(len(found)))
    return b"".join(packed) + struct.pack("<II", 0x184d2a5e, len(table) + 9) + table + struct.pack("<IBI", len(found), 0, 0x8f92eab1)


def huge_trace(first, _found):
    struct.pack_into("<Q", first, 32, 1 << 61)


def small_chunks(first, _found):
    struct.pack_into("<I", first, 24, 0)


def many_groups(first, _found):
    struct.pack_into("<I", first, 28, 0xffffffff)


def long_records(_first, found):
    struct.pack_into("<I", found[2], 120, 0xffffffff)


def no_such_group(_first, found):
    struct.pack_into("<I", found[2], 124, 1000)


def another_groups(_first, found):
    group = struct.unpack_from("<I", found[2], 124)[0]
    struct.pack_into("<I", found[2], 124, 3 - group)


def a_bomb(_first, found):
    found[3][:] = bytes(500_000_000)


def a_version(first, _found):
    struct.pack_into("<I", first, 16, 2)


@pytest.mark.parametrize("change", [huge_trace, small_chunks, many_groups, long_records, no_such_group, another_groups, a_bomb, a_version])
def test_what_can_not_be(sound, tmp_path, change):
    """What its numbers say is checked before memory is taken for it."""
    path = tmp_path / "wrong.bin"
    path.write_bytes(rebuilt(sound[1], change))
    done = survive(path)
    assert done.returncode == 3 or json.loads(done.stdout)["capture"]["damage"]
    peak = subprocess.run([PYTHON, "-c", "import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], capture_output=True)\n"
                           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", BUILD / "bin/tprof-analyze", "summary", path],
                          check=True, capture_output=True, text=True).stdout
    assert int(peak) < 300_000  # KiB


@pytest.mark.parametrize("seed", range(12))
def test_columns_of_anything(sound, tmp_path, seed):
    """Frames that decompress to something else than a group's columns."""
    numbers = random.Random(seed)

    def change(_first, found):
        for frame in found[3:]:
            for _ in range(numbers.randrange(1, 30)):
                frame[numbers.randrange(len(frame)) if seed % 2 else numbers.randrange(min(len(frame), 200))] = numbers.randrange(256)

    path = tmp_path / "columns.bin"
    path.write_bytes(rebuilt(sound[1], change))
    survive(path)


def damaged_traces(raw):
    """Of a trace: cut, with chunks that are none, of unknown kinds, with records of anything."""
    numbers = random.Random(3)
    yield raw[:len(raw) - 70001]
    yield raw[:100]
    yield raw[:16384 + 60]
    for what in (b"\0\0\0\0", b"\1\2\3\4"):
        yield raw[:16384 + 65536] + what + raw[16384 + 65536 + 4:]
    yield raw[:16384 + 4] + struct.pack("<I", 9) + raw[16384 + 8:]
    yield raw[:16384 + 40] + struct.pack("<Q", 1 << 40) + raw[16384 + 48:]
    for _ in range(5):
        changed = bytearray(raw)
        for _ in range(numbers.randrange(1, 400)):
            changed[numbers.randrange(16384, len(raw))] = numbers.randrange(256)
        yield bytes(changed)


def test_a_damaged_trace_stays_as_it_is(sound, tmp_path, monkeypatch):
    """Compacted, it has the same damage at the same offsets."""
    raw, folder = tmp_path / "damaged.bin", tmp_path / "compact"
    for data in damaged_traces(sound[0].read_bytes()):
        raw.write_bytes(data)
        done = subprocess.run([BUILD / "bin/tprof-analyze", "summary", raw], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if done.returncode:
            assert "damaged.bin" in analyze("compact", "-o", folder / "damaged.bin", raw, status=3).stderr
            continue
        analyze("compact", "-o", folder / "damaged.bin", raw)
        for words in (["summary", "--json"], ["dump", "--json", "--top", "500"], ["peak", "--by", "size", "--json"]):
            one, other = answers(monkeypatch, [raw], words), answers(monkeypatch, [folder / "damaged.bin"], words)
            assert without_compact(other[0]) == without_compact(one[0])
            assert other[1] == one[1]


# ---- the command ----

def test_the_command(sound, tmp_path):
    trace = sound[0]
    assert "-o FILE" in analyze("compact", trace, status=2).stderr
    assert "one trace" in analyze("compact", "-o", tmp_path / "x", trace, trace, status=2).stderr
    assert "it is a trace" in analyze("compact", "-o", trace, trace, status=2).stderr
    assert "no.bin" in analyze("compact", "-o", tmp_path / "x", tmp_path / "no.bin", status=3).stderr
    assert "No such file" in analyze("compact", "-o", tmp_path / "no" / "x", trace, status=2).stderr
    full = analyze("compact", "-o", "/dev/full", trace, status=2).stderr
    assert "No space left" in full and len(full.splitlines()) == 1


@pytest.mark.skipif(not TORCH, reason="python3-torch is not installed")
def test_bytes_of_an_event_of_torch(tprof):
    """At most 2, names and all."""
    trace = tprof.run([PYTHON, ROOT / "tests/workloads/torch_train.py"], [LIBRARY], timeout=300).traces()[0]
    compact, = compacted([trace], "--embed-symbols")
    capture = report(compact)["capture"]
    assert capture["alloc_events"] + capture["free_events"] > 1_000_000
    assert compact.stat().st_size <= 2 * (capture["alloc_events"] + capture["free_events"])
