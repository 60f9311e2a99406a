// SPDX-License-Identifier: Apache-2.0
// Numbers as the reports print them: three digits, sizes in powers of 1024.

function threeDigits(value: number): string {
	if (value >= 100)
		return value.toFixed(0);
	return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function bytes(value: number): string {
	const sign = value < 0 ? "\u2212" : "";
	let size = Math.abs(value), unit = 0;
	while (size >= 999.5 && unit < SIZES.length - 1) {
		size /= 1024;
		unit++;
	}
	return sign + (unit ? threeDigits(size) : String(Math.round(size))) + " " + SIZES[unit];
}

const TIMES: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]];

export function time(ns: number): string {
	const sign = ns < 0 ? "\u2212" : "", size = Math.abs(ns);
	for (const [scale, unit] of TIMES)
		if (size >= scale * 0.9995)
			return sign + threeDigits(size / scale) + " " + unit;
	return sign + Math.round(size) + " ns";
}

export function count(value: number): string {
	const sign = value < 0 ? "\u2212" : "";
	return sign + Math.round(Math.abs(value)).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

export function share(part: number, whole: number): string {
	if (!whole)
		return "";
	return (100 * part / whole).toFixed(1) + "%";
}

// A moment of the run, with as many digits as tell neighbouring looks apart: in seconds, or milliseconds of a short run.
export function moment(ns: number, stepNs: number): string {
	const [scale, unit] = ns < 1e9 && stepNs < 1e6 ? [1e6, "ms"] as const : [1e9, "s"] as const;
	const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(Math.max(stepNs, 1) / scale))));
	return (ns / scale).toFixed(digits) + " " + unit;
}

export type Unit = "bytes" | "ns" | "count";

export function amount(value: number, unit: Unit): string {
	return unit === "bytes" ? bytes(value) : unit === "ns" ? time(value) : count(value);
}
