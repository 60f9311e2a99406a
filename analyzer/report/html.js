// <![CDATA[
// SPDX-License-Identifier: Apache-2.0
// Tables are sorted by the column whose head is clicked; a picture's numbers stand below it while it is pointed at. Without
// script all is there still: in the order of the report, and as tooltips.
"use strict";
(function() {
function value(row, column)
{
	const cell = row.cells[column], exact = cell.dataset.v;
	if (exact === undefined)
		return cell.textContent.trim().toLowerCase();
	const number = JSON.parse(exact);
	return Array.isArray(number) ? number[0] : number;
}

// What is not known stands last, whichever way.
function order(a, b, down)
{
	if (a === null || b === null)
		return (a === null) - (b === null);
	if (typeof a !== typeof b)
		return typeof a === "number" ? -1 : 1;
	const less = a === b ? 0 : a > b ? 1 : -1;
	return down ? -less : less;
}

function sort(table, head, column)
{
	const down = head.getAttribute("aria-sort") === "descending"  ? false
		     : head.getAttribute("aria-sort") === "ascending" ? true
								      : !head.classList.contains("t");
	const body = table.tBodies[0];
	const rows = Array.from(body.rows).map((row) => ({ row : row, key : value(row, column) }));
	rows.sort((a, b) => order(a.key, b.key, down));
	Array.from(table.tHead.rows[0].cells).forEach((cell) => cell.removeAttribute("aria-sort"));
	head.setAttribute("aria-sort", down ? "descending" : "ascending");
	rows.forEach((entry) => body.append(entry.row));
}

document.querySelectorAll("table").forEach((table) => {
	if (table.classList.contains("tree") || table.tBodies[0].rows.length === 1)
		return;
	Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
		head.classList.add("sort");
		head.tabIndex = 0;
		head.addEventListener("click", () => sort(table, head, column));
		head.addEventListener("keydown", (event) => {
			if (event.key === "Enter" || event.key === " ") {
				event.preventDefault();
				sort(table, head, column);
			}
		});
	});
});

document.querySelectorAll("figure").forEach((figure) => {
	const output = figure.querySelector("output");
	if (!output)
		return;
	figure.addEventListener("mouseover", (event) => {
		const title = event.target.parentNode.classList.contains("mark")
				      ? event.target.parentNode.querySelector("title")
				      : event.target.querySelector("title");
		output.textContent = title ? title.textContent : "";
	});
	figure.addEventListener("mouseleave", () => { output.textContent = ""; });
});

// On paper nothing can be unfolded: the largest stacks of each table are.
window.addEventListener("beforeprint", () => document.querySelectorAll("body details").forEach((details) => {
	if (!details.closest("td"))
		details.open = true;
}));
})();
// ]]>
