// SPDX-License-Identifier: Apache-2.0
// The tables that the analyzer wrote: sorted by the column whose head is clicked. Without this script all is there still,
// in the order of the report.
import { element } from "./dom";

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

function sort(table: HTMLTableElement, head: HTMLTableCellElement, column: number): void {
	const now = head.getAttribute("aria-sort"), down = now ? now === "ascending" : !head.classList.contains("t");
	const rows = Array.from(table.tBodies[0].rows).map((row) => ({ row, key: value(row, column) }));
	rows.sort((a, b) => order(a.key, b.key, down));
	for (const cell of head.parentElement!.children)
		cell.removeAttribute("aria-sort");
	head.setAttribute("aria-sort", down ? "descending" : "ascending");
	for (const entry of rows)
		table.tBodies[0].append(entry.row);
}

function sortable(table: HTMLTableElement, head: HTMLTableCellElement, column: number): void {
	head.classList.add("sort");
	head.tabIndex = 0;
	head.addEventListener("click", () => sort(table, head, column));
	head.addEventListener("keydown", (event) => {
		if (event.key === "Enter" || event.key === " ") {
			event.preventDefault();
			sort(table, head, column);
		}
	});
}

// A field that hides the rows without a text; what is said of rows that were left out stays true.
function filterable(table: HTMLTableElement): void {
	const rows = Array.from(table.tBodies[0].rows);
	const field = element("input", { type: "search", placeholder: "filter", "aria-label": "Filter the rows", input: () => {
		const text = field.value.toLowerCase();
		rows.forEach((row) => { row.hidden = !row.textContent!.toLowerCase().includes(text); });
	} });
	(table.closest(".wide") ?? table).before(element("div", { class: "bar" }, field));
}

export function enhanceTables(): void {
	document.querySelectorAll<HTMLTableElement>("table[data-path]:not(.ordered)").forEach((table) => {
		if (table.tBodies[0].rows.length > 1)
			Array.from(table.tHead!.rows[0].cells).forEach((head, column) => sortable(table, head, column));
		if (table.tBodies[0].rows.length > 8 && !table.closest("td"))
			filterable(table);
	});
}
