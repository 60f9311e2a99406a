# SPDX-License-Identifier: Apache-2.0
"""A second reader of the trace format, written from its text alone: slow, plain, and no code in common with the first."""
import struct

import zstandard

HEADER_SIZE_AT, MASK64 = 12, (1 << 64) - 1


def uvarint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def svarint(data, at):
    value, at = uvarint(data, at)
    return (value >> 1) ^ -(value & 1), at


def usable_guess(size):
    return max(24, ((size + 8 + 15) & ~15) - 8)


class Trace:
    """events: (time, sequence, kind, ...); stacks: node -> (parent, frame); frames: frame -> (module, offset), of Python
    (code, line); joins: node -> (native node, Python node); codes: code -> (function, file, first line). Of a ring, places: a byte
    for each chunk; checkpoint: number, bytes, events, ticks; state: what the checkpoint contains."""

    def __init__(self, data):
        assert data[:8] == b"TPROF\r\n\x1a"
        version, header_size, chunk_size, _page = struct.unpack_from("<4I", data, 8)
        assert version == 1
        self.machine = struct.unpack_from("<I", data, 1564)[0]
        features = struct.unpack_from("<Q", data, 24)[0]
        assert not features & ~13
        self.share = bool(features & 1)
        self.tick_shift = struct.unpack_from("<I", data, 64)[0]
        self.events, self.nodes, self.frames, self.modules = [], {}, {}, {}
        self.codes, self.joins, self.loops, self.entries = {}, {}, set(), set()
        self.places, parts = b"", {}
        for at in range(header_size, len(data), chunk_size):
            magic, kind, thread, _tid = struct.unpack_from("<4I", data, at) if at + 112 <= len(data) else (0, 0, 0, 0)
            if magic != 0x4b435054:
                continue
            ticks = struct.unpack_from("<Q", data, at + 16)[0]
            committed = struct.unpack_from("<Q", data, at + 40)[0]
            body = data[at + 120:at + 120 + committed]
            if kind == 2:
                self.read_tables(body)
            elif kind == 3:
                self.places = body
            elif kind == 4:
                parts[struct.unpack_from("<Q", data, at + 48)[0], thread] = body
            else:
                self.read_events(body, ticks >> self.tick_shift)
        number = struct.unpack_from("<Q", data, 1672)[0] if features & 4 else 0
        self.checkpoint = struct.unpack_from("<4Q", data, 1680 + 32 * (number % 2)) if number else None
        self.state = self.read_state({part: body for (whose, part), body in parts.items() if whose == number})

    def read_state(self, parts):
        if not self.checkpoint:
            return b""
        packed = b"".join(parts[i] for i in sorted(parts))
        assert sorted(parts) == list(range(len(parts))) and len(packed) == self.checkpoint[1]
        state = zstandard.ZstdDecompressor().decompress(packed)
        magic, _, zero, length = struct.unpack_from("<QIIQ", state)
        assert (magic, zero) == (0x3165746174737074, 0) and length == len(state) - 32
        return state[32:]

    def read_tables(self, data):
        at = expected = python = 0
        while at < len(data):
            tag = data[at]
            at += 1
            if tag & 3 == 1:
                count = tag >> 2
                if not count:
                    count, at = uvarint(data, at)
                delta, at = svarint(data, at)
                first = expected + delta
                coded, at = uvarint(data, at)
                parent = coded >> 1 if coded & 1 else first - (coded >> 1)
                for node in range(first, first + count):
                    frame, at = uvarint(data, at)
                    assert node not in self.nodes
                    self.nodes[node] = (parent, frame)
                    parent = node
                expected = first + count
                continue
            if tag & 3 == 2:
                assert tag < 0x20
                step, at = svarint(data, at) if tag & 4 else (0, at)
                node = expected + step
                back, at = uvarint(data, at) if tag & 8 else (1, at)
                step, at = svarint(data, at) if tag & 16 else (0, at)
                python += step
                assert node not in self.nodes and node > max(node - back, python)
                self.joins[node] = (node - back, python)
                expected = node + 1
                continue
            assert tag & 3 == 0 and tag, tag
            length, at = uvarint(data, at)
            body, at = data[at:at + length], at + length
            if tag >> 2 == 1:
                module, i = uvarint(body, 0)
                for _ in range(4):  # bias, start, end, ticks
                    _, i = uvarint(body, i)
                self.modules[module] = body[i + 1 + body[i]:].decode()
            elif tag >> 2 == 3:
                frame, i = uvarint(body, 0)
                module, i = uvarint(body, i)
                offset, i = uvarint(body, i)
                self.frames[frame] = (module, offset)
                if body[i] & 2:
                    self.loops.add(frame)
            elif tag >> 2 == 5:
                code, i = uvarint(body, 0)
                line, i = uvarint(body, i)
                size, i = uvarint(body, i)
                self.codes[code] = (body[i:i + size].decode(), body[i + size:].decode(), line)
            elif tag >> 2 == 6:
                frame, i = uvarint(body, 0)
                code, i = uvarint(body, i)
                line, i = uvarint(body, i)
                self.frames[frame] = (code, line)
                if body[i] & 1:
                    self.entries.add(frame)

    def read_events(self, data, time):
        addresses, stacks = [0] * 256, [0] * 256
        address = stack = delta_node = at = 0
        while at < len(data):
            tag = data[at]
            at += 1
            if tag & 3 == 0:
                length, at = uvarint(data, at)
                body, at = data[at:at + length], at + length
                time = self.read_long(tag >> 2, body, time)
                if tag >> 2 == 1:
                    addresses, stacks = [0] * 256, [0] * 256
                    address = stack = delta_node = 0
                continue
            step, at = uvarint(data, at)
            time += step
            if tag & 3 == 3:
                op = within = None
                if not tag & 4:
                    op, at = uvarint(data, at)
                elif tag & 16:
                    within, at = uvarint(data, at)
                self.events.append((time, "op" if op else "op_end", op if op else within))
                continue
            if tag & 4:
                where = addresses[data[at]]
                at += 1
            else:
                step, at = svarint(data, at)
                address = (address + step) & MASK64
                where = address
                addresses[((address * 0x9e3779b97f4a7c15) & MASK64) >> 56] = address
            if tag & 3 == 2:
                fn = 32
                if tag & 8:
                    fn, at = data[at], at + 1
                self.events.append((time, "free", where * 8, fn))
                continue
            size, at = uvarint(data, at)
            if tag & 0x20:
                _more, at = uvarint(data, at)
            fn = 0
            if tag & 0x40:
                fn, at = data[at], at + 2
            mean = None
            if tag & 0x80:
                mean, at = data[at], at + 1
                assert mean <= 62
            form = tag >> 3 & 3
            if form == 1:
                stack, at = stacks[data[at]], at + 1
            elif form == 2:
                step, at = svarint(data, at)
                delta_node += step
                stack = delta_node
                stacks[((stack * 0x9e3779b1) & 0xffffffff) >> 24] = stack
            self.events.append((time, "alloc", where * 8, size, stack, fn, mean))

    def lasted(self, body, flags, calls, timed, ticks):
        if not flags & 4:
            return 0
        lasted, of = struct.unpack_from("<II", body, len(body) - 168)
        assert flags & 2 and bool(lasted) == bool(of) == bool(timed)
        assert timed <= of <= calls and ticks <= lasted
        return lasted

    def read_long(self, kind, body, time):
        if kind == 1:
            return uvarint(body, 0)[0] >> self.tick_shift
        step, at = uvarint(body, 0)
        time += step
        if kind == 2:
            self.events.append((time, "cancel"))
        elif kind == 13:
            self.events.append((time, "work", *self.read_work(body[at:])))
        elif kind == 14:
            op, at = uvarint(body, at)
            work = self.read_work(body[at + 1:at + 1 + body[at]]) if body[at] else None
            ticks, units, calls, least, most, flags = struct.unpack_from("<QQIIII", body, len(body) - 160)
            histogram = struct.unpack_from("<64H", body, len(body) - 128)
            timed = sum(histogram)
            assert self.share if flags & 2 else timed == calls
            lasted = self.lasted(body, flags, calls, timed, ticks)
            assert timed <= calls and (timed * least <= ticks <= timed * most if timed else ticks == 0)
            self.events.append((time, "fold", op, work, calls, units, timed, lasted))
        elif kind == 7:
            where, at = uvarint(body, at)
            size, at = uvarint(body, at)
            _usable, at = uvarint(body, at)
            stack, end = uvarint(body, at + 2)
            self.events.append((time, "alloc", where, size, stack, body[at], self.read_mean(body, end)))
        elif kind == 15:
            where, at = uvarint(body, at)
            size, at = uvarint(body, at)
            pool, at = uvarint(body, at)
            stack, end = uvarint(body, at)
            self.events.append((time, "pool_alloc", where, size, stack, pool, self.read_mean(body, end)))
        elif kind == 16:
            where, at = uvarint(body, at)
            self.events.append((time, "pool_free", where, body[at]))
        elif kind in (17, 18):
            self.events.append((time, "pause" if kind == 17 else "resume"))
        elif kind == 8:
            where, at = uvarint(body, at)
            self.events.append((time, "free", where, body[at]))
        elif kind == 24:
            assert body[at] <= 62
            self.events.append((time, "level", body[at], bool(body[at + 1] & 1)))
        return time

    @staticmethod
    def read_mean(body, at):
        assert at == len(body) or body[at] <= 62
        return body[at] if at < len(body) else None

    def python_stack(self, node):
        """Function, file and line of the Python frames, innermost first; [] if there are none."""
        frames, _ = self.stack(self.joins.get(node, (0, 0))[1])
        return [(*self.codes[code][:2], line) for code, line in frames if code]  # 0: a call that has none any more

    def numbers(self, node):
        frames = []
        while node >= 16:
            node, frame = self.nodes[node]
            frames.append(frame)
        return frames

    @staticmethod
    def read_work(data):
        kind, at = uvarint(data, 0)
        dtype, flags, dims = data[at], data[at + 1], []
        at += 2
        while at < len(data):
            dim, at = uvarint(data, at)
            dims.append(dim)
        if flags & 64:
            dims.pop()  # says of which types the other tensors are
        return kind, dtype, flags, dims

    def stack(self, node):
        """Frames, innermost first, and the number that ends it; of a joined node the native ones."""
        node = self.joins.get(node, (node,))[0]
        frames = []
        while node >= 16:
            node, frame = self.nodes[node]
            frames.append(self.frames[frame])
        return frames, node
