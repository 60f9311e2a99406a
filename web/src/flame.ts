// SPDX-License-Identifier: Apache-2.0
// A flame graph, an icicle (callers on top) or a sunburst (callers inside) on a canvas, with zoom, search and keys.
import { byChange, type ColorBy, fill } from "./colors";
import { color, element, isDark } from "./dom";
import { amount, count, share, type Unit } from "./format";
import type { FlameNode } from "./tree";

export type Compared = "off" | "new" | "old"; // whose widths are shown beside what the other one has
export type Shape = "icicle" | "flame" | "sunburst";

const ROW = 19, RING = 26, LEAST = 0.4, FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

interface Box { node: FlameNode; x: number; y: number; width: number; height: number }
interface Arc { node: FlameNode; from: number; to: number; inner: number; outer: number }

export interface FlameHost {
	zoomed(path: string[]): void;
	matched(amount: number, whole: number, error: boolean): void;
}

export class Flame {
	readonly root: HTMLElement;
	private readonly canvas: HTMLCanvasElement;
	private readonly tip: HTMLElement;
	private readonly said: HTMLElement;
	private tree: FlameNode | null = null;
	private zoom: FlameNode | null = null;
	private focus: FlameNode | null = null;
	private pattern: RegExp | null = null;
	private boxes: Box[] = [];
	private arcs: Arc[] = [];
	private cut = false; // the sunburst has more rings than are drawn
	private unit: Unit = "bytes";
	private counted = "";
	private compared: Compared = "off";
	shape: Shape = "icicle";
	colorBy: ColorBy = "module";

	constructor(private readonly host: FlameHost) {
		this.canvas = element("canvas", { tabindex: 0, role: "application", "aria-roledescription": "flame graph" });
		this.tip = element("div", { class: "tip", hidden: true, role: "presentation" });
		this.said = element("p", { class: "said", "aria-live": "polite" });
		this.root = element("div", { class: "flames" }, element("div", { class: "canvas" }, this.canvas, this.tip), this.said);
		this.canvas.addEventListener("mousemove", (event) => this.point(event));
		this.canvas.addEventListener("mouseleave", () => { this.tip.hidden = true; });
		this.canvas.addEventListener("click", (event) => this.click(event));
		this.canvas.addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(() => this.draw()).observe(this.root);
		isDark.addEventListener("change", () => this.draw());
	}

	show(tree: FlameNode, unit: Unit, counted: string, label: string, compared: Compared): void {
		const path = this.path();
		this.tree = tree;
		this.unit = unit;
		this.counted = counted;
		this.compared = compared;
		this.focus = null;
		this.canvas.setAttribute("aria-label", label + ". Arrow keys move, Enter zooms, Escape shows all, slash searches.");
		this.zoom = tree;
		this.zoomTo(path, false);
		this.draw();
		this.countMatches();
	}

	// The names from the root to what is zoomed on.
	path(): string[] {
		const path: string[] = [];
		for (let at = this.zoom; at && at.parent; at = at.parent)
			path.unshift(at.name);
		return path;
	}

	zoomTo(path: string[], draw = true): void {
		let at = this.tree;
		for (const name of path)
			at = at?.children.find((child) => child.name === name) ?? at;
		this.zoom = at;
		if (draw)
			this.draw();
	}

	search(text: string): void {
		try {
			this.pattern = text ? new RegExp(text, "i") : null;
		} catch {
			this.pattern = null;
			this.host.matched(0, 0, true);
			this.draw();
			return;
		}
		this.draw();
		this.countMatches();
	}

	private hits(node: FlameNode): boolean {
		return this.pattern !== null && (this.pattern.test(node.name) || (node.place !== "" && this.pattern.test(node.place)));
	}

	private countMatches(): void {
		let matched = 0;
		const look = (node: FlameNode): void => {
			if (this.hits(node))
				matched += node.amount;
			else
				node.children.forEach(look);
		};
		if (this.tree && this.pattern)
			look(this.tree);
		this.host.matched(matched, this.pattern && this.tree ? this.tree.amount : 0, false);
	}

	// ---- places ----

	private visit(node: FlameNode, scale: number, see: (node: FlameNode, depth: number) => void, depth: number): void {
		see(node, depth);
		for (const child of node.children)
			if (child.amount * scale >= LEAST)
				this.visit(child, scale, see, depth + 1);
	}

	private place(width: number): number {
		const zoom = this.zoom!, scale = zoom.amount ? width / zoom.amount : 0, above: FlameNode[] = [];
		let rows = 0;
		this.boxes = [];
		this.arcs = [];
		for (let at = zoom.parent; at; at = at.parent)
			above.unshift(at);
		above.forEach((node, i) => this.boxes.push({ node, x: 0, y: i * ROW, width, height: ROW }));
		this.visit(zoom, scale, (node, depth) => {
			const row = above.length + depth;
			rows = Math.max(rows, row + 1);
			this.boxes.push({ node, x: (node.x - zoom.x) * scale, y: row * ROW, width: node.amount * scale, height: ROW });
		}, 0);
		if (this.shape === "flame")
			for (const box of this.boxes)
				box.y = (rows - 1) * ROW - box.y;
		return Math.max(rows, 1) * ROW;
	}

	private placeArcs(size: number): void {
		const zoom = this.zoom!, scale = zoom.amount ? 2 * Math.PI / zoom.amount : 0;
		let depth = 0;
		this.boxes = [];
		this.arcs = [];
		this.visit(zoom, scale * size / 4, (node, level) => {
			depth = Math.max(depth, level);
			this.arcs.push({ node, from: (node.x - zoom.x) * scale, to: (node.x - zoom.x + node.amount) * scale, inner: level, outer: level + 1 });
		}, 0);
		// Rings that are too thin to read are left out: a click on one further in shows them.
		const ring = Math.max(size / 2 / Math.max(depth + 1, 1), RING);
		this.cut = ring * (depth + 1) > size / 2 + 1;
		this.arcs = this.arcs.filter((arc) => arc.outer * ring <= size / 2 + 0.5);
		for (const arc of this.arcs) {
			arc.inner *= ring;
			arc.outer *= ring;
		}
	}

	// ---- drawing ----

	draw(): void {
		if (!this.tree || !this.zoom)
			return;
		const width = Math.floor(this.root.clientWidth), sunburst = this.shape === "sunburst";
		const size = Math.min(width, 620);
		if (!width)
			return;
		const height = sunburst ? size : this.place(width), ratio = window.devicePixelRatio || 1;
		if (sunburst)
			this.placeArcs(size - 4);
		this.canvas.width = Math.round((sunburst ? size : width) * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = (sunburst ? size : width) + "px";
		this.canvas.style.height = height + "px";
		const context = this.canvas.getContext("2d")!;
		context.scale(ratio, ratio);
		context.font = FONT;
		context.textBaseline = "middle";
		if (!this.tree.amount)
			this.drawNothing(context);
		else if (sunburst) {
			this.drawArcs(context, size);
			this.said.textContent ||= this.cut ? "Callees further out are not drawn: click a ring to zoom." : "";
		}
		else
			this.boxes.forEach((box) => this.drawBox(context, box));
	}

	private drawNothing(context: CanvasRenderingContext2D): void {
		context.fillStyle = color("dim");
		context.fillText("nothing of this kind in what is selected", 4, ROW / 2);
	}

	private fillOf(node: FlameNode): string {
		if (this.hits(node))
			return "#b4006c";
		return this.compared === "off" ? fill(node, this.colorBy) : byChange(node, this.compared);
	}

	private drawBox(context: CanvasRenderingContext2D, box: Box): void {
		const { node, x, y, width } = box, above = node.depth < this.zoom!.depth;
		context.globalAlpha = above ? 0.55 : 1;
		context.fillStyle = this.fillOf(node);
		context.fillRect(x, y, Math.max(width - (width > 3 ? 1 : 0), LEAST), ROW - 1);
		if (node === this.focus) {
			context.strokeStyle = color("ink");
			context.lineWidth = 2;
			context.strokeRect(x + 1, y + 1, Math.max(width - 3, 1), ROW - 3);
		}
		if (width > 26) {
			context.fillStyle = this.hits(node) ? "#fff" : "#111";
			context.fillText(fit(node.name, Math.floor((width - 8) / 7.25)), x + 4, y + ROW / 2);
		}
		context.globalAlpha = 1;
	}

	private drawArcs(context: CanvasRenderingContext2D, size: number): void {
		const middle = size / 2;
		context.strokeStyle = color("paper");
		context.lineWidth = 1;
		for (const arc of this.arcs) {
			context.beginPath();
			context.arc(middle, middle, arc.outer, arc.from - Math.PI / 2, arc.to - Math.PI / 2);
			context.arc(middle, middle, arc.inner, arc.to - Math.PI / 2, arc.from - Math.PI / 2, true);
			context.closePath();
			context.fillStyle = this.fillOf(arc.node);
			context.fill();
			context.lineWidth = arc.node === this.focus ? 2.5 : 1;
			context.strokeStyle = arc.node === this.focus ? color("ink") : color("paper");
			context.stroke();
			this.drawArcText(context, arc, middle);
		}
	}

	private drawArcText(context: CanvasRenderingContext2D, arc: Arc, middle: number): void {
		const angle = (arc.from + arc.to) / 2 - Math.PI / 2, radius = (arc.inner + arc.outer) / 2;
		const room = arc.outer - arc.inner, tall = (arc.to - arc.from) * radius;
		if (tall < 13 || room < 30)
			return;
		context.save();
		context.translate(middle, middle);
		context.rotate(angle);
		if (angle > Math.PI / 2) {
			context.rotate(Math.PI);
			context.textAlign = "right";
		}
		context.fillStyle = this.hits(arc.node) ? "#fff" : "#111";
		const name = fit(arc.node.name, Math.floor((room - 6) / 7.25));
		if (angle > Math.PI / 2)
			context.fillText(name, -arc.inner - 4, 0);
		else
			context.fillText(name, arc.inner + 4, 0);
		context.restore();
	}

	// ---- pointing and keys ----

	private at(event: MouseEvent): FlameNode | null {
		const frame = this.canvas.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
		if (this.shape !== "sunburst")
			return this.boxes.find((box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + ROW)?.node ?? null;
		const dx = x - frame.width / 2, dy = y - frame.height / 2, radius = Math.hypot(dx, dy);
		const angle = (Math.atan2(dy, dx) + 2.5 * Math.PI) % (2 * Math.PI);
		return this.arcs.find((arc) => radius >= arc.inner && radius < arc.outer && angle >= arc.from && angle < arc.to)?.node ?? null;
	}

	describe(node: FlameNode): string {
		const whole = this.tree!.amount, parts = [amount(node.amount, this.unit) + " (" + share(node.amount, whole) + ")"];
		if (this.compared !== "off")
			parts.push((this.compared === "new" ? "before: " : "now: ") + amount(node.base, this.unit));
		parts.push(count(node.count) + " " + this.counted);
		if (node.self && node.children.length)
			parts.push("itself " + amount(node.self, this.unit));
		return parts.join("; ");
	}

	private name(node: FlameNode): string {
		const where = [node.place, node.module].filter((text) => text).join(", ");
		return (node.kind === "op" ? "op " : "") + node.name + (where ? " \u2014 " + where : "");
	}

	private point(event: MouseEvent): void {
		const node = this.at(event), frame = this.root.getBoundingClientRect();
		this.tip.hidden = !node;
		this.canvas.style.cursor = node ? "pointer" : "default";
		if (!node)
			return;
		this.tip.replaceChildren(element("b", {}, this.name(node)), element("br"), this.describe(node));
		const x = Math.min(event.clientX - frame.left + 12, frame.width - this.tip.offsetWidth - 4);
		const scrolled = this.canvas.parentElement!.scrollTop;
		this.tip.style.left = Math.max(0, x) + "px";
		this.tip.style.top = event.clientY - frame.top + scrolled + 16 + "px";
	}

	private say(node: FlameNode): void {
		this.said.textContent = this.name(node) + ": " + this.describe(node);
	}

	private click(event: MouseEvent): void {
		const node = this.at(event);
		if (node)
			this.zoomOn(node);
	}

	zoomOn(node: FlameNode): void {
		this.zoom = node;
		this.focus = node;
		this.draw();
		this.say(node);
		this.host.zoomed(this.path());
	}

	private neighbour(node: FlameNode, step: number): FlameNode | null {
		const beside = node.parent?.children.filter((child) => this.isShown(child)) ?? [];
		return beside[beside.indexOf(node) + step] ?? null;
	}

	private isShown(node: FlameNode): boolean {
		return this.boxes.some((box) => box.node === node) || this.arcs.some((arc) => arc.node === node);
	}

	private key(event: KeyboardEvent): void {
		const at = this.focus ?? this.zoom!, inner = this.shape === "flame" ? "ArrowUp" : "ArrowDown";
		const outer = this.shape === "flame" ? "ArrowDown" : "ArrowUp";
		let next: FlameNode | null = null;
		if (event.key === inner)
			next = this.focus ? at.children.find((child) => this.isShown(child)) ?? null : at;
		else if (event.key === outer)
			next = at.parent;
		else if (event.key === "ArrowLeft" || event.key === "ArrowRight")
			next = this.neighbour(at, event.key === "ArrowLeft" ? -1 : 1);
		else if (event.key === "Home")
			next = this.tree;
		else if (event.key === "Enter")
			this.zoomOn(at);
		else if (event.key === "Escape")
			this.zoomOn(this.tree!);
		else if (event.key === "Backspace" && this.zoom!.parent)
			this.zoomOn(this.zoom!.parent);
		else
			return;
		event.preventDefault();
		if (next) {
			this.focus = next;
			this.say(next);
			this.draw();
		}
	}

	// What is drawn, for tests.
	drawn(): { name: string; kind: string; amount: number; base: number; x: number; y: number; width: number; hit: boolean }[] {
		return this.boxes.map(({ node, x, y, width }) => ({
			name: node.name, kind: node.kind, amount: node.amount, base: node.base, x, y, width, hit: this.hits(node),
		}));
	}
}

function fit(name: string, room: number): string {
	if (name.length <= room)
		return name;
	return room > 2 ? name.slice(0, room - 2) + ".." : "";
}
