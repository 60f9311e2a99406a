// <![CDATA[
// SPDX-License-Identifier: Apache-2.0
// Tables are sorted by the column whose head is clicked; a picture's numbers stand below it while it is pointed at. Without
// script all is there still: in the order of the report, and as tooltips.
"use strict";
(function () {
	function value(row, column) {
		const cell = row.cells[column], exact = cell.dataset.v;
		if (exact === undefined)
			return cell.textContent.trim().toLowerCase();
		const number = JSON.parse(exact);
		return Array.isArray(number) ? number[0] : number;
	}

	// What is not known stands last, whichever way.
	function order(a, b, down) {
		if (a === null || b === null)
			return (a === null) - (b === null);
		const less = a === b ? 0 : a > b ? 1 : -1;
		return down ? -less : less;
	}

	function sort(table, head, column) {
		const now = head.getAttribute("aria-sort");
		const down = now ? now === "ascending" : !head.classList.contains("t");
		const rows = Array.from(table.tBodies[0].rows).map((row) => ({ row: row, key: value(row, column) }));
		rows.sort((a, b) => order(a.key, b.key, down));
		Array.from(head.parentNode.cells).forEach((cell) => cell.removeAttribute("aria-sort"));
		head.setAttribute("aria-sort", down ? "descending" : "ascending");
		rows.forEach((entry) => table.tBodies[0].append(entry.row));
	}

	function sortable(table, head, column) {
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

	document.querySelectorAll("table:not(.ordered)").forEach((table) => {
		if (table.tBodies[0].rows.length > 1)
			Array.from(table.tHead.rows[0].cells).forEach((head, column) => sortable(table, head, column));
	});

	document.querySelectorAll("figure").forEach((figure) => {
		const output = figure.querySelector("output");
		figure.addEventListener("mouseover", (event) => {
			const of = event.target.closest("g.mark") || event.target;
			const title = of.querySelector(":scope > title");
			output.textContent = title ? title.textContent : "";
		});
		figure.addEventListener("mouseleave", () => { output.textContent = ""; });
	});

	// Flame graphs stand on the outermost callers.
	document.querySelectorAll(".scroll").forEach((box) => { box.scrollTop = box.scrollHeight; });

	// On paper nothing can be unfolded: what stands outside of tables is.
	window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((details) => {
		if (!details.closest("td"))
			details.open = true;
	}));
})();
// ]]>
