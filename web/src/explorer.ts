// SPDX-License-Identifier: Apache-2.0
// The views of one process: the timeline, and below it what belongs to the moment or the range that is selected there.
import { type Measure, measureOf, MEASURES, PageData, sum, type Values } from "./data";
import { element, select } from "./dom";
import { type Compared, Flame, type Shape } from "./flame";
import { amount, bytes, count, moment, share, time, type Unit } from "./format";
import { type Column, Grid } from "./grid";
import { Panels } from "./panels";
import { buildStack, type Stack, type StackBy } from "./stacks";
import { DEFAULT, type State } from "./state";
import { type Selection, Timeline } from "./timeline";
import { buildRows, buildTree, type By, setBase, withBefore, type FlameNode, type Frames, type Row } from "./tree";

const SHAPES: [string, string][] = [["icicle", "icicle"], ["flame", "flame graph"], ["sunburst", "sunburst"]];
const FRAMES: [string, string][] = [["all", "all frames"], ["python", "Python"], ["native", "native"], ["ops", "ops only"]];
const BYS: [string, string][] = [["own", "line of your code"], ["line", "line"], ["function", "function"], ["module", "module"], ["op", "op"]];
const STACKS: [string, string][] = [["line", "line"], ["function", "function"], ["module", "module"], ["op", "op"], ["rss", "what RSS is made of"], ["none", "nothing"]];

export class Explorer {
	private readonly timeline: Timeline;
	private readonly flame: Flame;
	private readonly grid: Grid<Row>;
	private readonly panels: Panels;
	private readonly title = element("h4", { class: "what", "aria-live": "polite" });
	private readonly facts = element("dl", { class: "facts range" });
	private readonly legend = element("div", { class: "legend" });
	private readonly tools = element("div", { class: "bar" });
	private readonly matched = element("output", { class: "matched" });
	private readonly searchField: HTMLInputElement;
	private state: State = { ...DEFAULT };
	private tree: FlameNode | null = null;

	// `name`: by which the address has the state of its tables.
	constructor(readonly root: HTMLElement, name: string, readonly data: PageData, private readonly base: PageData | null,
		private readonly changed: (state: State) => void) {
		this.searchField = element("input", { type: "search", placeholder: "search frames (/)", "aria-label": "Search frames by a regular expression",
			input: () => this.set({ search: this.searchField.value }) });
		this.timeline = new Timeline(data, { selected: (selection) => this.onSelect(selection) });
		this.flame = new Flame({
			zoomed: (path) => this.set({ path }, false),
			matched: (part, whole, error) => this.onMatched(part, whole, error),
		});
		this.grid = new Grid<Row>(`${name}.stacks`, this.columns("bytes"), (row) => this.pick(row));
		this.panels = new Panels(name, data, this.grid.root, {
			tab: (tab) => this.set({ tab }),
			selectTimes: (from, to) => this.timeline.selectTimes(from, to),
			look: (search) => this.look("ops", `^${search.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`),
		});
		this.build();
	}

	// ---- what is selected ----

	private get range(): [number, number] {
		const selection = this.timeline.selected;
		return selection ? [selection.from, selection.to] : [0, this.data.looks - 1];
	}

	private onSelect(selection: Selection | null): void {
		const { measure } = this.state, looks = this.data.raw.looksNs, change: Partial<State> = {
			from: selection ? looks[selection.from] : null, to: selection ? looks[selection.to] : null,
		};
		const held = measure === "peak" || measure === "alive" || measure === "unfreed" || measure === "growth";
		if (selection && held)
			change.measure = selection.from === selection.to ? "alive" : "growth";
		else if (selection && selection.from === selection.to)
			change.measure = "alive";
		this.set(change);
	}

	private set(change: Partial<State>, draw = true): void {
		const measure = this.state.measure, search = this.state.search;
		Object.assign(this.state, change);
		this.changed({ ...this.state, zoomFrom: this.zoomed()[0], zoomTo: this.zoomed()[1] });
		if (!draw)
			return;
		if (change.stack)
			this.showStack();
		if (change.search !== undefined && change.search !== search && Object.keys(change).length === 1) {
			this.flame.search(this.state.search);
			return;
		}
		if (change.measure && change.measure !== measure)
			this.state.path = [];
		this.show();
	}

	private zoomed(): [number | null, number | null] {
		const [first, last] = this.timeline.whole;
		return this.timeline.from > first || this.timeline.to < last ? [this.timeline.from, this.timeline.to] : [null, null];
	}

	// Takes over a state, as a link has it.
	apply(state: State): void {
		this.state = { ...state };
		this.searchField.value = state.search;
		this.showStack();
		if (state.zoomFrom !== null && state.zoomTo !== null)
			this.timeline.zoom(state.zoomFrom, state.zoomTo);
		this.timeline.select(state.from === null || state.to === null ? null :
			{ from: this.data.lookAt(state.from), to: this.data.lookAt(state.to) }, false);
		this.show();
		this.flame.zoomTo(state.path);
	}

	// ---- the page ----

	private build(): void {
		const { reduced } = this.data.raw;
		if (!MEASURES.some((one) => this.has(one.key))) {
			this.root.append(element("h3", {}, "Memory over time"), element("p", {}, "Nothing was recorded over time: no allocation, no call of " +
				"an op, no CPU sample."));
			return;
		}
		const zoom = (label: string, title: string, act: () => void): HTMLElement =>
			element("button", { type: "button", title, click: act }, label);
		const bar = element("div", { class: "bar" },
			select("stacked by", STACKS, this.state.stack, (value) => this.set({ stack: value as StackBy })),
			element("span", { class: "buttons" },
				zoom("+", "Zoom in", () => this.timeline.zoomBy(0.5, (this.timeline.from + this.timeline.to) / 2)),
				zoom("\u2212", "Zoom out", () => this.timeline.zoomBy(2, (this.timeline.from + this.timeline.to) / 2)),
				zoom("to selection", "Zoom to what is selected", () => this.zoomToSelection()),
				zoom("whole run", "Show the whole run, and select nothing", () => {
					this.timeline.zoom(...this.timeline.whole);
					this.timeline.select(null);
				})),
			element("span", { class: "hint" }, "Drag to select a range, click for a moment; Shift and wheel zoom, Alt and drag pan. Keys: arrows (with Shift a range), + \u2212 0 , ."));
		this.root.append(element("h3", {}, "Memory over time, and what belongs to a moment or a range of it"), bar, this.legend,
			this.timeline.root, this.timeline.caption, this.title, this.facts, this.tools, this.flame.root, this.panels.root);
		if (reduced.lines > reduced.linesShown || reduced.calls > reduced.callsShown)
			this.root.append(element("p", { class: "rest reduced" }, this.reducedText()));
	}

	private reducedText(): string {
		const { reduced } = this.data.raw, parts: string[] = [];
		if (reduced.lines > reduced.linesShown)
			parts.push(`${count(reduced.linesShown)} of ${count(reduced.lines)} lines of the tree of ${count(reduced.stacks)} stacks have ` +
				"boxes of their own: what small branches had counts in the line that they grew from");
		if (reduced.calls > reduced.callsShown)
			parts.push(`the lanes show the longest ${count(reduced.callsShown)} of ${count(reduced.calls)} calls`);
		return `To keep this page small: ${parts.join("; ")}. All sums are exact. Times are as exact as ${count(reduced.intervals)} ` +
			"intervals of the run.";
	}

	private zoomToSelection(): void {
		const looks = this.data.raw.looksNs, selection = this.timeline.selected;
		if (selection && selection.to > selection.from)
			this.timeline.zoom(looks[selection.from], looks[selection.to]);
	}

	private showStack(): void {
		const stack = buildStack(this.data, this.state.stack);
		const { live, rss, mapped } = this.data.raw.points, peak = Math.max(1, ...live);
		if (this.legend.childElementCount === 0) {
			if (Math.max(0, ...rss) > 3 * peak)
				this.timeline.hide("RSS");
			if (Math.max(0, ...mapped) > 1.5 * peak)
				this.timeline.hide("mmap");
		}
		this.timeline.show(stack);
		const list = this.root.querySelector<HTMLSelectElement>('select[data-name="stacked by"]');
		if (list)
			list.value = this.state.stack;
		this.showLegend(stack);
	}

	private showLegend(stack: Stack): void {
		this.legend.replaceChildren(...stack.series.slice().sort((a, b) => Number(b.line) - Number(a.line)).map((one) => {
			const key = element("span", { class: "swatch" });
			key.style.background = one.line ? `var(--${one.color})` : one.color;
			if (one.line)
				key.classList.add("line");
			const button = element("button", { type: "button", class: "series", click: () => {
				button.setAttribute("aria-pressed", String(this.timeline.toggle(one.label)));
			}, "aria-pressed": String(!this.timeline.isHidden(one.label)) }, key, one.label);
			return button;
		}));
	}

	private showTools(): void {
		const { state } = this, threads: [string, string][] = [["0", "all threads"]];
		for (const thread of this.data.raw.threads)
			threads.push([String(thread.thread), `${thread.name || "thread"} (${thread.tid})`]);
		const parts: (Node | string)[] = [
			select("show", MEASURES.filter((one) => this.has(one.key)).map((one) => [one.key, one.label]), state.measure,
				(value) => this.set({ measure: value as Measure })),
			select("as", SHAPES, state.shape, (value) => this.set({ shape: value as Shape })),
			element("label", {}, element("input", { type: "checkbox", checked: state.inverted,
				change: () => this.set({ inverted: !state.inverted, path: [] }) }), " inverted"),
		];
		if (state.measure !== "ops")
			parts.push(select("frames", FRAMES, state.frames, (value) => this.set({ frames: value as Frames, path: [] })));
		if (state.measure === "cpu")
			parts.push(select("thread", threads, String(state.thread), (value) => this.set({ thread: Number(value) })));
		if (this.canCompare())
			parts.push(select("baseline", [["off", "not compared"], ["new", "widths of this run"], ["old", "widths of the baseline"]], state.compare,
				(value) => this.set({ compare: value as Compared, path: [] }), "red: more than the baseline; blue: less"));
		if (this.compared() === "off")
			parts.push(select("colours", [["module", "by module"], ["kind", "by kind"]], state.color,
			(value) => this.set({ color: value as State["color"] })));
		parts.push(this.searchField, this.matched);
		const focused = this.tools.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.name : null;
		if (document.activeElement === this.searchField)
			return;
		this.tools.replaceChildren(...parts);
		if (focused)
			(this.tools.querySelector(`[data-name="${focused}"]`) as HTMLElement | null)?.focus();
	}

	private has(measure: Measure): boolean {
		if (measure === "cpu")
			return this.data.raw.cpu.where.length > 0;
		if (measure === "ops")
			return this.data.raw.opTree.node.length > 0;
		return this.data.siteCount > 0 && (measure !== "temporary" || !this.data.raw.estimated);
	}

	// ---- what is shown of the selection ----

	private values(): Values {
		const [from, to] = this.range;
		return this.data.values(this.state.measure, from, to, this.state.thread);
	}

	// A range of this run has no counterpart in another one.
	private canCompare(): boolean {
		return this.base !== null && !this.timeline.selected && this.state.measure !== "alive" && this.state.measure !== "growth";
	}

	private compared(): Compared {
		return this.canCompare() ? this.state.compare : "off";
	}

	private buildTree(values: Values): FlameNode {
		const { state, base } = this, options = { inverted: state.inverted, frames: state.frames }, compared = this.compared();
		const tree = buildTree(this.data, state.measure, values, options);
		if (compared === "off")
			return tree;
		const before = buildTree(base!, state.measure, this.baseValues(), options);
		const [shown, other] = compared === "new" ? [tree, before] : [before, tree];
		setBase(shown, other);
		return shown;
	}

	private baseValues(): Values {
		return this.base!.values(this.state.measure, 0, this.base!.looks - 1, 0);
	}

	private rows(values: Values, by: By, from: number, to: number): Row[] {
		const rows = buildRows(this.data, this.state.measure, values, by, from, to);
		if (this.compared() === "off")
			return rows;
		return withBefore(rows, buildRows(this.base!, this.state.measure, this.baseValues(), by, 0, this.base!.looks - 1));
	}

	private show(): void {
		const { state } = this, measure = measureOf(state.measure), values = this.values(), [from, to] = this.range;
		this.tree = this.buildTree(values);
		this.flame.shape = state.shape;
		this.flame.colorBy = state.color;
		this.title.textContent = this.titleText(values);
		this.showTools();
		this.showFacts(from, to);
		this.flame.show(this.tree, measure.unit, measure.counted, this.title.textContent, this.compared());
		this.flame.search(state.search);
		const by = state.measure === "ops" ? "op" : state.by;
		this.grid.show(this.rows(values, by, from, to), this.columns(measure.unit));
		this.showBy();
		this.panels.show(state.tab, from, to, this.rangeText());
	}

	private step(): number {
		return (this.timeline.whole[1] - this.timeline.whole[0]) / this.data.looks;
	}

	private rangeText(): string {
		const [from, to] = this.range, looks = this.data.raw.looksNs;
		if (!this.timeline.selected)
			return "in the whole run";
		return from === to ? "at " + moment(looks[to], this.step()) :
			`from ${moment(looks[from], this.step())} to ${moment(looks[to], this.step())}`;
	}

	private titleText(values: Values): string {
		const measure = measureOf(this.state.measure), looks = this.data.raw.looksNs, [from, to] = this.range;
		if (this.state.measure === "growth") {
			const more = sum(values.amount.map((value) => Math.max(value, 0))), less = sum(values.amount) - more;
			const since = moment(looks[from], this.step()), until = moment(looks[to], this.step());
			return `${bytes(more)} more alive at ${until} than at ${since}` + (less < 0 ? `, and ${bytes(-less)} less elsewhere` : "");
		}
		const whole = amount(sum(values.amount), measure.unit) + " " + measure.of;
		if (this.state.measure === "alive")
			return whole + " at " + moment(looks[to], this.step());
		return measure.ranged ? whole + " " + this.rangeText() : whole;
	}

	// A line of the most important figures of the range, whatever is shown below.
	private showFacts(from: number, to: number): void {
		const allocated = this.data.allocated(from, to), threads = [...this.data.threads(from, to).values()];
		const cpu = threads.reduce((all, thread) => all + thread.cpu, 0), looks = this.data.raw.looksNs;
		const change = sum(this.data.growth(from, to).amount), alive = sum(this.data.alive(to).amount);
		const ops = this.data.ops(from, to), calls = sum(ops.count);
		const facts: [string, string][] = from === to ? [["alive", bytes(alive)]] : [
			["length", time(looks[to] - looks[from])], ["alive at its end", bytes(alive)], ["change", (change > 0 ? "+" : "") + bytes(change)],
			["allocated", `${bytes(sum(allocated.amount))} in ${count(sum(allocated.count))}`],
		];
		if (from !== to && cpu)
			facts.push(["CPU time", time(cpu)]);
		if (from !== to && calls)
			facts.push(["calls of ops", `${count(calls)}, ${time(sum(ops.amount))}`]);
		this.facts.replaceChildren(...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
	}

	private onMatched(part: number, whole: number, error: boolean): void {
		const unit = measureOf(this.state.measure).unit;
		this.matched.textContent = error ? "not a regular expression" :
			whole ? `matched: ${amount(part, unit)} (${share(part, whole)})` : "";
	}

	private columns(unit: Unit): Column<Row>[] {
		const { measure } = this.state, ops = measure === "ops", whole = (): number => this.tree?.amount ?? 0;
		const by = this.state.by, kind = ops || by === "op" ? "op" : by === "own" ? "line" : by, lines = by === "own" || by === "line";
		const columns: Column<Row>[] = [
			{ key: "self", title: ops ? "self" : unit === "ns" ? "self" : "itself", hint: "put down to the row itself", text: false,
				value: (row) => row.self, show: (row) => amount(row.self, unit), bar: (row) => (whole() ? row.self / whole() : 0) },
			{ key: "share", title: "%", text: false, value: (row) => row.self, show: (row) => share(row.self, whole()) },
		];
		if ((by !== "op" && by !== "own") || ops)
			columns.push({ key: "total", title: "total", hint: "with what it called", text: false, value: (row) => row.total,
				show: (row) => amount(row.total, unit) });
		if (this.compared() !== "off")
			columns.push({ key: "before", title: "baseline", text: false, value: (row) => row.before ?? 0, show: (row) => amount(row.before ?? 0, unit) },
				{ key: "change", title: "change", text: false, value: (row) => Math.abs(row.self - (row.before ?? 0)),
					show: (row) => (row.self > (row.before ?? 0) ? "+" : "") + amount(row.self - (row.before ?? 0), unit) });
		columns.push({ key: "count", title: measureOf(measure).counted, text: false, value: (row) => row.count, show: (row) => count(row.count) });
		if (ops)
			columns.push({ key: "mean", title: "mean", hint: "total time by calls", text: false,
				value: (row) => (row.count ? row.total / row.count : 0), show: (row) => time(row.count ? row.total / row.count : 0) });
		columns.push({ key: "name", title: kind, text: true, value: (row) => row.name, show: (row) => row.name });
		if (!ops && by !== "op" && by !== "module")
			columns.push({ key: "place", title: lines ? "function" : "place", text: true, value: (row) => row.place,
				show: (row) => row.place });
		return columns;
	}

	private showBy(): void {
		const bar = this.grid.root.querySelector(".bar")!;
		bar.querySelector(".by")?.remove();
		if (this.state.measure === "ops")
			return;
		const list = select("rows by", BYS, this.state.by, (value) => this.set({ by: value as By }));
		list.classList.add("by");
		bar.prepend(list);
	}

	// A row of the table is looked for in the flame graph.
	private pick(row: Row): void {
		const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
		this.searchField.value = "^" + escape(row.name) + "$";
		this.set({ search: this.searchField.value });
	}

	// Shows a measure of the whole run, and marks what is searched for.
	look(measure: Measure, search: string): void {
		this.searchField.value = search;
		this.timeline.select(null, false);
		this.set({ measure, search, from: null, to: null, path: [] });
		this.title.scrollIntoView({ block: "start" });
	}

	// ---- for the page's keys, and for tests ----

	focusSearch(): void {
		this.searchField.focus();
	}

	get view(): { timeline: Timeline; flame: Flame; grid: Grid<Row>; state: State } {
		return { timeline: this.timeline, flame: this.flame, grid: this.grid, state: this.state };
	}
}
