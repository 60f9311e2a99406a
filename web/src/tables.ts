// SPDX-License-Identifier: Apache-2.0
// The tables that the analyzer wrote: sorted by the column whose head is clicked, filtered, with columns to choose. Without this
// script all is there still, in the order of the report.
import { TableBar } from "./tablebar";
import { type Choice, isShown, matcher, onTableLink, setView, viewOf } from "./tablestate";

const FILTERED = 5; // rows from which on a table has a filter

function value(row: HTMLTableRowElement, column: number): number | string | null {
	const cell = row.cells[column], exact = cell.dataset.v;
	if (exact === undefined)
		return cell.textContent!.trim().toLowerCase();
	const number = JSON.parse(exact);
	return Array.isArray(number) ? number[0] : number;
}

// What is not known stands last, whichever way.
function order(a: number | string | null, b: number | string | null, down: boolean): number {
	if (a === null || b === null)
		return Number(a === null) - Number(b === null);
	const less = a === b ? 0 : a > b ? 1 : -1;
	return down ? -less : less;
}

function columnsOf(heads: HTMLTableCellElement[]): Choice[] {
	const seen = new Set<string>();
	return heads.map((head, column) => {
		const title = head.textContent!.trim(), words = title.toLowerCase().replace(/\s+/g, "-") || String(column);
		const key = seen.has(words) ? `${words}-${column}` : words;
		seen.add(key);
		return { key, title };
	});
}

class WrittenTable {
	private readonly heads: HTMLTableCellElement[];
	private readonly rows: HTMLTableRowElement[];
	private readonly columns: Choice[];
	private readonly bar: TableBar | null = null;

	constructor(private readonly table: HTMLTableElement, private readonly name: string) {
		this.heads = Array.from(table.tHead!.rows[0].cells);
		this.rows = Array.from(table.tBodies[0].rows);
		this.columns = columnsOf(this.heads);
		if (this.rows.length > 1 && !table.classList.contains("ordered"))
			this.heads.forEach((head, column) => this.sortable(head, column));
		if (table.closest("td"))
			return;
		this.bar = new TableBar(name, this.rows.length >= FILTERED, () => this.show());
		this.bar.columns(this.columns);
		(table.closest(".wide") ?? table).before(this.bar.root);
		onTableLink(name, () => this.show());
	}

	private sortable(head: HTMLTableCellElement, column: number): void {
		const sort = (): void => {
			const now = head.getAttribute("aria-sort"), down = now ? now === "ascending" : !head.classList.contains("t");
			setView(this.name, { sort: this.columns[column].key, down });
			this.show();
		};
		head.classList.add("sort");
		head.tabIndex = 0;
		head.addEventListener("click", sort);
		head.addEventListener("keydown", (event) => {
			if (event.key === "Enter" || event.key === " ") {
				event.preventDefault();
				sort();
			}
		});
	}

	private sorted(): HTMLTableRowElement[] {
		const view = viewOf(this.name), column = this.columns.findIndex((one) => one.key === view.sort);
		if (column < 0)
			return this.rows;
		const rows = this.rows.map((row) => ({ row, key: value(row, column) }));
		return rows.sort((a, b) => order(a.key, b.key, view.down)).map((one) => one.row);
	}

	show(): void {
		const view = viewOf(this.name), matches = matcher(view.filter);
		this.heads.forEach((head, column) => {
			const hidden = !isShown(this.name, this.columns[column]);
			head.removeAttribute("aria-sort");
			if (this.columns[column].key === view.sort)
				head.setAttribute("aria-sort", view.down ? "descending" : "ascending");
			for (const cell of [head, ...this.rows.map((row) => row.cells[column])])
				cell.hidden = hidden;
		});
		for (const row of this.sorted()) {
			row.hidden = view.filter !== "" && !matches(row.textContent!);
			this.table.tBodies[0].append(row);
		}
		this.bar?.refresh();
	}
}

export function enhanceTables(): void {
	const names = new Set<string>();
	document.querySelectorAll<HTMLTableElement>("table[data-path]").forEach((table, i) => {
		const owner = table.closest("article")?.id, path = (owner ? owner + "." : "") + table.dataset.path;
		const name = names.has(path) ? `${path}.${i}` : path;
		names.add(name);
		const written = new WrittenTable(table, name);
		if (viewOf(name).sort || viewOf(name).filter || viewOf(name).toggled.length)
			written.show();
	});
}
