// SPDX-License-Identifier: Apache-2.0
// The durations of an op's calls, as the analyzer counted them: by eighths of powers of two, below 128 ns by 16 ns.
import type { RawOp } from "./data";

export interface Bar { low: number; high: number; calls: number; ns: number }

export function bars(op: RawOp): Bar[] {
	return op.histogram.map(([low, calls]) => {
		const high = low < 128 ? low + 16 : low + 2 ** (Math.floor(Math.log2(low)) - 3);
		return { low, high, calls, ns: calls * (low + high) / 2 };
	});
}
