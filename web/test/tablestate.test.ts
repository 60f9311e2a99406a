// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { isShown, matcher, onTableChange, onTableLink, setView, tablesFromParams, tablesToParams, viewOf } from "../src/tablestate.ts";

function link(): string {
	const parts = new URLSearchParams();
	tablesToParams(parts);
	return parts.toString();
}

test("the address holds the state of each table", () => {
	let changes = 0, applied = 0;
	onTableChange(() => changes++);
	onTableLink("p0.ops", () => applied++);
	assert.equal(link(), "");
	setView("p0.ops", { sort: "calls", down: false, filter: "a b&sort.x=1" });
	setView("p0.ops", { toggled: ["mean", "p50Ns"] });
	setView("p1.heap.peak_sites", { sort: "95%-interval", down: true });
	const said = link(), view = viewOf("p0.ops");
	assert.equal(changes, 3);
	tablesFromParams(new URLSearchParams("view=0"), true);
	assert.equal(link(), "");
	assert.deepEqual(viewOf("p0.ops"), { sort: "", down: true, filter: "", toggled: [] });
	assert.ok(tablesFromParams(new URLSearchParams(said), false));
	assert.equal(link(), said);
	assert.deepEqual(viewOf("p0.ops"), view);
	assert.deepEqual(viewOf("p1.heap.peak_sites"), { sort: "95%-interval", down: true, filter: "", toggled: [] });
	assert.equal(applied, 2);
});

test("an anchor changes no table", () => {
	setView("t", { filter: "x" });
	assert.ok(!tablesFromParams(new URLSearchParams("p0-peak"), false));
	assert.ok(!tablesFromParams(new URLSearchParams("sort=1&sort.=2&color.t=3"), false));
	assert.equal(viewOf("t").filter, "x");
});

test("columns are shown, or not, other than at first", () => {
	setView("c", { toggled: ["a", "b"] });
	assert.deepEqual([{ key: "a" }, { key: "b", off: true }, { key: "c" }, { key: "d", off: true }].map((one) => isShown("c", { title: "", ...one })),
		[false, true, true, false]);
});

test("a filter is an expression, else a text", () => {
	assert.ok(matcher("^aten::(add|mul)$")("aten::MUL"));
	assert.ok(!matcher("^add")("aten::add"));
	assert.ok(matcher("add(")("aten::ADD(x)") && !matcher("add(")("add"));
	assert.ok(matcher("")("anything"));
});
