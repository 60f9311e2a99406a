// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { PageData } from "../src/data.ts";
import { boundText, layers, steps, threads } from "../src/layers.ts";
import { bars } from "../src/histogram.ts";
import { op, page } from "./made.ts";

test("an op's time belongs to the innermost layer", () => {
	const data = new PageData(page({
		ops: [op(1, "net", "layer"), op(2, "net.0 (backward)", "layer"), op(3, "mm", "op"), op(4, "add", "op")],
		// net { mm, net.0 { mm, add } }, mm outside
		opTree: { parent: [0, 0, 0, 2, 2, 4, 4, 0], op: [0, 0, 1, 3, 2, 3, 4, 3], ends: [6, 6, 6], node: [2, 3, 4, 5, 6, 7], calls: [1, 1, 2, 2, 2, 9],
			totalNs: [100, 30, 60, 40, 10, 5], selfNs: [10, 30, 10, 40, 10, 5] },
		report: { roofline: [{ name: "mm", bound: "compute" }, { name: "add", bound: "memory" }] },
	}));
	const found = layers(data, 0, 3);
	assert.deepEqual(found.map((layer) => [layer.name, layer.backward, layer.own, layer.total, layer.calls, layer.slowest, boundText(layer)]), [
		["net", false, 40, 100, 1, "mm", "compute (75% of its time)"],
		["net.0 (backward)", true, 60, 60, 2, "mm", "compute (67% of its time)"]]);
	assert.deepEqual(layers(data, 1, 3), []);
});

test("slow steps", () => {
	const times = [900, 10, 11, 10, 12, 11, 10, 11, 50, 10];
	let at = 0;
	const list = { first: [] as number[], steps: [] as number[], beginNs: [] as number[], endNs: [] as number[], beginBytes: [] as number[], endBytes: [] as number[], highBytes: [] as number[] };
	times.forEach((time, i) => {
		list.first.push(i + 1); list.steps.push(1); list.beginNs.push(at); list.endNs.push(at += time);
		list.beginBytes.push(i); list.endBytes.push(i + 1); list.highBytes.push(9);
	});
	const found = steps(new PageData(page({ stepList: list })));
	assert.deepEqual(found.filter((step) => step.slow).map((step) => step.number), [9]);
	assert.ok(found.every((step, i) => step.time === times[i] && step.net === 1));
});

test("threads: what did not run", () => {
	const [main, other] = threads(new PageData(page()), 1, 3);
	assert.deepEqual([main.lived, main.cpu, main.idle, other.cpu, other.idle], [200, 10, 190, 20, 180]);
});

test("bars of a histogram hold all calls", () => {
	const list = bars({ ...op(1, "x", "op"), histogram: [[0, 3], [1024, 5], [1152, 2]] });
	assert.deepEqual(list.map((bar) => [bar.low, bar.high, bar.calls]), [[0, 16, 3], [1024, 1152, 5], [1152, 1280, 2]]);
});
