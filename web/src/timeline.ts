// SPDX-License-Identifier: Apache-2.0
// Memory over time, stacked by what holds it, and lanes below: steps, marks, and what each thread did. A drag selects a
// range, a click a moment; the wheel, two fingers and keys zoom.
import uPlot from "uplot";
import { color, element, isDark } from "./dom";
import { type PageData } from "./data";
import { bytes, moment } from "./format";
import { Lanes } from "./lanes";
import { type Stack } from "./stacks";

export interface Selection { from: number; to: number } // looks; equal: a moment

export interface TimelineHost {
	selected(selection: Selection | null): void;
}

const HEIGHT = 240;

export class Timeline {
	readonly root: HTMLElement;
	private readonly chart: HTMLElement;
	private readonly band: HTMLElement;
	private readonly line: HTMLElement;
	private readonly lanes: Lanes;
	private readonly said: HTMLElement;
	private plot: uPlot | null = null;
	private stack: Stack | null = null;
	private hidden = new Set<string>();
	private selection: Selection | null = null;
	private pointers = new Map<number, number>(); // clientX of what touches
	private anchor = 0; // ns where a drag began
	private moved = false;
	private panning = false;
	private pinch: { from: number; to: number; a: number; b: number } | null = null;
	from: number;
	to: number;

	constructor(private readonly data: PageData, private readonly host: TimelineHost) {
		this.chart = element("div", { class: "chart-area", "aria-hidden": "true" });
		this.band = element("div", { class: "band", hidden: true });
		this.line = element("div", { class: "moment", hidden: true });
		this.lanes = new Lanes(data);
		this.said = element("p", { class: "said", "aria-live": "polite" });
		const keys = "Left and right move the moment, with Shift they select a range, plus and minus zoom, 0 shows the whole run, " +
			"comma and full stop pan.";
		this.root = element("div", { class: "timeline", tabindex: 0, role: "application", "aria-roledescription": "timeline",
			"aria-label": "Memory over time. " + keys }, this.chart, this.lanes.root, this.band, this.line);
		this.from = data.raw.looksNs[0];
		this.to = data.raw.looksNs[data.looks - 1];
		this.listen();
		new ResizeObserver(() => this.resize()).observe(this.root);
		isDark.addEventListener("change", () => this.build());
	}

	get caption(): HTMLElement {
		return this.said;
	}

	// ---- the plot ----

	show(stack: Stack): void {
		this.stack = stack;
		this.build();
	}

	private width(): number {
		return Math.max(200, Math.floor(this.root.clientWidth));
	}

	private build(): void {
		const stack = this.stack;
		if (!stack || !this.root.clientWidth)
			return;
		this.plot?.destroy();
		this.plot = new uPlot(this.options(stack), stack.aligned as uPlot.AlignedData, this.chart);
		this.zoom(this.from, this.to);
	}

	private options(stack: Stack): uPlot.Options {
		const axis = { stroke: color("dim"), grid: { stroke: color("line"), width: 1 }, ticks: { stroke: color("line"), width: 1 },
			font: '11px system-ui, "DejaVu Sans", sans-serif' };
		return {
			width: this.width(), height: HEIGHT, legend: { show: false }, padding: [8, 20, 0, 0],
			cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
			scales: { x: { time: false }, y: { range: (_plot, _low, high) => [0, (high || 1) * 1.05] } },
			axes: [
				{ ...axis, values: (_plot, splits) => splits.map((at) => moment(at * 1e9, ((splits[1] ?? 1) - (splits[0] ?? 0)) * 1e9)), size: 26 },
				{ ...axis, values: (_plot, splits) => splits.map((at) => bytes(at)), size: 68, incrs: powers() },
			],
			series: [{}, ...stack.series.map((one) => ({
				label: one.label, stroke: one.line ? color(one.color) || one.color : one.color, width: one.line ? 1.6 : 0.6, spanGaps: true,
				dash: one.dash, paths: one.line ? uPlot.paths.stepped!({ align: 1 }) : undefined, points: { show: false }, fill: one.line ? undefined : one.color, show: !this.hidden.has(one.label),
			}))],
			bands: stack.bands,
			hooks: { setScale: [() => this.place()], setSize: [() => this.place()], ready: [() => this.place()], setCursor: [(plot) => this.tell(plot)] },
		};
	}

	toggle(label: string): boolean {
		if (!this.hidden.delete(label))
			this.hidden.add(label);
		this.build();
		return !this.hidden.has(label);
	}

	isHidden(label: string): boolean {
		return this.hidden.has(label);
	}

	hide(label: string): void {
		this.hidden.add(label);
	}

	private resize(): void {
		if (!this.plot)
			this.build();
		else if (this.plot.width !== this.width())
			this.plot.setSize({ width: this.width(), height: HEIGHT });
		this.place();
	}

	private tell(plot: uPlot): void {
		const at = plot.cursor.left;
		if (at === undefined || at === null || at < 0 || !this.stack)
			return;
		const ns = plot.posToVal(at, "x") * 1e9, look = this.data.lookAt(ns);
		this.said.textContent = this.stack.tell(look, this.data.raw.looksNs[look]);
	}

	// ---- zoom ----

	get whole(): [number, number] {
		return [this.data.raw.looksNs[0], this.data.raw.looksNs[this.data.looks - 1]];
	}

	zoom(from: number, to: number): void {
		const [first, last] = this.whole, least = Math.max((last - first) / 20000, 1);
		const width = Math.min(Math.max(to - from, least), last - first);
		this.from = Math.min(Math.max(from, first), last - width);
		this.to = this.from + width;
		this.plot?.setScale("x", { min: this.from / 1e9, max: this.to / 1e9 });
		this.place();
	}

	zoomBy(factor: number, around: number): void {
		this.zoom(around - (around - this.from) * factor, around + (this.to - around) * factor);
	}

	panBy(part: number): void {
		const by = (this.to - this.from) * part;
		this.zoom(this.from + by, this.to + by);
	}

	// ---- places ----

	private plotLeft(): number {
		return this.plot ? this.plot.over.offsetLeft : 68;
	}

	private plotWidth(): number {
		return this.plot ? this.plot.over.clientWidth : this.width() - 80;
	}

	private left(ns: number): number {
		return this.plotLeft() + (ns - this.from) / (this.to - this.from) * this.plotWidth();
	}

	private nsAt(clientX: number): number {
		const x = clientX - this.root.getBoundingClientRect().left - this.plotLeft();
		return this.from + x / this.plotWidth() * (this.to - this.from);
	}

	private place(): void {
		const looks = this.data.raw.looksNs, right = this.plotLeft() + this.plotWidth(), selection = this.selection;
		this.lanes.draw(this.from, this.to, this.plotLeft(), this.plotWidth(), this.width());
		this.band.hidden = this.line.hidden = true;
		if (!selection)
			return;
		const a = this.left(looks[selection.from]), b = this.left(looks[selection.to]);
		const shown = b >= this.plotLeft() && a <= right;
		const part = selection.from === selection.to ? this.line : this.band;
		part.hidden = !shown;
		part.style.left = Math.max(a, this.plotLeft()) + "px";
		if (part === this.band)
			part.style.width = Math.max(1, Math.min(b, right) - Math.max(a, this.plotLeft())) + "px";
	}

	// ---- selection ----

	select(selection: Selection | null, tell = true): void {
		this.selection = selection;
		this.place();
		if (tell)
			this.host.selected(selection);
	}

	selectTimes(fromNs: number, toNs: number): void {
		const from = this.data.lookAt(Math.min(fromNs, toNs)), to = this.data.lookAt(Math.max(fromNs, toNs));
		this.select({ from, to });
	}

	get selected(): Selection | null {
		return this.selection;
	}

	// ---- pointers ----

	private listen(): void {
		const root = this.root;
		root.addEventListener("pointerdown", (event) => this.down(event));
		root.addEventListener("pointermove", (event) => this.move(event));
		root.addEventListener("pointerup", (event) => this.up(event));
		root.addEventListener("pointercancel", (event) => this.up(event));
		root.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
		root.addEventListener("dblclick", () => this.zoom(...this.whole));
		root.addEventListener("keydown", (event) => this.key(event));
	}

	private down(event: PointerEvent): void {
		if (event.button > 1)
			return;
		this.pointers.set(event.pointerId, event.clientX);
		this.root.setPointerCapture(event.pointerId);
		this.panning = event.button === 1 || event.altKey;
		this.anchor = this.nsAt(event.clientX);
		this.moved = false;
		if (this.pointers.size === 2) {
			const [a, b] = [...this.pointers.values()];
			this.pinch = { from: this.from, to: this.to, a: this.nsAt(a), b: this.nsAt(b) };
		}
	}

	private move(event: PointerEvent): void {
		const before = this.pointers.get(event.pointerId);
		if (before === undefined)
			return;
		if (this.pointers.size === 2) {
			this.pointers.set(event.pointerId, event.clientX);
			this.pinched();
			return;
		}
		if (Math.abs(event.clientX - before) < 4 && !this.moved)
			return;
		this.moved = true;
		if (this.panning) {
			const by = this.anchor - this.nsAt(event.clientX);
			this.zoom(this.from + by, this.to + by);
		} else
			this.selectTimes(this.anchor, this.nsAt(event.clientX));
	}

	// Both fingers stay on their moments.
	private pinched(): void {
		const pinch = this.pinch!, [xa, xb] = [...this.pointers.values()];
		const left = this.root.getBoundingClientRect().left + this.plotLeft();
		const pa = (xa - left) / this.plotWidth(), pb = (xb - left) / this.plotWidth();
		this.moved = true;
		if (Math.abs(pb - pa) < 0.02)
			return;
		const width = (pinch.b - pinch.a) / (pb - pa);
		if (width > 0)
			this.zoom(pinch.a - pa * width, pinch.a - pa * width + width);
	}

	private up(event: PointerEvent): void {
		if (!this.pointers.delete(event.pointerId))
			return;
		if (!this.moved && event.type === "pointerup" && this.pointers.size === 0)
			this.selectTimes(this.anchor, this.anchor);
		if (this.pointers.size === 0)
			this.pinch = null;
	}

	private wheel(event: WheelEvent): void {
		if (!event.ctrlKey && !event.metaKey && !event.shiftKey && document.activeElement !== this.root)
			return; // the page scrolls
		event.preventDefault();
		if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
			this.panBy(event.deltaX / 1000);
		else
			this.zoomBy(Math.exp(event.deltaY / 400), this.nsAt(event.clientX));
	}

	private key(event: KeyboardEvent): void {
		const now = this.selection ?? { from: this.data.looks - 1, to: this.data.looks - 1 };
		const middle = (this.from + this.to) / 2;
		const step = (by: number): void => {
			const to = Math.min(Math.max(now.to + by, 0), this.data.looks - 1);
			this.select(event.shiftKey ? { from: Math.min(now.from, to), to: Math.max(now.from, to) } : { from: to, to });
		};
		switch (event.key) {
		case "ArrowLeft": step(-1); break;
		case "ArrowRight": step(1); break;
		case "PageUp": step(-10); break;
		case "PageDown": step(10); break;
		case "Home": step(-this.data.looks); break;
		case "End": step(this.data.looks); break;
		case "+": case "=": this.zoomBy(0.6, middle); break;
		case "-": this.zoomBy(1 / 0.6, middle); break;
		case "0": this.zoom(...this.whole); break;
		case ",": this.panBy(-0.25); break;
		case ".": this.panBy(0.25); break;
		case "Escape": this.select(null); break;
		default: return;
		}
		event.preventDefault();
	}
}

function powers(): number[] {
	return Array.from({ length: 50 }, (_none, i) => 2 ** i);
}
