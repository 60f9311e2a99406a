// SPDX-License-Identifier: Apache-2.0
import { showAnswers } from "./answers";
import { PageData, type RawPage } from "./data";
import { showDifferences } from "./differences";
import { Explorer } from "./explorer";
import { enhanceFigures } from "./figures";
import { DEFAULT, fromHash, type State, toHash } from "./state";
import { enhanceTables } from "./tables";

const explorers: Explorer[] = [];
let waiting = 0;

// The address follows what is looked at, without a step back for each movement of a drag.
function remember(process: number, state: State): void {
	clearTimeout(waiting);
	waiting = window.setTimeout(() => history.replaceState(null, "", toHash(process, state)), 150);
}

function followHash(): void {
	const found = fromHash(location.hash);
	if (found && explorers[found.process])
		explorers[found.process].apply(found.state);
}

function start(): void {
	document.querySelectorAll<HTMLScriptElement>("script.data").forEach((script) => {
		const process = Number(script.dataset.process), root = document.getElementById(`p${process}-explore`);
		if (!root)
			return;
		const data = new PageData(JSON.parse(script.textContent!) as RawPage);
		const explorer = new Explorer(root, data, readBase(process), (state) => remember(process, state));
		explorers[process] = explorer;
		explorer.apply(firstState(data));
		const answers = document.getElementById(`p${process}-answers`);
		if (answers)
			showAnswers(answers, data, { look: (measure, search) => explorer.look(measure, search) });
	});
	const differences = document.querySelector("script.diff"), place = document.querySelector(".answers");
	if (differences && place)
		place.after(showDifferences(JSON.parse(differences.textContent!)));
	enhanceTables();
	enhanceFigures();
	followHash();
	window.addEventListener("hashchange", followHash);
	document.addEventListener("keydown", (event) => {
		if (event.key !== "/" || event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement)
			return;
		event.preventDefault();
		explorers.find((explorer) => explorer)?.focusSearch();
	});
	// On paper nothing can be unfolded: what stands outside of tables is.
	window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((details) => {
		if (!details.closest("td"))
			details.open = true;
	}));
	(window as any).tprof = { explorers };
}

function readBase(process: number): PageData | null {
	const script = document.querySelector(`script.base[data-process="${process}"]`);
	return script ? new PageData(JSON.parse(script.textContent!) as RawPage) : null;
}

// Without allocations, what there is comes first.
function firstState(data: PageData): State {
	const first = data.siteCount ? "peak" : data.raw.cpu.where.length ? "cpu" : "ops";
	return { ...DEFAULT, measure: first };
}

start();
