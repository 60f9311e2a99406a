// SPDX-License-Identifier: Apache-2.0
// The data of one process, as the analyzer wrote it: what changed in each interval between two looks. What was alive at
// a look is the sum of the changes before it.

export interface RawPage {
	schema: string;
	looksNs: number[];
	peakLook: number;
	startNs: number;
	durationNs: number;
	estimated: boolean;
	reduced: { lines: number; linesShown: number; stacks: number; rows: number; intervals: number; calls: number; callsShown: number };
	texts: string[];
	frames: { function: number[]; file: number[]; line: number[]; module: number[]; flags: number[] };
	tree: { parent: number[]; frame: number[] };
	sites: {
		node: number[]; op: number[]; beginBytes: number[]; beginBlocks: number[]; peakBytes: number[]; peakBlocks: number[];
		endBytes: number[]; endBlocks: number[]; bytes: number[]; allocations: number[]; temporary: number[];
	};
	changes: {
		ends: number[]; site: number[]; liveBytes: number[]; liveBlocks: number[]; bytes: number[]; allocations: number[];
		temporary: number[];
	};
	cpu: { periodNs: number; node: number[]; thread: number[]; op: number[]; ends: number[]; where: number[]; periods: number[] };
	opTree: { parent: number[]; op: number[]; ends: number[]; node: number[]; calls: number[]; totalNs: number[]; selfNs: number[] };
	ops: RawOp[];
	calls: {
		seen: number; shortestNs: number; thread: number[]; op: number[]; depth: number[]; beginNs: number[]; endNs: number[];
	};
	threads: { thread: number; tid: number; firstNs: number; lastNs: number; name: string }[];
	work: { ends: number[]; thread: number[]; periods: number[]; opNs: number[]; bytes: number[]; allocations: number[] };
	stepList: {
		first: number[]; steps: number[]; beginNs: number[]; endNs: number[]; beginBytes: number[]; endBytes: number[]; highBytes: number[];
	};
	points: { timeNs: number[]; live: number[]; blocks: number[]; rss: number[]; mapped: number[] };
	memory: { live: number[]; rss: number[]; shared: number[]; own: number[]; stacks: number[]; mapped: number[] }; // by look
	report: any;
}

export interface RawOp {
	op: number;
	name: string;
	category: string;
	minNs: number; p50Ns: number; p90Ns: number; p99Ns: number; maxNs: number;
	histogram: [number, number][]; // smallest time of a bucket, calls
	shapesTotal: number;
	shapes: { shape: string; calls: number; totalNs: number; flop: number }[];
}

export const PLUMBING = 1, LIBRARY = 2, PYTHON = 4, WAITS = 16;

// Values of the sites, or of CPU rows, or of nodes of the tree of calls: an amount and a count for each.
export interface Values {
	amount: Float64Array;
	count: Float64Array;
}

// The code of a module of Python has no name of its own.
function nameOf(name: string, file: string): string {
	return name === "<module>" && file ? `<module> ${file.split("/").slice(-2).join("/").replace(/^.*\/(?!__init__)/, "")}` : name;
}

function values(length: number): Values {
	return { amount: new Float64Array(length), count: new Float64Array(length) };
}

// What is asked: of a moment (a look) or of the time between two looks.
export type Measure = "alive" | "peak" | "allocated" | "unfreed" | "growth" | "temporary" | "cpu" | "ops";

export const MEASURES: { key: Measure; label: string; of: string; unit: "bytes" | "ns"; counted: string; ranged: boolean }[] = [
	{ key: "peak", label: "alive at the peak", of: "alive at the peak", unit: "bytes", counted: "blocks", ranged: false },
	{ key: "alive", label: "alive at a moment", of: "alive", unit: "bytes", counted: "blocks", ranged: true },
	{ key: "growth", label: "grown in a range", of: "more alive at the end of the range", unit: "bytes", counted: "blocks", ranged: true },
	{ key: "allocated", label: "allocated", of: "allocated", unit: "bytes", counted: "allocations", ranged: true },
	{ key: "temporary", label: "temporary allocations", of: "of temporary allocations", unit: "bytes", counted: "temporary allocations", ranged: true },
	{ key: "unfreed", label: "unfreed at the end", of: "unfreed at the end", unit: "bytes", counted: "blocks", ranged: false },
	{ key: "cpu", label: "CPU time", of: "of CPU time", unit: "ns", counted: "sampling periods", ranged: true },
	{ key: "ops", label: "time in ops", of: "in ops", unit: "ns", counted: "calls", ranged: true },
];

export function measureOf(key: Measure): (typeof MEASURES)[number] {
	return MEASURES.find((one) => one.key === key)!;
}

export class PageData {
	readonly looks: number; // their number
	readonly siteCount: number;
	readonly nodeCount: number;
	readonly names: string[]; // of frames: function
	readonly frameKey: Int32Array; // the same for frames of the same function and module
	readonly opOf: Map<number, RawOp>;
	readonly ownOf: Int32Array; // by node: the frame to which its memory is put down; -1: none

	constructor(readonly raw: RawPage) {
		this.looks = raw.looksNs.length;
		this.siteCount = raw.sites.node.length;
		this.nodeCount = raw.tree.parent.length;
		this.names = raw.frames.function.map((text, i) => nameOf(raw.texts[text], raw.texts[raw.frames.file[i]]));
		this.opOf = new Map(raw.ops.map((op) => [op.op, op]));
		this.frameKey = this.makeKeys();
		this.ownOf = this.makeOwn();
	}

	private makeKeys(): Int32Array {
		const known = new Map<string, number>(), frames = this.raw.frames;
		return Int32Array.from(frames.function, (name, i) => {
			// A file of Python is a module of its own, which the interpreter's is not.
			const key = name + " " + (frames.flags[i] & PYTHON ? "py " + frames.file[i] : frames.module[i]);
			if (!known.has(key))
				known.set(key, known.size);
			return known.get(key)!;
		});
	}

	// The innermost frame of the user's own code; without one, the innermost that is no plumbing.
	private makeOwn(): Int32Array {
		const { parent, frame } = this.raw.tree, flags = this.raw.frames.flags;
		const own = new Int32Array(this.nodeCount).fill(-1), other = new Int32Array(this.nodeCount).fill(-1);
		for (let i = 1; i < this.nodeCount; i++) {
			const of = flags[frame[i]];
			own[i] = of & (LIBRARY | PLUMBING) ? own[parent[i]] : frame[i];
			other[i] = of & PLUMBING ? other[parent[i]] : frame[i];
		}
		return Int32Array.from(own, (frameOf, i) => (frameOf >= 0 ? frameOf : other[i] >= 0 ? other[i] : frame[i]));
	}

	text(number: number): string {
		return this.raw.texts[number];
	}

	file(frame: number): string {
		return this.text(this.raw.frames.file[frame]);
	}

	// "train.py:15", or the function where the file is not known.
	place(frame: number): string {
		const file = this.file(frame), line = this.raw.frames.line[frame];
		if (!file)
			return this.names[frame];
		const parts = file.split("/"), last = parts[parts.length - 1];
		const name = last === "__init__.py" && parts.length > 1 ? parts[parts.length - 2] + "/" + last : last;
		return line ? name + ":" + line : name;
	}

	module(frame: number): string {
		return this.text(this.raw.frames.module[frame]);
	}

	opName(op: number): string {
		return op ? this.opOf.get(op)?.name ?? "(an op)" : "";
	}

	// The look that is nearest to a time.
	lookAt(ns: number): number {
		const looks = this.raw.looksNs;
		let low = 0, high = looks.length - 1;
		while (high - low > 1) {
			const middle = (low + high) >> 1;
			if (looks[middle] <= ns)
				low = middle;
			else
				high = middle;
		}
		return ns - looks[low] <= looks[high] - ns ? low : high;
	}

	private changesBetween(from: number, to: number): [number, number] {
		const ends = this.raw.changes.ends;
		return [from ? ends[from - 1] : 0, to ? ends[to - 1] : 0];
	}

	// What each site had alive at a look.
	alive(look: number): Values {
		const { site, liveBytes, liveBlocks } = this.raw.changes, [, end] = this.changesBetween(0, look);
		const amount = Float64Array.from(this.raw.sites.beginBytes), count = Float64Array.from(this.raw.sites.beginBlocks);
		for (let i = 0; i < end; i++) {
			amount[site[i]] += liveBytes[i];
			count[site[i]] += liveBlocks[i];
		}
		return { amount, count };
	}

	private between(from: number, to: number, amounts: number[], counts: number[]): Values {
		const site = this.raw.changes.site, [begin, end] = this.changesBetween(from, to), sum = values(this.siteCount);
		for (let i = begin; i < end; i++) {
			sum.amount[site[i]] += amounts[i];
			sum.count[site[i]] += counts[i];
		}
		return sum;
	}

	// How much more (or less) each site had alive at the end of a range.
	growth(from: number, to: number): Values {
		return this.between(from, to, this.raw.changes.liveBytes, this.raw.changes.liveBlocks);
	}

	allocated(from: number, to: number): Values {
		return this.between(from, to, this.raw.changes.bytes, this.raw.changes.allocations);
	}

	// The bytes of temporary allocations are not recorded: they are a proportional part of what the site allocated.
	temporary(from: number, to: number): Values {
		const { bytes, allocations, temporary } = this.raw.changes;
		const parts = bytes.map((size, i) => (allocations[i] ? size * temporary[i] / allocations[i] : 0));
		return this.between(from, to, parts, temporary);
	}

	cpu(from: number, to: number, thread: number): Values {
		const { ends, where, periods, periodNs, node } = this.raw.cpu, sum = values(node.length);
		for (let i = from ? ends[from - 1] : 0; i < (to ? ends[to - 1] : 0); i++) {
			if (thread && this.raw.cpu.thread[where[i]] !== thread)
				continue;
			sum.amount[where[i]] += periods[i] * periodNs;
			sum.count[where[i]] += periods[i];
		}
		return sum;
	}

	// Of nodes of the tree of calls: self time and calls.
	ops(from: number, to: number): Values & { total: Float64Array } {
		const { ends, node, selfNs, totalNs, calls, parent } = this.raw.opTree;
		const sum = values(parent.length), total = new Float64Array(parent.length);
		for (let i = from ? ends[from - 1] : 0; i < (to ? ends[to - 1] : 0); i++) {
			sum.amount[node[i]] += selfNs[i];
			sum.count[node[i]] += calls[i];
			total[node[i]] += totalNs[i];
		}
		return { ...sum, total };
	}

	// CPU time of each thread in functions that wait for others.
	spinning(from: number, to: number): Map<number, number> {
		const { ends, where, periods, periodNs, node, thread } = this.raw.cpu, flags = this.raw.frames.flags;
		const sums = new Map<number, number>();
		for (let i = from ? ends[from - 1] : 0; i < (to ? ends[to - 1] : 0); i++) {
			const frame = this.raw.tree.frame[node[where[i]]];
			if (frame >= 0 && flags[frame] & WAITS)
				sums.set(thread[where[i]], (sums.get(thread[where[i]]) ?? 0) + periods[i] * periodNs);
		}
		return sums;
	}

	// Of each thread, by its number: CPU time, time in ops, bytes and allocations in a range.
	threads(from: number, to: number): Map<number, { cpu: number; ops: number; bytes: number; allocations: number }> {
		const { ends, thread, periods, opNs, bytes, allocations } = this.raw.work;
		const sums = new Map<number, { cpu: number; ops: number; bytes: number; allocations: number }>();
		for (let i = from ? ends[from - 1] : 0; i < (to ? ends[to - 1] : 0); i++) {
			const sum = sums.get(thread[i]) ?? { cpu: 0, ops: 0, bytes: 0, allocations: 0 };
			sum.cpu += periods[i] * this.raw.cpu.periodNs;
			sum.ops += opNs[i];
			sum.bytes += bytes[i];
			sum.allocations += allocations[i];
			sums.set(thread[i], sum);
		}
		return sums;
	}

	values(measure: Measure, from: number, to: number, thread: number): Values {
		const sites = this.raw.sites;
		switch (measure) {
		case "alive": return this.alive(to);
		case "growth": return this.growth(from, to);
		case "allocated": return this.allocated(from, to);
		case "temporary": return this.temporary(from, to);
		case "cpu": return this.cpu(from, to, thread);
		case "ops": return this.ops(from, to);
		case "unfreed": return { amount: Float64Array.from(sites.endBytes), count: Float64Array.from(sites.endBlocks) };
		default: return { amount: Float64Array.from(sites.peakBytes), count: Float64Array.from(sites.peakBlocks) };
		}
	}
}

export function sum(list: ArrayLike<number>): number {
	let total = 0;
	for (let i = 0; i < list.length; i++)
		total += list[i];
	return total;
}
