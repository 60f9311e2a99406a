// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { bytes, count, moment, share, time } from "../src/format.ts";
import { DEFAULT, fromHash, toHash } from "../src/state.ts";

test("numbers read as in the reports", () => {
	assert.deepEqual([0, 999, 1000, 1536, 82160627, -5, 2 ** 40].map(bytes), ["0 B", "999 B", "0.98 KiB", "1.50 KiB", "78.4 MiB", "\u22125 B", "1.00 TiB"]);
	assert.deepEqual([0, 999, 1000, 561e3, 1.44e9, 47.7e9].map(time), ["0 ns", "999 ns", "1.00 us", "561 us", "1.44 s", "47.7 s"]);
	assert.deepEqual([0, 1234567, -1000].map(count), ["0", "1,234,567", "\u22121,000"]);
	assert.deepEqual([share(1, 3), share(1, 0), moment(1.234e9, 1e7), moment(47e9, 1e9)], ["33.3%", "", "1.23 s", "47 s"]);
	assert.deepEqual([moment(412345, 1e4), moment(1.5e9, 1e4), moment(3e6, 9e5)], ["0.41 ms", "1.50000 s", "3.0 ms"]);
});

test("a link has what is looked at, and nothing else", () => {
	assert.equal(toHash(0, DEFAULT), "#view=0");
	const state = { ...DEFAULT, measure: "growth" as const, from: 0.8e9, to: 1.2e9, inverted: true, search: "a&b=c#<", path: ["main", "f(int)"] };
	assert.deepEqual(fromHash(toHash(2, state)), { process: 2, state });
	assert.deepEqual(fromHash("#view=0&measure=nonsense&from=x&shape=flame"), { process: 0, state: { ...DEFAULT, shape: "flame" } });
	assert.equal(fromHash("#p0-peak"), null);
	assert.equal(fromHash("#view=-1"), null);
});
