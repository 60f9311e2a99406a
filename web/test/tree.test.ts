// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { type Measure, PageData, sum } from "../src/data.ts";
import { buildRows, buildTree, type FlameNode, setBase, withBefore } from "../src/tree.ts";
import { page, randomPage } from "./made.ts";

function shape(node: FlameNode): any {
	return { [node.name + " " + node.amount]: node.children.map(shape) };
}

function nodes(node: FlameNode): FlameNode[] {
	return [node, ...node.children.flatMap(nodes)];
}

const ALL = { inverted: false, frames: "all" } as const;

test("callers first, with the op at the end", () => {
	const data = new PageData(page()), tree = buildTree(data, "peak", data.values("peak", 0, 3, 0), ALL);
	assert.deepEqual(shape(tree), { "all 137": [{ "main 137": [{ "work 107": [{ "leaf0 100": [{ "malloc 100": [] }] },
		{ "leaf1 7": [{ "outer 7": [] }] }] }, { "loop 30": [{ "inner 30": [] }] }] }] });
});

test("inverted, and frames left out", () => {
	const data = new PageData(page()), values = data.values("peak", 0, 3, 0);
	assert.deepEqual(shape(buildTree(data, "peak", values, { inverted: true, frames: "all" })), { "all 137": [
		{ "malloc 100": [{ "leaf0 100": [{ "work 100": [{ "main 100": [] }] }] }] }, { "inner 30": [{ "loop 30": [{ "main 30": [] }] }] },
		{ "outer 7": [{ "leaf1 7": [{ "work 7": [{ "main 7": [] }] }] }] }] });
	assert.deepEqual(shape(buildTree(data, "peak", values, { inverted: false, frames: "python" })),
		{ "all 137": [{ "loop 30": [{ "inner 30": [] }] }, { "outer 7": [] }] });
	assert.deepEqual(shape(buildTree(data, "peak", values, { inverted: false, frames: "ops" })), { "all 137": [{ "inner 30": [] }, { "outer 7": [] }] });
});

test("calls of ops are a tree of their own", () => {
	const data = new PageData(page());
	assert.deepEqual(shape(buildTree(data, "ops", data.values("ops", 0, 3, 0), ALL)), { "all 60": [{ "outer 60": [{ "inner 40": [{ "outer 10": [] }] }] }] });
	const rows = buildRows(data, "ops", data.values("ops", 0, 3, 0), "op", 0, 3);
	// A call within a call of the same op counts once in the total.
	assert.deepEqual(rows.map((row) => [row.name, row.self, row.total, row.count]), [["outer", 30, 60, 2], ["inner", 30, 40, 2]]);
});

test("widths add up whatever is shown", () => {
	for (let seed = 1; seed <= 10; seed++) {
		const data = new PageData(randomPage(seed, 9));
		for (const measure of ["alive", "growth", "allocated", "peak"] as Measure[])
			for (const frames of ["all", "python", "native", "ops"] as const)
				for (const inverted of [false, true]) {
					const values = data.values(measure, 2, 7, 0), tree = buildTree(data, measure, values, { inverted, frames });
					assert.equal(tree.amount, sum(values.amount.map((value) => Math.max(value, 0))));
					for (const node of nodes(tree)) {
						assert.equal(node.amount, node.self + sum(node.children.map((child) => child.amount)));
						let x = node.x;
						for (const child of node.children) {
							assert.equal(child.x, x);
							x += child.amount;
						}
					}
				}
	}
});

test("rows: self adds up to all, total holds what was called", () => {
	const data = new PageData(page()), values = data.values("peak", 0, 3, 0);
	for (const by of ["own", "function", "line", "module", "op"] as const)
		assert.equal(sum(buildRows(data, "peak", values, by, 0, 3).map((row) => row.self)), 137, by);
	const rows = Object.fromEntries(buildRows(data, "peak", values, "function", 0, 3).map((row) => [row.name, [row.self, row.total]]));
	assert.deepEqual(rows, { malloc: [0, 100], leaf0: [100, 100], leaf1: [7, 7], work: [0, 107], main: [0, 137], loop: [30, 30] });
});

test("a baseline: what the same node has, and rows that only one has", () => {
	const data = new PageData(page()), other = page();
	other.sites = { ...other.sites, peakBytes: [60, 7, 9, 0] };
	const before = new PageData(other), tree = buildTree(data, "peak", data.values("peak", 0, 3, 0), ALL);
	setBase(tree, buildTree(before, "peak", before.values("peak", 0, 3, 0), ALL));
	const bases = Object.fromEntries(nodes(tree).map((node) => [node.name, [node.amount, node.base]]));
	assert.deepEqual(bases, { all: [137, 76], main: [137, 76], work: [107, 76], leaf0: [100, 60], malloc: [100, 60], leaf1: [7, 7], outer: [7, 7],
		loop: [30, 0], inner: [30, 0] });
	const rows = withBefore(buildRows(data, "peak", data.values("peak", 0, 3, 0), "line", 0, 3),
		buildRows(before, "peak", before.values("peak", 0, 3, 0), "line", 0, 3));
	assert.equal(sum(rows.map((row) => row.self)), 137);
	assert.equal(sum(rows.map((row) => row.before ?? 0)), 76);
});
