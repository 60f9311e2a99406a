// SPDX-License-Identifier: Apache-2.0
// Trees for flame graphs: stacks merged by function, from values of the sites.
import { type Measure, type PageData, PLUMBING, PYTHON, type Values } from "./data";

export type Frames = "all" | "python" | "native" | "ops";

export interface TreeOptions {
	inverted: boolean;
	frames: Frames;
}

// A node's children follow it in the order of their amounts.
export interface FlameNode {
	name: string;
	module: string;
	place: string;
	kind: "code" | "python" | "op" | "root";
	frame: number; // -1: none
	amount: number;
	count: number;
	self: number;
	base: number; // what the baseline had here
	parent: FlameNode | null;
	children: FlameNode[];
	depth: number;
	x: number; // where it begins, as an amount
}

function newNode(parent: FlameNode | null, name: string, kind: FlameNode["kind"]): FlameNode {
	return {
		name, kind, module: "", place: "", frame: -1, amount: 0, count: 0, self: 0, base: 0, parent, children: [],
		depth: parent ? parent.depth + 1 : 0, x: 0,
	};
}

class Builder {
	readonly root = newNode(null, "all", "root");
	private readonly known = new Map<FlameNode, Map<number | string, FlameNode>>();

	constructor(private readonly data: PageData, private readonly options: TreeOptions) {}

	private child(parent: FlameNode, key: number | string, make: () => FlameNode): FlameNode {
		let children = this.known.get(parent);
		if (!children)
			this.known.set(parent, children = new Map());
		let child = children.get(key);
		if (!child) {
			children.set(key, child = make());
			parent.children.push(child);
		}
		return child;
	}

	ofFrame(parent: FlameNode, frame: number): FlameNode {
		return this.child(parent, this.data.frameKey[frame], () => {
			const node = newNode(parent, this.data.names[frame], this.isPython(frame) ? "python" : "code");
			node.module = this.data.module(frame);
			node.place = this.data.file(frame) ? this.data.place(frame) : "";
			node.frame = frame;
			return node;
		});
	}

	ofOp(parent: FlameNode, name: string): FlameNode {
		return this.child(parent, "op " + name, () => newNode(parent, name, "op"));
	}

	private isPython(frame: number): boolean {
		return (this.data.raw.frames.flags[frame] & PYTHON) !== 0;
	}

	// Whether the options leave the frame in.
	shows(frame: number): boolean {
		const flags = this.data.raw.frames.flags[frame];
		switch (this.options.frames) {
		case "python": return (flags & PYTHON) !== 0;
		case "native": return (flags & PYTHON) === 0;
		case "ops": return false;
		default: return true;
		}
	}
}

// Adds the sums of nodes to those above them, sorts children and places them side by side.
function finish(root: FlameNode): FlameNode {
	const order: FlameNode[] = [root];
	for (let i = 0; i < order.length; i++)
		for (const child of order[i].children)
			order.push(child);
	for (let i = order.length - 1; i >= 0; i--) {
		const node = order[i];
		node.amount += node.self;
		if (node.parent) {
			node.parent.amount += node.amount;
			node.parent.count += node.count;
		}
		node.children.sort((a, b) => b.amount - a.amount || (a.name < b.name ? -1 : 1));
	}
	for (const node of order) {
		let x = node.x;
		for (const child of node.children) {
			child.x = x;
			x += child.amount;
		}
	}
	return root;
}

function addPath(builder: Builder, path: number[], op: string, inverted: boolean): FlameNode {
	let at = builder.root;
	if (inverted && op)
		at = builder.ofOp(at, op);
	for (let i = 0; i < path.length; i++) {
		const frame = path[inverted ? i : path.length - 1 - i];
		if (builder.shows(frame))
			at = builder.ofFrame(at, frame);
	}
	return !inverted && op ? builder.ofOp(at, op) : at;
}

// The frames of a node of the page's tree, innermost first.
export function pathOf(data: PageData, node: number): number[] {
	const { parent, frame } = data.raw.tree, path: number[] = [];
	for (let at = node; at; at = parent[at])
		path.push(frame[at]);
	return path;
}

function opPath(data: PageData, node: number): number[] {
	const { parent } = data.raw.opTree, path: number[] = [];
	for (let at = node; at > 1; at = parent[at])
		path.push(data.raw.opTree.op[at]);
	return path;
}

function opTree(data: PageData, values: Values, options: TreeOptions): FlameNode {
	const builder = new Builder(data, options);
	for (let node = 1; node < values.amount.length; node++) {
		const path = opPath(data, node);
		let at = builder.root;
		if (!(values.amount[node] > 0 || values.count[node] > 0))
			continue;
		if (!options.inverted)
			path.reverse();
		for (const op of path)
			at = builder.ofOp(at, data.opName(op));
		at.self += values.amount[node];
		at.count += values.count[node];
	}
	return finish(builder.root);
}

// Sites that shrank have no width: only what is positive is in the tree.
export function buildTree(data: PageData, measure: Measure, values: Values, options: TreeOptions): FlameNode {
	if (measure === "ops")
		return opTree(data, values, options);
	const rows = measure === "cpu" ? data.raw.cpu : data.raw.sites, builder = new Builder(data, options);
	for (let row = 0; row < values.amount.length; row++) {
		if (!(values.amount[row] > 0))
			continue;
		const at = addPath(builder, pathOf(data, rows.node[row]), data.opName(rows.op[row]), options.inverted);
		at.self += values.amount[row];
		at.count += values.count[row];
	}
	return finish(builder.root);
}

// Gives each node what the same node of another tree has.
export function setBase(node: FlameNode, other: FlameNode | null): void {
	const children = new Map((other?.children ?? []).map((child) => [child.kind + " " + child.name + " " + child.module, child]));
	node.base = other?.amount ?? 0;
	for (const child of node.children)
		setBase(child, children.get(child.kind + " " + child.name + " " + child.module) ?? null);
}

// ---- rows of tables ----

export type By = "own" | "function" | "line" | "module" | "op";

export interface Row {
	name: string;
	place: string;
	self: number;
	total: number;
	count: number;
	frame: number;
	before?: number; // what the baseline has
}

// Adds what the baseline's rows have, and those that only it has.
export function withBefore(rows: Row[], before: Row[]): Row[] {
	const known = new Map(before.map((row) => [row.name + " " + row.place, row])), all: Row[] = [];
	for (const row of rows) {
		const key = row.name + " " + row.place;
		all.push({ ...row, before: known.get(key)?.self ?? 0 });
		known.delete(key);
	}
	for (const row of known.values())
		all.push({ ...row, self: 0, total: 0, count: 0, before: row.self });
	return all;
}

function keyOf(data: PageData, frame: number, by: By): [string, string, string] {
	const module = data.module(frame), place = data.file(frame) ? data.place(frame) : module;
	if (by === "module")
		return [module, module || "(unknown)", ""];
	if (by === "line" || by === "own")
		return [data.file(frame) + ":" + data.raw.frames.line[frame] + " " + data.names[frame], place, data.names[frame]];
	return [String(data.frameKey[frame]), data.names[frame], place];
}

// Whether a node of the tree of calls is within another call of that op, whose total has it already.
function isWithin(data: PageData, node: number, op: number): boolean {
	const { parent } = data.raw.opTree;
	for (let at = parent[node]; at > 1; at = parent[at])
		if (data.raw.opTree.op[at] === op)
			return true;
	return false;
}

export function opRows(data: PageData, from: number, to: number): Row[] {
	const { amount, count, total } = data.ops(from, to), rows = new Map<number, Row>();
	for (let node = 1; node < amount.length; node++) {
		const op = data.raw.opTree.op[node];
		if (!count[node] && !amount[node])
			continue;
		const row = rows.get(op) ?? { name: data.opName(op) || "(further ops)", place: "", self: 0, total: 0, count: 0, frame: -1 };
		row.self += amount[node];
		if (!isWithin(data, node, op))
			row.total += total[node];
		row.count += count[node];
		rows.set(op, row);
	}
	return [...rows.values()];
}

// Self: what is put down to the frame itself. Total: also what it called. Negative amounts count too.
export function buildRows(data: PageData, measure: Measure, values: Values, by: By, from: number, to: number): Row[] {
	if (measure === "ops")
		return opRows(data, from, to);
	const sites = measure === "cpu" ? data.raw.cpu : data.raw.sites, rows = new Map<string, Row>();
	const flags = data.raw.frames.flags;

	function add(key: string, name: string, place: string, frame: number, row: number, self: boolean): void {
		let at = rows.get(key);
		if (!at)
			rows.set(key, at = { name, place, self: 0, total: 0, count: 0, frame });
		at.total += values.amount[row];
		if (self) {
			at.self += values.amount[row];
			at.count += values.count[row];
		}
	}

	for (let row = 0; row < values.amount.length; row++) {
		if (!values.amount[row] && !values.count[row])
			continue;
		if (by === "op") {
			const name = data.opName(sites.op[row]) || "(outside of ops)";
			add(name, name, "", -1, row, true);
			continue;
		}
		if (by === "own") {
			const own = data.ownOf[sites.node[row]], [key, name, place] = own < 0 ? ["", "(stack not recorded)", ""] : keyOf(data, own, by);
			add(key, name, place, own, row, true);
			continue;
		}
		const path = pathOf(data, sites.node[row]), seen = new Set<string>();
		// Memory is put down to the innermost frame that is no plumbing, CPU time to the innermost of all.
		const own = measure === "cpu" ? 0 : Math.max(0, path.findIndex((frame) => !(flags[frame] & PLUMBING)));
		path.forEach((frame) => {
			const [key, name, place] = keyOf(data, frame, by);
			if (!seen.has(key)) {
				const self = keyOf(data, path[own], by)[0] === key;
				add(key, name, place, frame, row, self);
				seen.add(key);
			}
		});
	}
	return [...rows.values()];
}
