// SPDX-License-Identifier: Apache-2.0
// Live memory over time as a stack of areas, by line, function, module or op; the largest have areas of their own.
import type uPlot from "uplot";
import { type PageData } from "./data";
import { bytes, moment } from "./format";

export type StackBy = "line" | "function" | "module" | "op" | "rss" | "none";

export interface Series { label: string; color: string; line: boolean; dash?: number[] }

export interface Stack {
	aligned: (number | null)[][];
	series: Series[]; // lines first, then areas, the top one first
	bands: uPlot.Band[];
	tell(look: number, ns: number): string;
}

const AREAS = 8;
const COLORS = ["#4e8fd6", "#e2894a", "#58a868", "#c9639f", "#8f7bd0", "#c9a63c", "#4bb0b5", "#b5715a"], REST = "#9aa3ad";

function keyOf(data: PageData, site: number, by: StackBy): string {
	const frame = data.ownOf[data.raw.sites.node[site]];
	if (by === "op")
		return data.opName(data.raw.sites.op[site]) || "(outside of ops)";
	if (by === "none" || frame < 0)
		return by === "none" ? "live bytes" : "(stack not recorded)";
	return by === "line" ? data.place(frame) : by === "module" ? data.module(frame) : data.names[frame];
}

// By key: what was alive at each look.
function series(data: PageData, by: StackBy): Map<string, Float64Array> {
	const keys = Array.from({ length: data.siteCount }, (_none, i) => keyOf(data, i, by));
	const all = new Map<string, Float64Array>(), { ends, site, liveBytes } = data.raw.changes;
	for (const key of keys)
		if (!all.has(key))
			all.set(key, new Float64Array(data.looks));
	keys.forEach((key, i) => { all.get(key)![0] += data.raw.sites.beginBytes[i]; });
	for (let look = 1, at = 0; look < data.looks; look++) {
		for (const line of all.values())
			line[look] = line[look - 1];
		for (; at < ends[look - 1]; at++)
			all.get(keys[site[at]])![look] += liveBytes[at];
	}
	return all;
}

// What RSS is made of, where its samples say it. The heap's rest is what lies between and around the blocks.
export function resident(data: PageData): { key: string; line: Float64Array }[] {
	const { live, rss, shared, own, stacks, mapped } = data.raw.memory;
	const heap = rss.map((all, i) => Math.max(0, all - shared[i] - own[i] - stacks[i] - mapped[i]));
	const parts: [string, number[]][] = [
		["live blocks", heap.map((all, i) => Math.min(all, live[i]))], ["rest of the heap", heap.map((all, i) => all - Math.min(all, live[i]))],
		["files and shared memory", shared], ["mapped by the program", mapped], ["threads' stacks", stacks], ["the collector", own],
	];
	return parts.filter(([, line]) => line.some((value) => value > 0)).map(([key, line]) => ({ key, line: Float64Array.from(line) }));
}

export function largest(data: PageData, by: StackBy): { key: string; line: Float64Array }[] {
	const all = [...series(data, by)].map(([key, line]) => ({ key, line, most: line.reduce((a, b) => Math.max(a, b), 0) }));
	all.sort((a, b) => b.most - a.most);
	const shown: { key: string; line: Float64Array }[] = all.slice(0, AREAS), rest = all.slice(AREAS);
	if (rest.length) {
		const line = new Float64Array(data.looks);
		for (const one of rest)
			one.line.forEach((value, i) => { line[i] += value; });
		shown.push({ key: rest.length + " more", line });
	}
	return shown;
}

// The lines that the analyzer sampled have points of their own.
function withPoints(data: PageData): { times: number[]; of: (values: ArrayLike<number>) => number[]; live: (number | null)[];
	rss: (number | null)[]; mapped: (number | null)[] } {
	const looks = data.raw.looksNs, points = data.raw.points;
	const times = [...new Set([...looks, ...points.timeNs])].sort((a, b) => a - b);
	const at = new Map(points.timeNs.map((ns, i) => [ns, i]));
	const pick = (list: number[], known: (value: number) => boolean): (number | null)[] => times.map((ns) => {
		const i = at.get(ns);
		return i === undefined || !known(list[i]) ? null : list[i];
	});
	const interpolate = (values: ArrayLike<number>): number[] => {
		let look = 0;
		return times.map((ns) => {
			while (look + 1 < looks.length - 1 && looks[look + 1] <= ns)
				look++;
			const span = looks[look + 1] - looks[look], part = span ? Math.min(Math.max((ns - looks[look]) / span, 0), 1) : 0;
			return values[look] + (values[look + 1] - values[look]) * part;
		});
	};
	return { times, of: interpolate, live: pick(points.live, () => true), rss: pick(points.rss, (value) => value > 0),
		mapped: pick(points.mapped, (value) => value > 0) };
}

export function buildStack(data: PageData, by: StackBy): Stack {
	const shown = by === "rss" ? resident(data) : largest(data, by), points = withPoints(data), areas: number[][] = [];
	let below = new Float64Array(data.looks);
	for (const one of [...shown].reverse()) { // the largest on top
		below = below.map((value, i) => value + one.line[i]);
		areas.unshift(points.of(below));
	}
	const lines: Series[] = [
		{ label: "live bytes", color: "ink", line: true },
		{ label: "RSS", color: "rss", line: true },
		{ label: "mmap", color: "mark", line: true, dash: [5, 3] },
	];
	const rest = shown.length > AREAS ? AREAS : -1;
	const filled = shown.map((one, i): Series => ({ label: one.key, color: i === rest ? REST : COLORS[i % COLORS.length], line: false }));
	return {
		aligned: [points.times.map((ns) => ns / 1e9), ...areas, points.mapped, points.rss, points.live],
		series: [...filled, ...lines.reverse()],
		bands: filled.slice(1).map((_none, i): uPlot.Band => ({ series: [i + 1, i + 2] })),
		tell(look: number, ns: number): string {
			const parts = shown.filter((one) => one.line[look] > 0).sort((a, b) => b.line[look] - a.line[look]).slice(0, 3);
			const total = shown.reduce((sum, one) => sum + one.line[look], 0);
			const step = (data.raw.looksNs[data.looks - 1] - data.raw.looksNs[0]) / data.looks;
			return moment(ns, step) + ": " + bytes(total) + (by === "rss" ? " resident" : " alive") +
				(by === "none" ? "" : ": " + parts.map((one) => one.key + " " + bytes(one.line[look])).join(", "));
		},
	};
}
