// SPDX-License-Identifier: Apache-2.0
// What is looked at, as the address's fragment has it, so that a link shows a colleague the same.
import type { ColorBy } from "./colors";
import type { Measure } from "./data";
import type { Compared, Shape } from "./flame";
import type { StackBy } from "./stacks";
import type { Tab } from "./panels";
import type { By, Frames } from "./tree";

export interface State {
	measure: Measure;
	shape: Shape;
	inverted: boolean;
	frames: Frames;
	color: ColorBy;
	by: By;
	stack: StackBy;
	tab: Tab;
	compare: Compared;
	thread: number; // 0: all
	search: string;
	from: number | null; // ns of what is selected
	to: number | null;
	zoomFrom: number | null; // ns of what is shown
	zoomTo: number | null;
	path: string[]; // what the flame graph is zoomed on
}

export const DEFAULT: State = {
	measure: "peak", shape: "icicle", inverted: false, frames: "all", color: "module", by: "own", stack: "line", tab: "stacks", compare: "off", thread: 0,
	search: "", from: null, to: null, zoomFrom: null, zoomTo: null, path: [],
};

const CHOICES: Partial<Record<keyof State, readonly string[]>> = {
	measure: ["peak", "alive", "growth", "allocated", "temporary", "unfreed", "cpu", "ops"],
	shape: ["icicle", "flame", "sunburst"],
	frames: ["all", "python", "native", "ops"],
	color: ["module", "kind"],
	compare: ["off", "new", "old"],
	by: ["own", "line", "function", "module", "op"],
	tab: ["stacks", "ops", "layers", "steps", "threads"],
	stack: ["line", "function", "module", "op", "rss", "none"],
};

// Times are written in seconds, so that people can read and change them.
export function toHash(process: number, state: State): string {
	const parts = new URLSearchParams();
	for (const [key, value] of Object.entries(state) as [keyof State, any][]) {
		if (value === null || JSON.stringify(value) === JSON.stringify(DEFAULT[key]))
			continue;
		if (key === "from" || key === "to" || key === "zoomFrom" || key === "zoomTo")
			parts.set(key, String(value / 1e9));
		else if (key === "path")
			value.forEach((name: string) => parts.append("path", name));
		else
			parts.set(key, String(value));
	}
	return `#view=${process}${parts.size ? "&" + parts.toString() : ""}`;
}

function seconds(text: string | null): number | null {
	const value = text === null ? NaN : Number(text) * 1e9;
	return Number.isFinite(value) ? Math.round(value) : null;
}

// Null: the fragment is none of a view. Values that are not known are passed over.
export function fromHash(hash: string): { process: number; state: State } | null {
	const parts = new URLSearchParams(hash.replace(/^#/, "")), process = Number(parts.get("view"));
	const state: any = { ...DEFAULT };
	if (!parts.has("view") || !Number.isInteger(process) || process < 0)
		return null;
	for (const [key, choices] of Object.entries(CHOICES)) {
		const value = parts.get(key);
		if (value !== null && choices!.includes(value))
			state[key] = value;
	}
	state.inverted = parts.get("inverted") === "true";
	state.thread = Number(parts.get("thread")) || 0;
	state.search = parts.get("search") ?? "";
	for (const key of ["from", "to", "zoomFrom", "zoomTo"])
		state[key] = seconds(parts.get(key));
	state.path = parts.getAll("path");
	return { process, state };
}
