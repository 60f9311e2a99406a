# SPDX-License-Identifier: Apache-2.0
"""A second reader of compact traces, written from their text alone (tprof-trace(5), COMPACT TRACES): gives the trace's bytes."""
import struct

import zstandard
from second_reader import MASK64, usable_guess, uvarint

FIRST, SEEK_TABLE, SEEK_MAGIC = 0x184d2a50, 0x184d2a5e, 0x8f92eab1
PLAIN, EVENTS, TABLES = 0, 1, 2
NAMES = ("method plain tag length alloc_from free_of index delta size usable alloc_fn free_fn stack_index stack_delta op count first "
         "parent node_frame join_node join_native join_python frame frame_module frame_pc frame_flags python python_code python_line "
         "python_flags").split()
TIME, LONG, COLUMNS = 30, 46, 110


def put(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def zigzag(value):
    return (value << 1 ^ (MASK64 if value >> 63 else 0)) & MASK64


def unzigzag(value):
    return (value >> 1) ^ (MASK64 if value & 1 else 0)


class Columns:
    def __init__(self, data):
        lengths, at, self.at = [], 0, [0] * COLUMNS
        for _ in range(COLUMNS):
            length, at = uvarint(data, at)
            lengths.append(length)
        self.data = []
        for length in lengths:
            self.data.append(data[at:at + length])
            at += length
        assert at == len(data)

    def bytes(self, column, count=1):
        column = NAMES.index(column) if isinstance(column, str) else column
        at = self.at[column]
        self.at[column] += count
        assert self.at[column] <= len(self.data[column])
        return self.data[column][at:at + count]

    def varint(self, column):
        """Its bytes, and its value."""
        column = NAMES.index(column) if isinstance(column, str) else column
        value, end = uvarint(self.data[column], self.at[column])
        return self.bytes(column, end - self.at[column]), value

    def finished(self):
        return self.at == [len(data) for data in self.data]


class Events:
    """Of a group."""

    def __init__(self, columns):
        self.columns, self.allocated, self.freed = columns, [], {}

    def records(self, length):
        recent, last, before, out = [0] * 256, 0, 0, bytearray()
        columns = self.columns
        while len(out) < length:
            tag = columns.bytes("tag")[0]
            out.append(tag)
            kind = tag & 3
            if kind == 0:
                coded, size = columns.varint("length")
                out += coded + columns.bytes(LONG + (tag >> 2), size)
                if tag >> 2 == 1:
                    recent, last = [0] * 256, 0
                before = kind
                continue
            out += columns.varint(TIME + 4 * kind + before)[0]
            before = kind
            if kind == 3:
                if not tag & 4 or tag & 16:
                    out += columns.varint("op")[0]
                continue
            behind = b""
            if kind == 1:
                behind, size = columns.varint("size")
                usable = usable_guess(size)
                if tag & 0x20:
                    coded, more = columns.varint("usable")
                    behind, usable = behind + coded, size + more
                freed = self.freed.setdefault((usable * 0x9e3779b97f4a7c15 & MASK64) >> 54, [])
                place = columns.varint("alloc_from")[1]
                address = freed.pop(-place) if place else None
            else:
                age = columns.varint("free_of")[1]
                address = self.allocated[-age][0] if age else None
            if address is None and tag & 4:
                coded = columns.bytes("index")
                address = recent[coded[0]]
            elif address is None:
                coded, step = columns.varint("delta")
                address = (last + unzigzag(step)) & MASK64
            elif tag & 4:
                coded = bytes([(address * 0x9e3779b97f4a7c15 & MASK64) >> 56])
            else:
                coded = put(zigzag((address - last) & MASK64))
            if not tag & 4:
                last = recent[(address * 0x9e3779b97f4a7c15 & MASK64) >> 56] = address
            out += coded + behind
            if kind == 2:
                if age:
                    freed = self.allocated[-age][1]
                    freed.append(address)
                    del freed[:-64]
                out += columns.bytes("free_fn") if tag & 8 else b""
                continue
            self.allocated.append((address, freed))
            out += columns.bytes("alloc_fn", 2) if tag & 0x40 else b""
            out += columns.bytes("alloc_fn", 1) if tag & 0x80 else b""
            if tag >> 3 & 3 == 1:
                out += columns.bytes("stack_index")
            elif tag >> 3 & 3 == 2:
                out += columns.varint("stack_delta")[0]
        assert len(out) == length
        return out


def table_records(columns, length):
    out, last = bytearray(), {"frame": 0, "python": 0}
    while len(out) < length:
        tag = columns.bytes("tag")[0]
        out.append(tag)
        if tag & 3 == 1:
            count = tag >> 2
            if not count:
                coded, count = columns.varint("count")
                out += coded
            out += columns.varint("first")[0] + columns.varint("parent")[0]
            for _ in range(count):
                out += columns.varint("node_frame")[0]
        elif tag & 3 == 2:
            for bit, column in ((4, "join_node"), (8, "join_native"), (16, "join_python")):
                out += columns.varint(column)[0] if tag & bit else b""
        else:
            coded, size = columns.varint("length")
            out += coded
            end = len(out) + size
            if tag >> 2 in (3, 6):
                column, fields = ("frame", ("module", "pc")) if tag >> 2 == 3 else ("python", ("code", "line"))
                last[column] = (last[column] + unzigzag(columns.varint(column)[1])) & MASK64
                out += put(last[column])
                for field in fields:
                    out += columns.varint(f"{column}_{field}")[0]
                out += columns.bytes(f"{column}_flags")
            out += columns.bytes(LONG + (tag >> 2), end - len(out))
    assert len(out) == length
    return out


def frames(data):
    """The decompressed frames, by the seek table."""
    count, flags, magic = struct.unpack("<IBI", data[-9:])
    assert magic == SEEK_MAGIC and not flags
    table = len(data) - 9 - 8 * count
    assert struct.unpack_from("<II", data, table - 8) == (SEEK_TABLE, 8 * count + 9)
    at, found = 0, []
    for i in range(count):
        compressed, length = struct.unpack_from("<II", data, table + 8 * i)
        frame = data[at:at + compressed]
        found.append(b"" if i == 0 else zstandard.ZstdDecompressor().decompress(frame, max_output_size=max(length, 1)))
        assert len(found[-1]) == length
        at += compressed
    assert at == table - 8
    return found


def expand(data):
    """The trace's bytes; those that have no meaning are zeros."""
    skippable, length, magic, version, header_size, chunk_size, groups, size, names, _ = struct.unpack_from("<II8s4IQII", data)
    assert (skippable, length, magic, version) == (FIRST, 40, b"TPROFZ\r\n", 1)
    found = frames(data)
    assert len(found) == 3 + groups + names
    out = bytearray(found[1])
    assert len(out) == min(header_size, size)
    chunks = [(found[2][at:at + 120], *struct.unpack_from("<II", found[2], at + 120)) for at in range(0, len(found[2]), 128)]
    assert len(chunks) == -(-max(size - header_size, 0) // chunk_size)
    columns = [Columns(data) for data in found[3:3 + groups]]
    events = [Events(group) for group in columns]
    for head, length, group in chunks:
        records = b""
        if group:
            method = columns[group - 1].bytes("method")[0]
            records = (columns[group - 1].bytes("plain", length) if method == PLAIN else
                       events[group - 1].records(length) if method == EVENTS else table_records(columns[group - 1], length))
        out += (head + records).ljust(chunk_size, b"\0")
    assert all(group.finished() for group in columns)
    return bytes(out[:size])
