# SPDX-License-Identifier: Apache-2.0
"""Bundles: every command says of one what it says of its traces; tar reads it; damage costs what is damaged; stripped names are gone."""
import json
import os
import random
import re
import shutil
import subprocess
import tarfile

import pytest
from conftest import ANALYZE, LAUNCHER, LIBRARY, PYTHON, ROOT, WORKLOADS, Harness, analyze, report, sites
from second_compact import expand, frames
from second_reader import Trace
from test_bad_input import survive
from test_compact import MORE, NEWLY, meaningful, without_compact
from test_cut import COMMANDS, OF_TWO

EXPORTS = [["export", "--format", name] for name in ("chrome", "folded", "speedscope", "callgrind", "openmetrics")]


@pytest.fixture(scope="module")
def forked(tmp_path_factory):
    """A folder "job" with the traces of a program and its forks."""
    harness = Harness(tmp_path_factory.mktemp("job"))
    run = harness.run([WORKLOADS / "fork", "nested"], [LIBRARY])
    assert run.status == 0 and len(run.traces()) > 2
    folder = tmp_path_factory.mktemp("of") / "job"
    folder.mkdir()
    for trace in run.traces():
        shutil.copy(trace, folder)
    return folder


def bundle(output, *inputs, options=()):
    done = analyze("bundle", *options, *inputs, "-o", output)
    assert done.stdout == ""
    return done.stderr


def members(path):
    with tarfile.open(path, "r:") as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


# ---- what commands say ----

@pytest.mark.parametrize("name", ["processes", "Python", "ops"])
def test_every_command_says_the_same(tprof, monkeypatch, name):
    """As of the traces in their folder, but for the bundle's name before it, and what says how large files are."""
    command, environment = NEWLY[name]
    run = tprof.run(command, [LIBRARY], {"PYTHONPATH": str(ROOT / "scripts"), **environment})
    folder = run.directory / "job"
    folder.mkdir()
    for trace in run.traces():
        shutil.move(trace, folder)
    monkeypatch.chdir(run.directory)
    assert bundle("run.tprof", "job") == ""
    for words in [*COMMANDS, *MORE, *EXPORTS, ["threads"]]:
        raw, out = analyze(*words, "job"), analyze(*words, "run.tprof")
        said = out.stdout.replace("run.tprof/", "").replace("run.tprof", "job")
        assert without_compact(said) == without_compact(raw.stdout), words
        assert out.stderr.replace("run.tprof/", "") == raw.stderr, words


def test_names_lead_to_one_trace(forked, tmp_path):
    path = tmp_path / "run.tprof"
    bundle(path, forked)
    for trace in sorted(forked.iterdir()):
        one, own = report(f"{path}/job/{trace.name}"), report(trace)
        assert one["heap"] == own["heap"] and one["process"]["pid"] == own["process"]["pid"]
    others = analyze("summary", f"{path}/job/{sorted(forked.iterdir())[0].name}").stdout
    assert f"{path}/job/" in others  # the traces beside it are offered by their names
    assert "no.bin: can't be opened: No such file" in analyze("summary", f"{path}/job/no.bin", status=3).stderr


def test_mixed_with_others(forked, tmp_path):
    """A bundle with a trace, and two bundles: as all traces together."""
    traces = sorted(forked.iterdir())
    one, two = tmp_path / "one.tprof", tmp_path / "two.tprof"
    bundle(one, *traces[:1])
    bundle(two, *traces[1:])
    whole = report(*traces)
    for given in ([one, two], [one, *traces[1:]], [traces[0], two]):
        got = report(*given)
        assert [p["heap"] for p in got["processes"]] == [p["heap"] for p in whole["processes"]]
        assert got["combined"] == whole["combined"]
    again = analyze("summary", one, traces[0], status=2).stderr
    assert "the same process's trace" in again


def test_beside_its_traces(forked, tmp_path):
    """A folder with a bundle and a compact copy of what lies in it: each process once, and a word about the copies."""
    folder = tmp_path / "job"
    shutil.copytree(forked, folder)
    first, *others = sorted(folder.iterdir())
    alone = analyze("summary", folder)
    bundle(folder / "a.tprof", folder)  # sorts before the traces
    analyze("compact", first, "-o", folder / "z.bin")
    both = analyze("summary", folder)
    assert both.stdout == alone.stdout and alone.stderr == ""
    assert both.stderr == (f"tprof-analyze: {folder}: {folder}/z.bin is a copy of {first}, and {len(others) + 1} more traces are copies, "
                           "too: each process is read once\n")
    assert "more traces are copies" in bundle(tmp_path / "again.tprof", folder)
    assert len(members(tmp_path / "again.tprof")) == len(others) + 1


def test_runs_compared_as_wholes(tmp_path):
    """diff OLD NEW of two bundles takes all processes of each, check --baseline too."""
    bundles = []
    for number in range(2):
        directory = tmp_path / str(number)
        directory.mkdir()
        run = Harness(directory).run([WORKLOADS / "fork", "nested"], [LIBRARY])
        bundles.append(tmp_path / f"{number}.tprof")
        bundle(bundles[-1], *run.traces())
    apart = [[f"{path}/{name}" for name in members(path)] for path in bundles]
    whole = json.loads(analyze("diff", "--json", *(word for name in apart[0] for word in ("--baseline", name)), *apart[1]).stdout)
    assert json.loads(analyze("diff", "--json", *bundles).stdout) == whole
    assert "exceeded" not in analyze("check", "--max-peak", "1TiB", "--baseline", bundles[0], bundles[1]).stdout


def test_a_bundle_of_bundles(forked, tmp_path):
    """Has the same bytes as one made of the traces; a folder with a bundle in it, too."""
    bundle(tmp_path / "run.tprof", forked)
    bundle(tmp_path / "again.tprof", tmp_path / "run.tprof")
    assert (tmp_path / "again.tprof").read_bytes() == (tmp_path / "run.tprof").read_bytes()
    (tmp_path / "folder").mkdir()
    shutil.move(tmp_path / "run.tprof", tmp_path / "folder")
    bundle(tmp_path / "third.tprof", tmp_path / "folder")
    assert (tmp_path / "third.tprof").read_bytes() == (tmp_path / "again.tprof").read_bytes()


# ---- the file ----

def test_tar_reads_it(forked, tmp_path):
    """Members are the compact traces: a second reader gets the traces' bytes."""
    path = tmp_path / "run.tprof"
    bundle(path, forked)
    listed = subprocess.run(["tar", "tf", path], check=True, capture_output=True, text=True).stdout.split()
    assert listed == sorted(f"job/{trace.name}" for trace in forked.iterdir())
    for name, data in members(path).items():
        raw = (forked / name.split("/")[1]).read_bytes()
        assert expand(data) == meaningful(raw)
    subprocess.run(["tar", "xf", path], check=True, cwd=tmp_path)
    assert report(*sorted((tmp_path / "job").iterdir()))["combined"] == report(path)["combined"]


@pytest.mark.parametrize("form", ["ustar", "pax", "gnu", "v7"])
def test_what_tar_makes_is_read(forked, tmp_path, form):
    """Long names and all; beside other files, which are named and passed over."""
    bundle(tmp_path / "run.tprof", forked)
    deep = tmp_path / "x" / ("folder" * 10) / ("name" * 8 if form in ("ustar", "v7") else "name" * 40)
    deep.mkdir(parents=True)
    subprocess.run(["tar", "xf", tmp_path / "run.tprof"], check=True, cwd=deep)
    (deep / "job/README").write_text("not a trace")
    (deep / "job/link").symlink_to("README")
    archive = tmp_path / "made.tar"
    subprocess.run(["tar", "cf", archive, f"--format={form}", "--sort=name", "x" if form != "v7" else "job"], check=True,
                   cwd=tmp_path if form != "v7" else deep)
    if form == "v7":  # has no magic
        assert "not a tprof trace" in analyze("summary", archive, status=3).stderr
        return
    done = analyze("summary", "--json", archive)
    got = json.loads(done.stdout)
    assert got["combined"] == report(tmp_path / "run.tprof")["combined"]
    assert len(done.stderr.splitlines()) == 1 and "job/README: left out: no compact trace" in done.stderr


def test_names_of_members(forked, tmp_path):
    """FOLDER/NAME; more where two would be the same; nothing that leads out of where it is unpacked."""
    trace, other = sorted(forked.iterdir())[:2]
    for folder in ("a/x", "b/x", "c/" + "long" * 40):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "a/x/trace.bin").write_bytes(trace.read_bytes())
    (tmp_path / "b/x/trace.bin").write_bytes(other.read_bytes())
    (tmp_path / f"c/{'long' * 40}/t.bin").write_bytes(sorted(forked.iterdir())[2].read_bytes())
    path = tmp_path / "run.tprof"
    done = subprocess.run([ANALYZE, "bundle", "../a/x/trace.bin", tmp_path / "b", f"./{'long' * 40}/t.bin", "-o", path],
                          cwd=tmp_path / "c", capture_output=True, text=True, check=True)
    assert done.stderr == ""
    names = list(members(path))
    assert names[:2] == ["x/trace.bin", "b/x/trace.bin"] and len(names) == 3
    assert not any(name.startswith("/") or ".." in name for name in names)


def test_the_file_is_whole_or_not_there(forked, tmp_path):
    path = tmp_path / "run.tprof"
    done = subprocess.run(["sh", "-c", f"ulimit -f 8; exec {ANALYZE} bundle {forked} -o {path}"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and "can't be written" in done.stderr
    assert list(tmp_path.iterdir()) == []
    bundle(path, forked)
    before = path.read_bytes()
    assert "it is a trace" in analyze("bundle", forked, "-o", path, status=2).stderr
    assert path.read_bytes() == before and [path] == list(tmp_path.iterdir())
    assert "-o FILE" in analyze("bundle", forked, status=2).stderr
    assert "can't be written" in analyze("bundle", forked, "-o", "/dev/null", status=2).stderr


def test_what_is_no_trace_is_left_out(forked, tmp_path):
    folder = tmp_path / "job"
    shutil.copytree(forked, folder)
    (folder / "notes.txt").write_text("hello")
    broken = sorted(folder.glob("*.bin"))[0]
    broken.write_bytes(broken.read_bytes()[:9])
    err = bundle(tmp_path / "run.tprof", folder)
    assert len(err.splitlines()) == 1 and f"{broken}" in err and "left out" in err
    assert len(members(tmp_path / "run.tprof")) == len(list(forked.iterdir())) - 1
    (tmp_path / "empty").mkdir()
    analyze("bundle", tmp_path / "empty", "-o", tmp_path / "none.tprof", status=3)
    assert not (tmp_path / "none.tprof").exists()


def test_memory_is_that_of_one_trace(tmp_path):
    """Of many traces no more than of one; nothing is read that is not needed."""
    starter = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
               " print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    run = Harness(tmp_path).run([WORKLOADS / "shared_arena", 20000], [LIBRARY])
    trace = run.traces()[0]
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number}.bin").write_bytes(trace.read_bytes())
    (tmp_path / "one").mkdir()
    shutil.copy(trace, tmp_path / "one")
    peaks = [int(subprocess.run([PYTHON, "-c", starter, ANALYZE, "bundle", tmp_path / name, "-o", tmp_path / f"{name}.tprof"],
                                check=True, capture_output=True, text=True).stdout) for name in ("one", "many")]
    assert peaks[1] < peaks[0] * 1.2


# ---- damage ----

def numbers(process):
    return [process["heap"][key] for key in ("allocations", "frees", "allocated_bytes", "peak_bytes", "end_bytes")]


def processes(done):
    """Of a report of one process or of several."""
    got = json.loads(done.stdout)
    return got.get("processes", [got])



def test_cut_anywhere(forked, tmp_path):
    """Members that are whole are read, and their figures are those of the traces; the first one that is not is named."""
    path, cut = tmp_path / "run.tprof", tmp_path / "cut.tprof"
    bundle(path, forked)
    data = path.read_bytes()
    with tarfile.open(path) as archive:
        ends = [(member.name, member.offset_data + member.size) for member in archive]
    generator = random.Random(1)
    for length in sorted({1, 511, 512, 513, *(generator.randrange(len(data)) for _ in range(25)), len(data) - 1024}):
        cut.write_bytes(data[:length])
        whole = [name for name, end in ends if end <= length]
        done = survive(cut)
        assert (done.returncode == 0) == bool(whole), (length, done.stderr)
        assert str(cut) in done.stderr or length >= len(data) - 512  # an empty block ends an archive
        if whole:
            alone = analyze("summary", "--json", *(f"{path}/{name}" for name in whole))
            assert [numbers(process) for process in processes(done)] == [numbers(process) for process in processes(alone)]
            assert f"damaged at offset {length}" in done.stderr or length >= len(data) - 512


def test_damage_anywhere(forked, tmp_path):
    """A flipped byte costs no more than the member that it is in; a header, its member."""
    path, damaged = tmp_path / "run.tprof", tmp_path / "damaged.tprof"
    bundle(path, forked)
    data = path.read_bytes()
    with tarfile.open(path) as archive:
        places = [(member.offset, member.offset_data + member.size) for member in archive]
    generator = random.Random(2)
    for number in range(60):
        at = generator.randrange(len(data)) if number > len(places) else places[number % len(places)][0] + 5
        damaged.write_bytes(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1:])
        done = survive(damaged)
        assert done.returncode == 0, (at, done.stderr)
        assert len(processes(done)) >= len(places) - 1, (at, done.stderr)


def test_hostile_headers(tmp_path):
    """Sizes beyond the file, in binary, negative; pax records without an end; names without one: an error, no crash, no hang."""
    def header(**fields):
        block = bytearray(512)
        spots = {"name": 0, "size": 124, "type": 156, "magic": 257, "prefix": 345}
        for key, value in {"magic": b"ustar\x0000", "size": b"00000000000\0", "type": b"0", **fields}.items():
            block[spots[key]:spots[key] + len(value)] = value
        block[148:156] = b"%06o\0 " % (sum(block[:148]) + 8 * 32 + sum(block[156:]))
        return bytes(block)
    odd = {
        "size beyond": header(name=b"a", size=b"77777777777\0"),
        "binary size": header(name=b"a", size=b"\x80" + b"\xff" * 11),
        "negative size": header(name=b"a", size=b"\xff" * 12),
        "name without an end": header(name=b"n" * 100, prefix=b"p" * 155),
        "pax without an end": header(type=b"x", size=b"00000000020\0") + b"99999999999999999999" + bytes(492),
        "pax with length 0": header(type=b"x", size=b"00000000020\0") + b"0 path=x\n" + bytes(503),
        "pax of a size": header(type=b"x", size=b"00000000030\0") + b"24 size=18446744073709551\n"[:24] + bytes(488) + header(name=b"a"),
        "long name cut": header(type=b"L", size=b"00000100000\0") + b"x" * 100,
        "only a header": header(name=b"a"),
        "many": header(name=b"a") * 3000,
    }
    for what, data in odd.items():
        (tmp_path / "odd.tprof").write_bytes(data)
        assert survive(tmp_path / "odd.tprof").returncode == 3, what


# ---- names that may not leave ----

PLANTED = r"""
import os
import tprof
class AcmeNet:
    def forward_acme(self):
        with tprof.op("AcmeConv", "acmecat"):
            return [bytes(1000 + i) for i in range(200)]
net, keep = AcmeNet(), []
for i in range(30):
    keep.append(net.forward_acme())
    tprof.step()
tprof.mark("acme warm")
tprof.thread_name("acme-main")
tprof.value("acme_parameters", 77)
os.system("true acme_command")
if os.fork() == 0:
    keep.append(net.forward_acme())
    os._exit(0)
os.wait()
"""
LIBRARY_OF_PLANTED = r"""
#include <cstdlib>
namespace acme { struct Box { int v; }; __attribute__((noinline)) void *grow(Box b) { return malloc(b.v); } }
int main() { for (int i = 0; i < 100; i++) acme::grow({100 + i}); }
"""
SECRET = re.compile(rb"[Aa]cme|ACME|alice-host|alice")
EXPRESSION = "[Aa]cme|ACME|alice"


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Names of all kinds in the traces of Python, a shell and a C++ program, in a folder of alice's."""
    home = tmp_path_factory.mktemp("home") / "alice" / "acme"
    home.mkdir(parents=True)
    (home / "acme_train.py").write_text(PLANTED)
    (home / "acme.cc").write_text(LIBRARY_OF_PLANTED)
    subprocess.run(["g++", "-g", "-o", home / "acme_program", home / "acme.cc"], check=True)
    for words in ([PYTHON, "acme_train.py", "--host=alice-host.acme.example"], ["./acme_program", "--alice"]):
        out = home / f"acme_{len(words)}.bin"
        subprocess.run([LAUNCHER, "run", "-q", "-o", out, "--", *words], check=True, cwd=home, capture_output=True,
                       env={**os.environ, "PYTHONPATH": str(ROOT / "scripts"), "SLURM_JOB_ID": "acme-job-7", "SLURM_PROCID": "1"})
    return home


def decompressed(path):
    """All bytes that anyone gets out of the bundle: names of members and what their frames hold."""
    return {name: name.encode() + b"".join(frames(data)) for name, data in members(path).items()}


def test_stripped_names_are_nowhere(planted, tmp_path):
    """In the decompressed bytes of no member; before, they are in each."""
    plain, stripped = tmp_path / "plain.tprof", tmp_path / "stripped.tprof"
    bundle(plain, planted)
    bundle(stripped, planted, options=["--strip-names", EXPRESSION])
    before, after = decompressed(plain), decompressed(stripped)
    assert len(before) == len(after) >= 4
    everything = b"".join(before.values())
    for name in (b"forward_acme", b"AcmeConv", b"acmecat", b"acme warm", b"acme-main", b"acme_parameters", b"acme_command",
                 b"acme_train.py", b"alice-host.acme.example", b"acme-job-7", b"acme::grow", b"_ZN4acme4grow", b"acme.cc", b"acme_program", b"alice"):
        assert name in everything, name
    for name, data in after.items():
        assert not SECRET.search(data), (name, SECRET.search(data))
        assert b"libc.so.6" in data  # what does not match stays
    host = re.escape(os.uname().nodename)
    bundle(tmp_path / "host.tprof", planted, options=["--strip-names", host])
    assert os.uname().nodename.encode() in everything
    assert not any(os.uname().nodename.encode() in data for data in decompressed(tmp_path / "host.tprof").values())


def test_numbers_stay(planted, tmp_path):
    """All figures are the same; pseudonyms stand where names stood, the same for the same name in all traces of the bundle."""
    plain, stripped = tmp_path / "plain.tprof", tmp_path / "stripped.tprof"
    bundle(plain, planted)
    bundle(stripped, planted, options=["--strip-names", EXPRESSION])
    pairs = list(zip(members(plain), members(stripped)))
    functions = {}
    for old, new in pairs:
        one, other = report(f"{plain}/{old}"), report(f"{stripped}/{new}")
        assert numbers(one) == numbers(other)
        assert [op["calls"] for op in one["ops"]] == [op["calls"] for op in other["ops"]]
        ours, theirs = ([frame["function"] for site in sites(trace, "peak", "--by", "stack") for frame in site["stack"]]
                        for trace in (f"{plain}/{old}", f"{stripped}/{new}"))
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            if a and re.search(EXPRESSION, a):
                assert functions.setdefault(a, b) == b and b != a
            else:
                assert a == b
    assert {"acme::grow(acme::Box)", "AcmeNet.forward_acme"} <= set(functions)
    assert len(set(functions.values())) == len(functions)


def test_pseudonyms_are_drawn_anew(planted, tmp_path):
    """Two bundles of the same traces share none: nothing about a name can be looked up."""
    texts = []
    for number in range(2):
        path = tmp_path / f"{number}.tprof"
        bundle(path, planted, options=["--strip-names", EXPRESSION])
        texts.append({name for name in members(path)})
    first, second = ({part for name in names for part in name.split("/") if len(part) == 12} for names in texts)
    assert first and second and not first & second


@pytest.mark.parametrize("expression", [".", "^/", "train", "x*", "/usr/lib/.*so"])
def test_odd_expressions(planted, tmp_path, expression):
    """The traces are read as before, whatever is replaced; nothing is damaged."""
    plain, stripped = tmp_path / "plain.tprof", tmp_path / "stripped.tprof"
    bundle(plain, planted)
    assert bundle(stripped, planted, options=["--strip-names", expression]) == ""
    for old, new in zip(members(plain), members(stripped)):
        one, other = report(f"{plain}/{old}"), report(f"{stripped}/{new}")
        assert one["heap"]["peak_bytes"] == other["heap"]["peak_bytes"]
        assert other["capture"]["damage"] == []
        assert len(Trace(expand(members(plain)[old])).events) == len(Trace(expand(members(stripped)[new])).events)
    for command in ("summary", "info", "leaks", "ops", "html", "lines"):
        analyze(command, stripped)


def test_wrong_expression(planted, tmp_path):
    err = analyze("bundle", planted, "-o", tmp_path / "x.tprof", "--strip-names", "(", status=2).stderr
    assert "--strip-names (: not an extended regular expression" in err


def test_a_ring_that_knows_a_name_is_left_out(tmp_path):
    """Its checkpoint can't be changed, and has the thread's name. With an expression that nothing in it matches, it is bundled."""
    count = tmp_path / "count"
    run = Harness(tmp_path).run([WORKLOADS / "ring", count, 1, 400000], [LIBRARY],
                                {"TPROF_RING": "4M", "TPROF_CPU": "off", "TPROF_RING_WAIT": "60000"})
    assert run.status == 0
    trace, = run.traces()
    path = tmp_path / "run.tprof"
    err = analyze("bundle", trace, "-o", path, "--strip-names", "rin[g]", status=3).stderr
    assert "summary of its old events holds 'ring', which can't be replaced; left out" in err and not path.exists()
    assert bundle(path, trace, options=["--strip-names", "count"]) == ""
    assert report(path)["heap"] == report(trace)["heap"]
    assert not any(b"count" in data for data in decompressed(path).values())


def test_every_type_of_record_is_known():
    """A new type of record must say where its texts are."""
    table = (ROOT / "analyzer/commands/strip_records.c").read_text()
    types = (ROOT / "include/tprof/format.h").read_text()
    for kind in ("TABLE", "EVENT"):
        named = set(re.findall(rf"^\t(TPROF_{kind}_[A-Z_]+) = \d+,", types, re.M))
        assert len(named) > 15 and named == set(re.findall(rf"\[(TPROF_{kind}_[A-Z_]+)\]", table))
