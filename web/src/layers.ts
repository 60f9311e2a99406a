// SPDX-License-Identifier: Apache-2.0
// Layers of a model, forward and backward: the ops in them, and what bounds these; steps with outliers; threads and their waiting.
import type { PageData } from "./data";

export interface Layer {
	name: string;
	backward: boolean;
	own: number; // ns of the ops whose innermost layer this is
	total: number; // with the layers in it
	calls: number;
	bounds: Map<string, number>; // ns of those ops by what bounds them
	slowest: string; // the op with most of that time
}

const BACKWARD = / \(backward\)$/;

export function bounds(data: PageData): Map<string, string> {
	const list: any[] = data.raw.report.roofline ?? [];
	return new Map(list.map((one) => [one.name, one.bound]));
}

// The time of an op belongs to the innermost layer that it was called in.
export function layers(data: PageData, from: number, to: number): Layer[] {
	const { parent, op } = data.raw.opTree, times = data.ops(from, to), bound = bounds(data);
	const isLayer = op.map((number) => data.opOf.get(number)?.category === "layer"), of = new Int32Array(op.length);
	const found = new Map<string, Layer & { ops: Map<string, number> }>();
	for (let node = 2; node < op.length; node++)
		of[node] = isLayer[node] ? node : parent[node] > 1 ? of[parent[node]] : 0;
	for (let node = 2; node < op.length; node++) {
		if (!of[node] || !(times.amount[node] || times.count[node]))
			continue;
		const name = data.opName(op[of[node]]);
		let layer = found.get(name);
		if (!layer)
			found.set(name, layer = { name, backward: BACKWARD.test(name), own: 0, total: 0, calls: 0, bounds: new Map(), slowest: "", ops: new Map() });
		layer.own += times.amount[node];
		if (of[node] === node) {
			layer.total += times.total[node];
			layer.calls += times.count[node];
		}
		const own = data.opName(op[node]), by = bound.get(own);
		layer.ops.set(own, (layer.ops.get(own) ?? 0) + times.amount[node]);
		if (by)
			layer.bounds.set(by, (layer.bounds.get(by) ?? 0) + times.amount[node]);
	}
	for (const layer of found.values())
		layer.slowest = [...layer.ops].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
	return [...found.values()];
}

// "memory (80% of its time)"; empty where no op of the layer has a roof.
export function boundText(layer: Layer): string {
	const [first] = [...layer.bounds].filter(([name]) => name && name !== "unknown").sort((a, b) => b[1] - a[1]);
	return first && layer.own ? `${first[0]} (${Math.round(100 * first[1] / layer.own)}% of its time)` : "";
}

// ---- steps ----

export interface Step {
	number: number;
	steps: number; // of long runs several are one row
	begin: number;
	end: number;
	time: number; // of one
	net: number;
	high: number;
	slow: boolean; // an outlier
}

function quantile(sorted: number[], part: number): number {
	return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] : 0;
}

// Slow: longer than the fence Q3 + 1.5 (Q3 - Q1), as in the table of outliers; the first step begins with the program.
export function steps(data: PageData): Step[] {
	const list = data.raw.stepList, times = list.first.map((_none, i) => (list.endNs[i] - list.beginNs[i]) / list.steps[i]);
	const sorted = times.slice(1).sort((a, b) => a - b), high = quantile(sorted, 0.75), fence = high + 1.5 * (high - quantile(sorted, 0.25));
	return list.first.map((number, i) => ({
		number, steps: list.steps[i], begin: list.beginNs[i], end: list.endNs[i], time: times[i], net: list.endBytes[i] - list.beginBytes[i],
		high: list.highBytes[i], slow: i > 0 && times[i] > fence,
	}));
}

// ---- threads ----

export interface ThreadRow {
	name: string;
	thread: number;
	lived: number; // ns of the range
	cpu: number;
	spinning: number; // part of cpu: in functions that wait for other threads
	idle: number; // not running
	ops: number;
	bytes: number;
	allocations: number;
	seen: boolean; // it had events in the range, or before and after it
}

export function threads(data: PageData, from: number, to: number): ThreadRow[] {
	const looks = data.raw.looksNs, work = data.threads(from, to), spinning = data.spinning(from, to);
	return data.raw.threads.map((thread) => {
		const did = work.get(thread.thread) ?? { cpu: 0, ops: 0, bytes: 0, allocations: 0 };
		const lived = Math.max(0, Math.min(looks[to], thread.lastNs) - Math.max(looks[from], thread.firstNs));
		return { name: `${thread.name || "thread"} (${thread.tid})`, thread: thread.thread, lived, cpu: did.cpu,
			spinning: spinning.get(thread.thread) ?? 0, idle: Math.max(0, lived - did.cpu), ops: did.ops, bytes: did.bytes,
			allocations: did.allocations, seen: thread.lastNs >= looks[from] && thread.firstNs <= looks[to] };
	});
}
