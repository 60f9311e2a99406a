// SPDX-License-Identifier: Apache-2.0
// The first screen: what holds the memory, what leaks, what takes the time. Each row leads to its place in the views.
import type { Measure, PageData } from "./data";
import { element } from "./dom";
import { bytes, count, moment, share, time } from "./format";
import { sparkline } from "./sparkline";

export interface AnswerHost {
	look(measure: Measure, search: string): void;
}

interface Frame { function: string | null; file: string | null; line: number | null; module: string }

const ABOUT: Record<string, string> = {
	import: "kept until exit by design", start: "kept until exit by design", registry: "kept until exit by design",
};

function fileName(path: string): string {
	const parts = path.split("/"), last = parts[parts.length - 1];
	return last.startsWith("__init__.py") && parts.length > 1 ? parts[parts.length - 2] + "/" + last : last;
}

// As the page's frames have their places: "train.py:15".
function placeOf(frame: Frame | null): string {
	if (!frame)
		return "";
	if (!frame.file)
		return frame.module;
	return fileName(frame.file) + (frame.line ? ":" + frame.line : "");
}

export function searchFor(frame: Frame | null, name: string): string {
	const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
	if (frame?.file && frame.line)
		return "^" + escape(placeOf(frame)) + "$";
	return "^" + escape(frame?.function ?? name) + "$";
}

function bar(part: number): HTMLElement {
	const inner = element("span", {}), outer = element("span", { class: "share" }, inner);
	inner.style.width = Math.min(100, 100 * part) + "%";
	return outer;
}

function row(host: AnswerHost, measure: Measure, figure: string, part: number, where: string, what: string, note: string,
	search: string): HTMLElement {
	const name = search ? element("button", { type: "button", class: "link", click: () => host.look(measure, search) }, where) : where;
	return element("tr", {}, element("td", {}, figure), element("td", {}, share(part, 1)), element("td", { class: "b" }, bar(part)),
		element("td", { class: "t" }, element("span", { class: "f" }, name), " ", what, note ? element("span", { class: "dim" }, " " + note) : ""));
}

function table(label: string, rows: HTMLElement[]): HTMLElement {
	return element("table", { class: "answer ordered", "aria-label": label }, element("tbody", {}, ...rows));
}

function memory(data: PageData, host: AnswerHost): HTMLElement {
	const { report } = data.raw, rows: any[] = report.answer.peak.rows, card = element("section", { class: "card memory" });
	const step = (data.raw.looksNs[data.looks - 1] - data.raw.looksNs[0]) / data.looks;
	card.append(element("h3", {}, "Memory"));
	if (!rows.length) {
		card.append(element("p", {}, "No allocation was recorded."));
		return card;
	}
	card.append(element("p", { class: "big" }, element("b", {}, bytes(report.heap.peak_bytes)),
		` at the peak, ${moment(report.heap.peak_time_ns, step)} after the start`));
	card.append(table("What held the memory at the peak", rows.map((one) => {
		const parts = (one.parts as any[]).map((part) => part.name).slice(0, 2).join(", ");
		const where = one.frame ? placeOf(one.frame) : one.name;
		return row(host, "peak", bytes(one.bytes), one.share, where, one.frame ? one.name : "",
			[parts ? `[in ${parts}]` : "", ABOUT[one.about] ?? ""].filter((text) => text).join("; "),
			one.frame ? searchFor(one.frame, one.name) : "");
	})));
	if (report.heap.end_bytes)
		card.append(element("p", { class: "dim" }, `${bytes(report.heap.end_bytes)} unfreed at the end`));
	return card;
}

// What was alive, at each look, of the stacks that pass a line.
export function curveOf(data: PageData, file: string | null, line: number | null, name: string | null): Float64Array {
	const { frames, tree, sites, changes } = data.raw, on = new Uint8Array(data.nodeCount), curve = new Float64Array(data.looks);
	for (let node = 1; node < data.nodeCount; node++) {
		const frame = tree.frame[node];
		const here = file ? data.text(frames.file[frame]) === file && (!line || frames.line[frame] === line) : data.names[frame] === name;
		on[node] = here || on[tree.parent[node]] ? 1 : 0;
	}
	for (let i = 0; i < data.siteCount; i++)
		if (on[sites.node[i]])
			curve[0] += sites.beginBytes[i];
	for (let look = 1, at = 0; look < data.looks; look++) {
		curve[look] = curve[look - 1];
		for (; at < changes.ends[look - 1]; at++)
			if (on[sites.node[changes.site[at]]])
				curve[look] += changes.liveBytes[at];
	}
	return curve;
}

function stepTime(data: PageData, step: number): string {
	const { first, steps, beginNs } = data.raw.stepList;
	const at = first.findIndex((one, i) => step >= one && step < one + steps[i]);
	return at < 0 || step < 2 ? "" : ` (${time(beginNs[at])} after the start)`;
}

function holders(links: any[]): string {
	return links.map((link) => {
		const name = [link.name, link.type && link.name ? `(${link.type})` : link.type].filter((text: string) => text).join(" ");
		return name + (link.count > 1 ? " \u00d7 " + count(link.count) : "");
	}).join(" \u2192 ");
}

function leak(data: PageData, host: AnswerHost, one: any): HTMLElement {
	const unit = one.bytes_per_step === null ? "second" : "step", rate = one.bytes_per_step ?? one.bytes_per_second;
	const frame: Frame | null = one.frame, where = frame ? placeOf(frame) : one.what ?? "(unknown)";
	const item = element("li", {}, element("b", {}, `${bytes(rate)} a ${unit}`), " at ",
		element("button", { type: "button", class: "link f", click: () => host.look("growth", searchFor(frame, one.what)) }, where),
		frame?.function ? ` (${frame.function})` : "");
	const ci = one.ci95, since = one.since_step ? `since step ${one.since_step}${stepTime(data, one.since_step)}` : "";
	const facts = [`95% interval ${bytes(ci[0])} to ${bytes(ci[1])}`, since,
		`${bytes(one.bytes)} so far` + (one.blocks === null ? "" : ` in ${count(one.blocks)} blocks`)].filter((text) => text);
	item.append(element("span", { class: "since" }, facts.join("; ")));
	if (one.holder.length)
		item.append(element("span", { class: "holder" }, "held by " + holders(one.holder)));
	else
		item.append(element("span", { class: "holder dim" }, data.raw.report.searched ? "the search for pointers found nobody who holds it" :
			"who holds it is not known: record with TPROF_LEAKCHECK=exit"));
	const curve = curveOf(data, frame?.file ?? null, frame?.line ?? null, one.what);
	if (curve.some((value) => value > 0))
		item.append(sparkline(curve, data, `alive of the stacks through ${where}`));
	return item;
}

function leaks(data: PageData, host: AnswerHost): HTMLElement {
	const list: any[] = data.raw.report.answer.leaks ?? [], card = element("section", { class: "card leaks" });
	card.append(element("h3", {}, "Leaks"));
	if (list.length)
		card.append(element("p", { class: "big" }, element("b", {}, count(list.length)), ` place${list.length > 1 ? "s" : ""} that ` +
			`grow${list.length > 1 ? "" : "s"} and had not stopped`), element("ul", {}, ...list.map((one) => leak(data, host, one))));
	else
		card.append(element("p", {}, data.raw.report.growth_known ?
			(data.raw.stepList.first.length ? "Nothing grows with every step." : "Nothing keeps growing.") :
			"Too few steps, or too short a run, to tell what grows."));
	return card;
}

const BOUNDS: Record<string, string> = { compute: "bound by computing", memory: "bound by memory" };

function times(data: PageData, host: AnswerHost): HTMLElement {
	const rows: any[] = data.raw.report.answer.time.rows, card = element("section", { class: "card time" });
	const ops = rows.filter((one) => one.kind === "op"), lines = rows.filter((one) => one.kind === "line");
	card.append(element("h3", {}, "Time"));
	if (!rows.length)
		card.append(element("p", {}, "No op was called where it could be hooked, and no CPU sample was taken."));
	if (ops.length)
		card.append(element("p", { class: "dim" }, "ops, by the time in them and in no other op"), table("The slowest ops", ops.map((one) =>
			row(host, "ops", time(one.self_ns), one.share, one.name, "",
				[BOUNDS[one.bound] ?? "", one.wait_ns ? `waits ${time(one.wait_ns)} of it` : ""].filter((text) => text).join("; "),
				searchFor(null, one.name)))));
	if (lines.length)
		card.append(element("p", { class: "dim" }, "CPU time of all threads"), table("Where the CPU time went", lines.map((one) =>
			row(host, "cpu", time(one.self_ns), one.share, one.frame?.line ? placeOf(one.frame) : one.name, one.frame?.line ? one.name : "",
				"", one.frame ? searchFor(one.frame, one.name) : ""))));
	return card;
}

export function showAnswers(root: HTMLElement, data: PageData, host: AnswerHost): void {
	if (!data.raw.report.answer)
		return;
	root.replaceChildren(memory(data, host), leaks(data, host), times(data, host));
}
