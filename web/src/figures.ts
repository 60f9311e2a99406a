// SPDX-License-Identifier: Apache-2.0
// The pictures that the analyzer drew: what is pointed at stands below. Without this script it is there as tooltips.

export function enhanceFigures(): void {
	document.querySelectorAll("figure").forEach((figure) => {
		const output = figure.querySelector("output");
		if (!output)
			return;
		figure.addEventListener("mouseover", (event) => {
			const of = event.target as Element;
			output.textContent = of.querySelector(":scope > title")?.textContent ?? "";
		});
		figure.addEventListener("mouseleave", () => { output.textContent = ""; });
	});
}
