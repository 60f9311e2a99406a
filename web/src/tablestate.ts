// SPDX-License-Identifier: Apache-2.0
// How tables are shown, by their names: what sorts them, which rows and columns they have. It is part of the page's address.

export interface TableView {
	sort: string; // a column's key; "": the table's own order
	down: boolean;
	filter: string;
	toggled: string[]; // columns that are shown or hidden other than at first
}

const views = new Map<string, TableView>(), listeners = new Map<string, () => void>();
let changed = (): void => {};

export function viewOf(name: string): TableView {
	return views.get(name) ?? { sort: "", down: true, filter: "", toggled: [] };
}

export function setView(name: string, change: Partial<TableView>): void {
	views.set(name, { ...viewOf(name), ...change });
	changed();
}

export interface Choice {
	key: string;
	title: string;
	off?: boolean; // not shown at first
}

export function isShown(name: string, column: Choice): boolean {
	return viewOf(name).toggled.includes(column.key) === Boolean(column.off);
}

// Whether a row's words match a regular expression; what is none is looked for as it is.
export function matcher(text: string): (words: string) => boolean {
	try {
		const expression = new RegExp(text, "i");
		return (words) => expression.test(words);
	} catch {
		return (words) => words.toLowerCase().includes(text.toLowerCase());
	}
}

// `act` is called after each change that a reader makes.
export function onTableChange(act: () => void): void {
	changed = act;
}

// `apply` is called when a link is followed.
export function onTableLink(name: string, apply: () => void): void {
	listeners.set(name, apply);
}

export function tablesToParams(parts: URLSearchParams): void {
	for (const [name, view] of [...views].sort(([a], [b]) => (a < b ? -1 : 1))) {
		if (view.sort)
			parts.set("sort." + name, (view.down ? "-" : "") + view.sort);
		if (view.filter)
			parts.set("filter." + name, view.filter);
		if (view.toggled.length)
			parts.set("columns." + name, view.toggled.join(" "));
	}
}

// Returns whether the address has tables; then, and if `always`, tables that it lacks are as at first.
export function tablesFromParams(parts: URLSearchParams, always: boolean): boolean {
	const found = new Map<string, TableView>();
	for (const [key, value] of parts) {
		const [, what, name] = key.match(/^(sort|filter|columns)\.(.+)$/) ?? [];
		if (!what)
			continue;
		const view = found.get(name) ?? { sort: "", down: true, filter: "", toggled: [] };
		if (what === "sort")
			Object.assign(view, { sort: value.replace(/^-/, ""), down: value.startsWith("-") });
		else if (what === "filter")
			view.filter = value;
		else
			view.toggled = value.split(" ").filter((column) => column);
		found.set(name, view);
	}
	if (!found.size && !always)
		return false;
	views.clear();
	found.forEach((view, name) => views.set(name, view));
	listeners.forEach((apply) => apply());
	return true;
}
