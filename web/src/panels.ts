// SPDX-License-Identifier: Apache-2.0
// The tables below the picture, a tab each: stacks, ops, layers, steps, threads, all of what is selected.
import type { PageData, RawOp } from "./data";
import { element } from "./dom";
import { bytes, count, share, time } from "./format";
import { type Column, Grid } from "./grid";
import { type Layer, bounds, boundText, layers, steps, type Step, type ThreadRow, threads } from "./layers";
import { opDetail } from "./opdetail";
import { opRows, type Row } from "./tree";

type OpRow = Row & { bound: string; op?: RawOp };

export type Tab = "stacks" | "ops" | "layers" | "steps" | "threads";
const LABELS: Record<Tab, string> = { stacks: "Stacks", ops: "Ops", layers: "Layers", steps: "Steps", threads: "Threads" };

export interface PanelHost {
	tab(tab: Tab): void;
	selectTimes(fromNs: number, toNs: number): void;
	look(search: string): void;
}

function number<Row>(key: string, title: string, value: (row: Row) => number, show: (row: Row) => string, hint = "", off = false): Column<Row> {
	return { key, title, hint, text: false, value, show, off };
}

function text<Row>(key: string, title: string, value: (row: Row) => string): Column<Row> {
	return { key, title, text: true, value, show: value };
}

export class Panels {
	readonly root: HTMLElement;
	private readonly bar = element("div", { class: "tabs", role: "tablist", "aria-label": "Tables" });
	private readonly body = element("div", { role: "tabpanel" });
	private readonly note = element("p", { class: "dim" });
	private readonly detail = element("div", {});
	private readonly ops: Grid<OpRow>;
	private readonly layers: Grid<Layer>;
	private readonly steps: Grid<Step>;
	private readonly threads: Grid<ThreadRow>;
	private readonly bound: Map<string, string>;
	tab: Tab = "stacks";

	constructor(name: string, private readonly data: PageData, private readonly stacks: HTMLElement, private readonly host: PanelHost) {
		this.bound = bounds(data);
		this.ops = new Grid<OpRow>(`${name}.ops`, this.opColumns(), (row) => this.showOp(row));
		this.layers = new Grid<Layer>(`${name}.layers`, this.layerColumns(), (row) => host.look(row.name));
		this.steps = new Grid<Step>(`${name}.steps`, this.stepColumns(), (row) => host.selectTimes(row.begin, row.end));
		this.threads = new Grid<ThreadRow>(`${name}.threads`, this.threadColumns());
		this.root = element("div", { class: "panels" }, this.bar, this.note, this.body, this.detail);
	}

	private tabs(): Tab[] {
		const all: Tab[] = ["stacks"], { raw } = this.data;
		if (raw.ops.length)
			all.push("ops");
		if (raw.ops.some((op) => op.category === "layer"))
			all.push("layers");
		if (raw.stepList.first.length)
			all.push("steps");
		all.push("threads");
		return all;
	}

	private drawBar(): void {
		const tabs = this.tabs(), focused = this.bar.contains(document.activeElement);
		this.bar.replaceChildren(...tabs.map((tab) => element("button", {
			type: "button", role: "tab", "aria-selected": String(tab === this.tab), tabindex: tab === this.tab ? 0 : -1, "data-tab": tab,
			click: () => this.host.tab(tab),
			keydown: (event: KeyboardEvent) => {
				const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
				if (by)
					this.host.tab(tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length]);
			},
		}, LABELS[tab])));
		if (focused)
			(this.bar.querySelector('[aria-selected="true"]') as HTMLElement).focus();
	}

	show(tab: Tab, from: number, to: number, range: string): void {
		this.tab = this.tabs().includes(tab) ? tab : "stacks";
		this.drawBar();
		this.detail.replaceChildren();
		this.note.textContent = this.tab === "stacks" ? "" : range;
		switch (this.tab) {
		case "ops":
			this.ops.show(opRows(this.data, from, to).map((row) => ({ ...row, bound: this.bound.get(row.name) ?? "",
				op: this.data.raw.ops.find((one) => one.name === row.name) })));
			break;
		case "layers": this.layers.show(layers(this.data, from, to)); break;
		case "steps": this.showSteps(from, to); break;
		case "threads": this.threads.show(threads(this.data, from, to).filter((row) => row.seen)); break;
		default: break;
		}
		const shown = { stacks: this.stacks, ops: this.ops.root, layers: this.layers.root, steps: this.steps.root, threads: this.threads.root };
		this.body.replaceChildren(shown[this.tab]);
	}

	private showSteps(from: number, to: number): void {
		const looks = this.data.raw.looksNs, list = steps(this.data).filter((step) => step.end > looks[from] && step.begin < looks[to]);
		const slow = list.filter((step) => step.slow).length;
		this.note.textContent += `: ${count(list.length)} rows` + (slow ? `, ${count(slow)} of them slow: longer than Q3 + 1.5 (Q3 \u2212 Q1)` : "");
		this.steps.show(list);
	}

	private showOp(row: OpRow): void {
		this.detail.replaceChildren(...(row.op ? [opDetail(this.data, row.op.op)] : []));
		this.detail.scrollIntoView({ block: "nearest" });
	}

	private opColumns(): Column<OpRow>[] {
		return [
			number("self", "self", (row) => row.self, (row) => time(row.self), "in it and in no other op"),
			number("total", "total", (row) => row.total, (row) => time(row.total)),
			number("count", "calls", (row) => row.count, (row) => count(row.count)),
			number("mean", "mean", (row) => (row.count ? row.total / row.count : 0), (row) => time(row.count ? row.total / row.count : 0), "total time by calls"),
			...(["p50Ns", "p90Ns", "p99Ns", "maxNs"] as const).map((key) => number<OpRow>(key, key.replace("Ns", ""),
				(row) => row.op?.[key] ?? 0, (row) => (row.op ? time(row.op[key]) : "not known"), "of a call, in the whole run", true)),
			text("name", "op", (row) => row.name), text("bound", "bound by", (row) => row.bound),
		];
	}

	private layerColumns(): Column<Layer>[] {
		return [
			number("own", "own", (row) => row.own, (row) => time(row.own), "of the ops whose innermost layer it is"),
			number("total", "total", (row) => row.total, (row) => time(row.total), "with the layers in it"),
			number("calls", "calls", (row) => row.calls, (row) => count(row.calls)),
			text("name", "layer", (row) => row.name), text("pass", "pass", (row) => (row.backward ? "backward" : "forward")),
			text("bound", "bound by", (row) => boundText(row)), text("slowest", "most of it in", (row) => row.slowest),
		];
	}

	private stepColumns(): Column<Step>[] {
		return [
			number("time", "time", (row) => row.time, (row) => time(row.time), "of one step"),
			number("net", "growth", (row) => row.net, (row) => bytes(row.net), "live bytes at its end, less those at its begin"),
			number("high", "high water", (row) => row.high, (row) => bytes(row.high)),
			number("begin", "begin", (row) => row.begin, (row) => time(row.begin)),
			text("name", "step", (row) => (row.steps > 1 ? `${row.number} to ${row.number + row.steps - 1}` : String(row.number))),
			text("slow", "", (row) => (row.slow ? "slow" : "")),
		];
	}

	private threadColumns(): Column<ThreadRow>[] {
		return [
			number("cpu", "CPU time", (row) => row.cpu, (row) => time(row.cpu)),
			number("idle", "not running", (row) => row.idle, (row) => (row.lived ? `${time(row.idle)} (${share(row.idle, row.lived)})` : "not known"),
				"of the time that it lived, as it was sampled: it slept, waited, had no processor, or was in the collector"),
			number("spinning", "spinning", (row) => row.spinning, (row) => (row.spinning ? `${time(row.spinning)} (${share(row.spinning, row.cpu)})` : "0 ns"),
				"CPU time in functions that wait for other threads"),
			number("ops", "in ops", (row) => row.ops, (row) => time(row.ops)),
			number("bytes", "allocated", (row) => row.bytes, (row) => bytes(row.bytes)),
			number("allocations", "allocations", (row) => row.allocations, (row) => count(row.allocations)),
			text("name", "thread", (row) => row.name),
		];
	}
}
