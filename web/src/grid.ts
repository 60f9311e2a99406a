// SPDX-License-Identifier: Apache-2.0
// A table whose rows change with what is selected: sorted by a click on a head, filtered by a text, columns to choose.
import { element } from "./dom";
import { count } from "./format";
import { TableBar } from "./tablebar";
import { isShown, matcher, onTableLink, setView, viewOf } from "./tablestate";

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
	private readonly bar: TableBar;
	private rows: Row[] = [];
	private limit = ROWS;

	// `name`: by which the address has its state.
	constructor(private readonly name: string, private columns: Column<Row>[], private readonly pick?: (row: Row) => void) {
		this.bar = new TableBar(name, true, () => this.draw());
		this.root = element("div", { class: "grid" }, this.bar.root, element("div", { class: "wide" }, this.table), this.note);
		this.bar.columns(columns);
		onTableLink(name, () => this.draw());
	}

	show(rows: Row[], columns = this.columns): void {
		this.columns = columns;
		this.bar.columns(columns);
		this.rows = rows;
		this.limit = ROWS;
		this.draw();
	}

	// By the first number, if what the address names is not here.
	private get order(): { key?: string; down: boolean } {
		const view = viewOf(this.name), named = this.columns.some((column) => column.key === view.sort);
		return named ? { key: view.sort, down: view.down } : { key: this.columns.find((column) => !column.text)?.key, down: true };
	}

	get shownRows(): Row[] {
		const matches = matcher(viewOf(this.name).filter), texts = this.columns.filter((column) => column.text), order = this.order;
		const rows = this.rows.filter((row) => matches(texts.map((column) => String(column.value(row))).join(" ")));
		const column = this.columns.find((one) => one.key === order.key);
		if (!column)
			return rows;
		return rows.sort((a, b) => {
			const x = column.value(a), y = column.value(b), less = x === y ? 0 : x < y ? -1 : 1;
			return order.down ? -less : less;
		});
	}

	private head(column: Column<Row>): HTMLElement {
		const order = this.order, sorts = order.key === column.key;
		const head = element("th", { scope: "col", class: (column.text ? "t " : "") + "sort", title: column.hint ?? "" },
			element("button", { type: "button", click: () => {
				setView(this.name, { sort: column.key, down: sorts ? !order.down : !column.text });
				this.draw(column.key);
			} }, column.title));
		if (sorts)
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
		const columns = this.columns.filter((column) => isShown(this.name, column));
		const rows = this.shownRows, shown = rows.slice(0, this.limit), name = columns.find((column) => column.text);
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
		this.bar.refresh();
		if (focus)
			(heads.children[columns.findIndex((column) => column.key === focus)]?.firstChild as HTMLElement | null)?.focus();
	}
}
