// SPDX-License-Identifier: Apache-2.0
// Lanes below the plot: steps, marks, and of each thread its CPU time and its ops, nested as they ran.
import { color, element } from "./dom";
import type { PageData } from "./data";
import { time } from "./format";

const ROW = 15, CPU = 16, DEEPEST = 6, THREADS = 8, LABEL = '11px system-ui, "DejaVu Sans", sans-serif';

interface Shown { x: number; y: number; width: number; height: number; text: string }

interface Thread { number: number; name: string; depth: number; calls: number[]; cpu: Float64Array }

export class Lanes {
	readonly root: HTMLElement;
	private readonly canvas: HTMLCanvasElement;
	private readonly tip: HTMLElement;
	private readonly threads: Thread[];
	private readonly left: number; // threads that have no lane
	private shown: Shown[] = [];

	constructor(private readonly data: PageData) {
		const all = this.makeThreads();
		this.threads = all.slice(0, THREADS);
		this.left = all.length - this.threads.length;
		this.canvas = element("canvas", { role: "img", "aria-label": "Lanes of threads: their CPU time and their ops. The tables " +
			"below have the same figures." });
		this.tip = element("div", { class: "tip", hidden: true });
		this.root = element("div", { class: "lanes" }, this.canvas, this.tip);
		this.canvas.addEventListener("mousemove", (event) => this.point(event));
		this.canvas.addEventListener("mouseleave", () => { this.tip.hidden = true; });
	}

	private makeThreads(): Thread[] {
		const { raw } = this.data, { work } = raw, by = new Map<number, Thread>();
		for (const thread of raw.threads)
			by.set(thread.thread, { number: thread.thread, name: (thread.name || "thread") + " (" + thread.tid + ")", depth: 0, calls: [],
				cpu: new Float64Array(this.data.looks) });
		raw.calls.thread.forEach((number, i) => {
			const thread = by.get(number);
			if (!thread || raw.calls.depth[i] >= DEEPEST)
				return;
			thread.calls.push(i);
			thread.depth = Math.max(thread.depth, raw.calls.depth[i] + 1);
		});
		for (let look = 1, at = 0; look < this.data.looks; look++)
			for (; at < work.ends[look - 1]; at++) {
				const thread = by.get(work.thread[at]), span = raw.looksNs[look] - raw.looksNs[look - 1];
				if (thread && span)
					thread.cpu[look] = Math.min(1, work.periods[at] * raw.cpu.periodNs / span);
			}
		const busy = (thread: Thread): number => thread.cpu.reduce((a, b) => a + b, 0) + thread.calls.length / 1000;
		return [...by.values()].filter((thread) => busy(thread) > 0).sort((a, b) => busy(b) - busy(a));
	}

	private height(): number {
		const steps = this.data.raw.stepList.first.length || this.marks().length ? ROW + 4 : 0;
		return steps + this.threads.reduce((sum, thread) => sum + CPU + thread.depth * ROW + 6, 0) + (this.left ? ROW : 0);
	}

	private marks(): { time_ns: number; text: string }[] {
		return this.data.raw.report.marks ?? [];
	}

	draw(from: number, to: number, left: number, width: number, all: number): void {
		const height = this.height(), ratio = window.devicePixelRatio || 1, context = this.canvas.getContext("2d")!;
		this.shown = [];
		this.canvas.width = Math.round(all * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = all + "px";
		this.canvas.style.height = height + "px";
		if (!height)
			return;
		context.scale(ratio, ratio);
		context.font = LABEL;
		context.textBaseline = "middle";
		const x = (ns: number): number => left + (ns - from) / (to - from) * width;
		let y = this.drawSteps(context, x, left, width);
		for (const thread of this.threads)
			y = this.drawThread(context, thread, x, y, left, width);
		if (this.left) {
			context.fillStyle = color("dim");
			context.fillText(`${this.left} more thread${this.left > 1 ? "s" : ""}: see the table of threads`, left + 4, y + ROW / 2);
		}
	}

	private drawSteps(context: CanvasRenderingContext2D, x: (ns: number) => number, left: number, width: number): number {
		const { stepList } = this.data.raw, marks = this.marks();
		if (!stepList.first.length && !marks.length)
			return 0;
		context.fillStyle = color("dim");
		context.fillText("steps", 8, ROW / 2);
		stepList.beginNs.forEach((begin, i) => {
			const a = Math.max(x(begin), left), b = Math.min(x(stepList.endNs[i]), left + width);
			if (b <= a)
				return;
			context.fillStyle = stepList.first[i] % 2 ? color("step") : color("step2");
			context.fillRect(a, 1, Math.max(b - a - (b - a > 3 ? 1 : 0), 0.5), ROW - 2);
			const last = stepList.first[i] + stepList.steps[i] - 1;
			const name = stepList.steps[i] > 1 ? `steps ${stepList.first[i]} to ${last}` : `step ${last}`;
			if (b - a > 24) {
				context.fillStyle = color("ink");
				context.fillText(b - a > 60 ? name : String(last), a + 3, ROW / 2, b - a - 4);
			}
			this.shown.push({ x: a, y: 0, width: b - a, height: ROW, text: `${name}: ${time(stepList.endNs[i] - begin)}` });
		});
		for (const mark of marks) {
			const at = x(mark.time_ns);
			if (at < left || at > left + width)
				continue;
			context.fillStyle = color("mark");
			context.fillRect(at - 1, 0, 2, ROW + 2);
			this.shown.unshift({ x: at - 4, y: 0, width: 8, height: ROW + 2, text: "mark: " + mark.text });
		}
		return ROW + 4;
	}

	private drawThread(context: CanvasRenderingContext2D, thread: Thread, x: (ns: number) => number, top: number, left: number,
		width: number): number {
		const looks = this.data.raw.looksNs, right = left + width;
		context.fillStyle = color("card");
		context.fillRect(left, top, width, CPU - 1);
		context.fillStyle = color("cpu");
		for (let look = 1; look < looks.length; look++) {
			const a = Math.max(x(looks[look - 1]), left), b = Math.min(x(looks[look]), right), part = thread.cpu[look];
			if (b <= a || !part)
				continue;
			context.fillRect(a, top + (CPU - 1) * (1 - part), b - a + 0.5, (CPU - 1) * part);
		}
		context.fillStyle = color("ink");
		context.fillText(thread.name, left + 4, top + CPU / 2);
		context.fillStyle = color("dim");
		context.fillText("CPU", 8, top + CPU / 2);
		this.shown.push({ x: left, y: top, width, height: CPU, text: thread.name + ": CPU time; full height: one processor" });
		this.drawCalls(context, thread, x, top + CPU, left, right);
		return top + CPU + thread.depth * ROW + 6;
	}

	private drawCalls(context: CanvasRenderingContext2D, thread: Thread, x: (ns: number) => number, top: number, left: number,
		right: number): void {
		const { calls } = this.data.raw, ends = new Float64Array(DEEPEST).fill(-1);
		if (thread.depth) {
			context.fillStyle = color("dim");
			context.fillText("ops", 8, top + ROW / 2);
		}
		for (const i of thread.calls) {
			const a = Math.max(x(calls.beginNs[i]), left), b = Math.min(x(calls.endNs[i]), right);
			const depth = calls.depth[i], y = top + depth * ROW;
			if (b < left || a > right || b - ends[depth] < 0.3)
				continue; // not to be seen, or covered
			const name = this.data.opName(calls.op[i]);
			ends[depth] = b;
			context.fillStyle = opColor(calls.op[i]);
			context.fillRect(a, y, Math.max(b - a - (b - a > 4 ? 1 : 0), 0.5), ROW - 1);
			if (b - a > 30) {
				context.save();
				context.beginPath();
				context.rect(a, y, b - a - 3, ROW);
				context.clip();
				context.fillStyle = "#111";
				context.fillText(name, a + 3, y + ROW / 2);
				context.restore();
			}
			if (b - a > 0.8)
				this.shown.push({ x: a, y, width: b - a, height: ROW, text: `${name}: ${time(calls.endNs[i] - calls.beginNs[i])}` });
		}
	}

	private point(event: MouseEvent): void {
		const frame = this.canvas.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
		const found = this.shown.findLast((one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height);
		this.tip.hidden = !found;
		if (!found)
			return;
		this.tip.textContent = found.text;
		this.tip.style.left = Math.min(x + 10, frame.width - this.tip.offsetWidth - 4) + "px";
		this.tip.style.top = y + 14 + "px";
	}
}

function opColor(op: number): string {
	return `hsl(${(op * 137.5) % 360},55%,${70 + op * 7 % 12}%)`;
}
