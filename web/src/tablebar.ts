// SPDX-License-Identifier: Apache-2.0
// What stands above a table: a field that filters its rows, and the columns to choose.
import { element } from "./dom";
import { type Choice, isShown, setView, viewOf } from "./tablestate";

export class TableBar {
	readonly root: HTMLElement;
	private readonly field: HTMLInputElement;
	private readonly list = element("details", { class: "columns" });
	private choices: Choice[] = [];

	constructor(private readonly name: string, filter: boolean, private readonly changed: () => void) {
		this.field = element("input", { type: "search", placeholder: "filter", "aria-label": "Filter the rows", title: "Rows that match a regular expression",
			input: () => {
				setView(name, { filter: this.field.value });
				changed();
			} });
		this.root = element("div", { class: "bar" }, ...(filter ? [this.field] : []), this.list);
	}

	columns(choices: Choice[]): void {
		this.choices = choices;
		this.refresh();
	}

	// As the table's state says, which a link may have changed.
	refresh(): void {
		const open = this.list.open, focused = (this.list.contains(document.activeElement) ? document.activeElement as HTMLElement : null)?.dataset.k;
		if (this.field.value !== viewOf(this.name).filter)
			this.field.value = viewOf(this.name).filter;
		this.list.hidden = this.choices.length < 3;
		this.list.replaceChildren(element("summary", {}, "columns"), ...this.choices.map((column) => element("label", {},
			element("input", { type: "checkbox", checked: isShown(this.name, column), "data-k": column.key, change: () => this.toggle(column) }),
			" " + column.title)));
		this.list.open = open;
		if (focused)
			this.list.querySelector<HTMLElement>(`[data-k="${CSS.escape(focused)}"]`)?.focus();
	}

	private toggle(column: Choice): void {
		const { toggled } = viewOf(this.name);
		setView(this.name, { toggled: toggled.includes(column.key) ? toggled.filter((key) => key !== column.key) : [...toggled, column.key] });
		this.changed();
	}
}
