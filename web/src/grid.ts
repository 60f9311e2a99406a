// SPDX-License-Identifier: Apache-2.0
// A table whose rows change with what is selected: sorted by a click on a head, filtered by a text, columns to choose.
import { element } from "./dom";
import { count } from "./format";

export interface Column<Row> {
	key: string;
	title: string;
	hint?: string;
	text: boolean; // else a number, largest first
	value(row: Row): number | string;
	show(row: Row): string | Node;
	bar?(row: Row): number; // 0 to 1
	off?: boolean; // not shown at first
}

const ROWS = 25;

export class Grid<Row> {
	readonly root: HTMLElement;
	private readonly table = element("table", {});
	private readonly note = element("p", { class: "rest" });
	private readonly chooser: HTMLElement;
	private rows: Row[] = [];
	private filter: RegExp | string = "";
	private order: { key: string; down: boolean } | null = null;
	private limit = ROWS;
	private hidden = new Set<string>();

	constructor(private columns: Column<Row>[], private readonly pick?: (row: Row) => void) {
		const filter = element("input", { type: "search", placeholder: "filter", "aria-label": "Filter the rows",
			input: (event: Event) => this.setFilter((event.target as HTMLInputElement).value) });
		columns.filter((column) => column.off).forEach((column) => this.hidden.add(column.key));
		this.chooser = element("span", { class: "columns" });
		this.root = element("div", { class: "grid" }, element("div", { class: "bar" }, filter, this.chooser),
			element("div", { class: "wide" }, this.table), this.note);
		this.drawChooser();
	}

	private drawChooser(): void {
		const list = element("details", {}, element("summary", {}, "columns"));
		for (const column of this.columns)
			list.append(element("label", {}, element("input", { type: "checkbox", checked: !this.hidden.has(column.key), change: () => {
				if (!this.hidden.delete(column.key))
					this.hidden.add(column.key);
				this.draw();
			} }), " " + column.title));
		this.chooser.replaceChildren(list);
	}

	private setFilter(text: string): void {
		try {
			this.filter = text ? new RegExp(text, "i") : "";
		} catch {
			this.filter = text.toLowerCase();
		}
		this.draw();
	}

	show(rows: Row[], columns = this.columns): void {
		if (columns !== this.columns) {
			this.columns = columns;
			this.hidden = new Set(columns.filter((column) => column.off).map((column) => column.key));
			this.order = null;
			this.drawChooser();
		}
		this.rows = rows;
		this.limit = ROWS;
		this.draw();
	}

	private matches(row: Row): boolean {
		const words = this.columns.filter((column) => column.text).map((column) => String(column.value(row))).join(" ");
		return typeof this.filter === "string" ? words.toLowerCase().includes(this.filter) : this.filter.test(words);
	}

	private sorted(rows: Row[]): Row[] {
		const column = this.columns.find((one) => one.key === (this.order?.key ?? this.columns.find((first) => !first.text)?.key));
		const down = this.order ? this.order.down : true;
		if (!column)
			return rows;
		return rows.slice().sort((a, b) => {
			const x = column.value(a), y = column.value(b), less = x === y ? 0 : x < y ? -1 : 1;
			return down ? -less : less;
		});
	}

	private head(column: Column<Row>): HTMLElement {
		const order = this.order ?? { key: this.columns.find((one) => !one.text)?.key, down: true };
		const head = element("th", { scope: "col", class: (column.text ? "t " : "") + "sort", title: column.hint ?? "" },
			element("button", { type: "button", click: () => {
				const again = this.order?.key === column.key || (!this.order && order.key === column.key);
				this.order = { key: column.key, down: again ? !order.down : !column.text };
				this.draw(column.key);
			} }, column.title));
		if (order.key === column.key)
			head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
		return head;
	}

	private cell(column: Column<Row>, row: Row, first: boolean): HTMLElement {
		const shown = column.show(row), cell = element("td", { class: column.text ? "t" : "", "data-k": column.key });
		if (!column.text)
			cell.dataset.v = String(column.value(row));
		if (column.bar) {
			const bar = element("span", { class: "share" }), part = element("span", {});
			part.style.width = Math.max(0, Math.min(1, column.bar(row))) * 100 + "%";
			bar.append(part);
			cell.append(bar);
		}
		if (first && this.pick)
			cell.append(element("button", { type: "button", class: "link", click: () => this.pick!(row) }, shown));
		else
			cell.append(shown);
		return cell;
	}

	private draw(focus = ""): void {
		const columns = this.columns.filter((column) => !this.hidden.has(column.key));
		const rows = this.sorted(this.rows.filter((row) => this.matches(row))), shown = rows.slice(0, this.limit);
		const name = columns.find((column) => column.text);
		const heads = element("tr", {}, ...columns.map((column) => this.head(column)));
		const body = element("tbody", {}, ...shown.map((row) =>
			element("tr", {}, ...columns.map((column) => this.cell(column, row, column === name)))));
		this.table.replaceChildren(element("thead", {}, heads), body);
		this.note.replaceChildren(rows.length ? `${count(shown.length)} of ${count(rows.length)} rows` : "no rows");
		if (rows.length > shown.length)
			this.note.append(" ", element("button", { type: "button", class: "link", click: () => {
				this.limit *= 4;
				this.draw();
			} }, "more"));
		if (focus)
			(heads.children[columns.findIndex((column) => column.key === focus)]?.firstChild as HTMLElement | null)?.focus();
	}

	get shownRows(): Row[] {
		return this.sorted(this.rows.filter((row) => this.matches(row)));
	}
}
