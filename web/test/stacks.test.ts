// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { PageData, sum } from "../src/data.ts";
import { buildStack, largest, resident, type StackBy } from "../src/stacks.ts";
import { page, randomPage } from "./made.ts";

test("areas add up to what is alive", () => {
	for (let seed = 1; seed <= 10; seed++) {
		const data = new PageData(randomPage(seed, 15));
		for (const by of ["line", "function", "module", "op", "none"] as StackBy[]) {
			const areas = largest(data, by);
			for (let look = 0; look < 15; look++)
				assert.equal(sum(areas.map((area) => area.line[look])), sum(data.alive(look).amount));
		}
	}
});

test("parts add up to RSS", () => {
	const data = new PageData(page()), parts = resident(data);
	assert.deepEqual(parts.map((part) => part.key),
		["live blocks", "rest of the heap", "files and shared memory", "mapped by the program", "threads' stacks", "the collector"]);
	for (let look = 0; look < 4; look++)
		assert.equal(sum(parts.map((part) => part.line[look])), data.raw.memory.rss[look]);
	assert.equal(parts[0].line[2], 140);
});

test("the top area is the sum of all, at each time of looks and points", () => {
	const data = new PageData(page()), stack = buildStack(data, "line");
	assert.deepEqual(stack.aligned[0], [0, 100, 150, 200, 300].map((ns) => ns / 1e9));
	const total = [0, 1, 2, 3].map((look) => sum(data.alive(look).amount));
	assert.deepEqual(stack.aligned[1], [total[0], total[1], (total[1] + total[2]) / 2, total[2], total[3]]);
	assert.equal(stack.aligned.length, stack.series.length + 1);
});
