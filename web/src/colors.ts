// SPDX-License-Identifier: Apache-2.0
// Colours of frames: the module gives the hue, the function a slight lightness; the same in every picture.
import type { FlameNode } from "./tree";

export type ColorBy = "module" | "kind";

function hash(text: string): number {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619) >>> 0;
	return (h ^ (h >>> 15)) >>> 0;
}

const cache = new Map<string, string>();

function byName(module: string, name: string, python: boolean): string {
	const key = module + " " + name + python;
	let color = cache.get(key);
	if (!color) {
		const hue = hash(module) % 360, light = 66 + hash(name) % 12;
		cache.set(key, color = module ? `hsl(${hue},${python ? 70 : 55}%,${light}%)` : "#c8c8c8");
	}
	return color;
}

const KINDS = { code: "hsl(28,75%,70%)", python: "hsl(205,65%,72%)", op: "hsl(285,50%,78%)", root: "#c8c8c8" };

// Red: more than the baseline had; blue: less. `of`: whether the widths are those of now, or of the baseline.
export function byChange(node: FlameNode, of: "new" | "old"): string {
	const change = of === "new" ? node.amount - node.base : node.base - node.amount, most = Math.max(node.amount, node.base);
	const part = most ? Math.abs(change) / most : 0;
	if (part < 0.005)
		return "#d8d8d8";
	return `hsl(${change > 0 ? 8 : 212},${Math.round(40 + 50 * part)}%,${Math.round(86 - 24 * part)}%)`;
}

// Of modules that are files of Python, the package says more than the interpreter, which runs them all.
export function moduleOf(node: FlameNode): string {
	if (node.kind !== "python" || !node.place)
		return node.module;
	return node.place.replace(/:\d+$/, "");
}

export function fill(node: FlameNode, by: ColorBy): string {
	if (node.kind === "op" && node.parent?.kind !== "code" && node.parent?.kind !== "python" && by === "module")
		return byName("op", node.name, false).replace(/^hsl\(\d+/, "hsl(" + hash(node.name) % 360);
	if (by === "kind" || node.kind === "op" || node.kind === "root")
		return KINDS[node.kind];
	return byName(moduleOf(node), node.name, node.kind === "python");
}
