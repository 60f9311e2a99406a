// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { PageData, sum } from "../src/data.ts";
import { page, randomPage } from "./made.ts";

test("what is alive, grown and allocated is that of a naive sum", () => {
	for (let seed = 1; seed <= 20; seed++) {
		const raw = randomPage(seed, 12), data = new PageData(raw), { changes } = raw;
		for (let to = 0; to < 12; to++) {
			const alive = raw.sites.beginBytes.slice();
			changes.site.forEach((site, i) => {
				const interval = changes.ends.findIndex((end) => i < end);
				if (interval < to)
					alive[site] += changes.liveBytes[i];
			});
			assert.deepEqual([...data.alive(to).amount], alive);
			for (let from = 0; from <= to; from++) {
				const before = data.alive(from).amount, grown = data.growth(from, to).amount;
				assert.deepEqual([...grown], alive.map((value, i) => value - before[i]));
				const first = from ? changes.ends[from - 1] : 0, last = to ? changes.ends[to - 1] : 0;
				assert.equal(sum(data.allocated(from, to).amount), sum(changes.bytes.slice(first, last)));
			}
		}
	}
});

test("the nearest look", () => {
	const data = new PageData(page());
	assert.deepEqual([-5, 0, 49, 51, 149, 299, 1000].map((ns) => data.lookAt(ns)), [0, 0, 0, 1, 1, 3, 3]);
});

test("memory is put down to the user's own code", () => {
	const data = new PageData(page());
	assert.deepEqual([...data.raw.sites.node].map((node) => data.place(data.ownOf[node])), ["main.c:20", "main.c:20", "main.c:20", "train.py:33"]);
});

test("temporary bytes are a part of the allocated ones, CPU time is of a thread", () => {
	const data = new PageData(page());
	assert.equal(sum(data.temporary(0, 3).amount), 40);
	assert.equal(sum(data.temporary(1, 3).amount), 0);
	assert.equal(sum(data.cpu(0, 3, 0).amount), 80);
	assert.equal(sum(data.cpu(0, 3, 2).amount), 20);
	assert.deepEqual([...data.threads(1, 3)], [[2, { cpu: 20, ops: 0, bytes: 80, allocations: 4 }], [1, { cpu: 10, ops: 0, bytes: 50, allocations: 1 }]]);
});
