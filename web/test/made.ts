// SPDX-License-Identifier: Apache-2.0
// Made-up pages, and a naive model of them.
import type { RawOp, RawPage } from "../src/data.ts";

export function numbers(seed: number): (below: number) => number {
	let state = seed >>> 0 || 1;
	return (below) => {
		state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 >>> 0;
		state = (state ^ (state << 13)) >>> 0;
		return state % below;
	};
}

export function op(number: number, name: string, category: string): RawOp {
	return { op: number, name, category, minNs: 1, p50Ns: 2, p90Ns: 3, p99Ns: 4, maxNs: 5, histogram: [[1, 2]], shapesTotal: 0, shapes: [] };
}

// main -> work -> leaf0 .. leaf3, each line in a file of its own; ops 1 and 2; three looks after the first.
export function page(changes: Partial<RawPage> = {}): RawPage {
	return {
		schema: "tprof-page/1", looksNs: [0, 100, 200, 300], peakLook: 2, startNs: 0, durationNs: 300, estimated: false,
		reduced: { lines: 6, linesShown: 6, stacks: 4, rows: 4, intervals: 3, calls: 0, callsShown: 0 },
		texts: ["", "main", "work", "leaf0", "leaf1", "malloc", "loop", "main.c", "lib.c", "app", "libx.so", "/home/me/train.py"],
		frames: { function: [1, 2, 3, 4, 5, 6], file: [7, 7, 8, 8, 0, 11], line: [10, 20, 5, 6, 0, 33], module: [9, 9, 10, 10, 10, 9],
			flags: [0, 0, 2, 2, 3, 4] },
		tree: { parent: [0, 0, 1, 2, 2, 3, 1], frame: [-1, 0, 1, 2, 3, 4, 5] },
		sites: { node: [5, 4, 2, 6], op: [0, 1, 1, 2], beginBytes: [0, 7, 0, 0], beginBlocks: [0, 1, 0, 0], peakBytes: [100, 7, 0, 30],
			peakBlocks: [2, 1, 0, 3], endBytes: [50, 0, 0, 0], endBlocks: [1, 0, 0, 0], bytes: [150, 0, 40, 30], allocations: [3, 0, 4, 3],
			temporary: [0, 0, 4, 0] },
		changes: { ends: [2, 4, 7], site: [0, 2, 0, 3, 0, 1, 3], liveBytes: [50, 0, 50, 30, -50, -7, -30],
			liveBlocks: [1, 0, 1, 3, -1, -1, -3], bytes: [50, 40, 50, 30, 50, 0, 0], allocations: [1, 4, 1, 3, 1, 0, 0],
			temporary: [0, 4, 0, 0, 0, 0, 0] },
		cpu: { periodNs: 10, node: [2, 3], thread: [1, 2], op: [0, 1], ends: [1, 2, 3], where: [0, 1, 0], periods: [5, 2, 1] },
		opTree: { parent: [0, 0, 0, 2, 3], op: [0, 0, 1, 2, 1], ends: [2, 3, 3], node: [2, 3, 4], calls: [1, 2, 1], totalNs: [60, 40, 10],
			selfNs: [20, 30, 10] },
		ops: [op(1, "outer", "op"), op(2, "inner", "op")],
		calls: { seen: 0, shortestNs: 0, thread: [], op: [], depth: [], beginNs: [], endNs: [] },
		threads: [{ thread: 1, tid: 11, firstNs: 0, lastNs: 300, name: "main" }, { thread: 2, tid: 12, firstNs: 0, lastNs: 300, name: "" }],
		work: { ends: [1, 2, 3], thread: [1, 2, 1], periods: [5, 2, 1], opNs: [60, 0, 0], bytes: [90, 80, 50], allocations: [5, 4, 1] },
		stepList: { first: [], steps: [], beginNs: [], endNs: [], beginBytes: [], endBytes: [], highBytes: [] },
		points: { timeNs: [0, 150, 300], live: [7, 140, 50], blocks: [1, 6, 1], rss: [0, 4096, 4096], mapped: [0, 0, 0] },
		memory: { live: [7, 47, 140, 50], rss: [0, 400, 500, 450], shared: [0, 100, 100, 100], own: [0, 50, 50, 50], stacks: [0, 10, 10, 10],
			mapped: [0, 40, 40, 40] },
		report: {}, ...changes,
	};
}

// A page of random changes with `looks` looks and the sites of page().
export function randomPage(seed: number, looks: number): RawPage {
	const next = numbers(seed), made = page(), changes: RawPage["changes"] = {
		ends: [], site: [], liveBytes: [], liveBlocks: [], bytes: [], allocations: [], temporary: [] };
	for (let look = 1; look < looks; look++) {
		for (let i = next(6); i > 0; i--) {
			changes.site.push(next(made.sites.node.length));
			changes.liveBytes.push(next(2000) - 1000);
			changes.liveBlocks.push(next(20) - 10);
			changes.bytes.push(next(1000));
			changes.allocations.push(next(9));
			changes.temporary.push(0);
		}
		changes.ends.push(changes.site.length);
	}
	return { ...made, looksNs: Array.from({ length: looks }, (_none, i) => i * 100), changes };
}
