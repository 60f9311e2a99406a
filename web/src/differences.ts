// SPDX-License-Identifier: Apache-2.0
// What changed from the baseline: totals, then rows of a list to choose, each with the verdict on whether chance explains it.
import { element, select } from "./dom";
import { amount, share, type Unit } from "./format";
import { type Column, Grid } from "./grid";

interface Change { name: string; before: number; after: number; verdict: string; ratio: number }

interface Kind { key: string; label: string; old: string; now: string; show(value: number): string }

const bySize = (unit: Unit) => (value: number): string => amount(value, unit);
const KINDS: Kind[] = [
	{ key: "peak", label: "memory at the peak", old: "old_bytes", now: "new_bytes", show: bySize("bytes") },
	{ key: "unfreed", label: "unfreed memory", old: "old_bytes", now: "new_bytes", show: bySize("bytes") },
	{ key: "allocated", label: "allocated memory", old: "old_bytes", now: "new_bytes", show: bySize("bytes") },
	{ key: "ops", label: "ops, median time of a call", old: "old_p50_ns", now: "new_p50_ns", show: bySize("ns") },
	{ key: "times", label: "times", old: "old_p50_ns", now: "new_p50_ns", show: bySize("ns") },
	{ key: "leaks", label: "leaks, growth", old: "old_rate", now: "new_rate", show: bySize("bytes") },
	{ key: "cpu", label: "CPU time, by function", old: "old_share", now: "new_share", show: (value) => share(value, 1) },
];

function changes(json: any, kind: Kind): Change[] {
	return (json[kind.key] as any[] ?? []).map((row) => ({
		name: row.name, before: row[kind.old] ?? 0, after: row[kind.now] ?? 0, verdict: row.verdict,
		ratio: row[kind.old] ? row[kind.now] / row[kind.old] : Infinity,
	}));
}

function columns(kind: Kind): Column<Change>[] {
	return [
		{ key: "change", title: "change", text: false, value: (row) => Math.abs(row.after - row.before),
			show: (row) => (row.after >= row.before ? "+" : "\u2212") + kind.show(Math.abs(row.after - row.before)) },
		{ key: "before", title: "baseline", text: false, value: (row) => row.before, show: (row) => kind.show(row.before) },
		{ key: "after", title: "this run", text: false, value: (row) => row.after, show: (row) => kind.show(row.after) },
		{ key: "ratio", title: "ratio", text: false, value: (row) => row.ratio, show: (row) => (Number.isFinite(row.ratio) ? row.ratio.toFixed(2) + "\u00d7" : "new") },
		{ key: "verdict", title: "verdict", text: true, value: (row) => row.verdict, show: (row) => row.verdict },
		{ key: "name", title: "what", text: true, value: (row) => row.name, show: (row) => row.name },
	];
}

function total(row: any): HTMLElement {
	const unit: Unit = row.unit === "bytes" ? "bytes" : row.unit === "ns" ? "ns" : "count";
	const ratio = row.ratio === null || row.ratio === undefined ? "" : ` (${row.ratio.toFixed(2)}\u00d7)`;
	return element("div", {}, element("dt", {}, row.name), element("dd", {}, `${amount(row.old ?? 0, unit)} \u2192 ${amount(row.new ?? 0, unit)}${ratio}, ${row.verdict}`));
}

export function showDifferences(json: any): HTMLElement {
	const root = element("section", { class: "card differences", id: "differences" }), kinds = KINDS.filter((kind) => (json[kind.key] ?? []).length);
	root.append(element("h3", {}, `Compared with ${json.old_runs.join(", ")}`));
	root.append(element("dl", { class: "facts" }, ...(json.totals as any[]).map(total)));
	if (!kinds.length)
		return root;
	const grid = new Grid<Change>(columns(kinds[0]));
	const show = (key: string): void => {
		const kind = kinds.find((one) => one.key === key)!;
		grid.show(changes(json, kind).filter((row) => row.before !== row.after), columns(kind));
	};
	root.append(element("div", { class: "bar" }, select("differences in", kinds.map((kind) => [kind.key, kind.label]), kinds[0].key, show)), grid.root);
	show(kinds[0].key);
	return root;
}
