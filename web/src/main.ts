// SPDX-License-Identifier: Apache-2.0
import { showAnswers } from "./answers";
import { PageData, type RawPage } from "./data";
import { Explorer } from "./explorer";
import { enhanceFigures } from "./figures";
import { DEFAULT, fromHash, type State, toHash } from "./state";
import { enhanceTables } from "./tables";
import { onTableChange, tablesFromParams, tablesToParams } from "./tablestate";

const explorers: Explorer[] = [];
let waiting = 0, looked: { process: number; state: State } | null = null;

function link(): string {
	const tables = new URLSearchParams(), view = looked ? toHash(looked.process, looked.state) : "#";
	tablesToParams(tables);
	return view + (looked && tables.size ? "&" : "") + tables.toString();
}

// The address follows what is looked at, without a step back for each movement of a drag.
function remember(): void {
	clearTimeout(waiting);
	waiting = window.setTimeout(() => history.replaceState(null, "", link()), 150);
}

// Made when it comes into sight: a page may have hundreds of processes.
function explorerOf(process: number): Explorer | null {
	const script = document.querySelector<HTMLScriptElement>(`script.data[data-process="${process}"]`);
	const root = document.getElementById(`p${process}-explore`);
	if (explorers[process] || !script || !root)
		return explorers[process] ?? null;
	const data = new PageData(JSON.parse(script.textContent!) as RawPage);
	const explorer = new Explorer(root, `p${process}`, data, readBase(process), (state) => {
		looked = { process, state };
		remember();
	});
	const answers = document.getElementById(`p${process}-answers`);
	explorers[process] = explorer;
	if (answers)
		showAnswers(answers, data, { look: (measure, search) => explorer.look(measure, search) });
	explorer.apply(firstState(data));
	return explorer;
}

function followHash(): void {
	const found = fromHash(location.hash);
	tablesFromParams(new URLSearchParams(location.hash.replace(/^#/, "")), found !== null);
	if (!found)
		return;
	looked = found;
	explorerOf(found.process)?.apply(found.state);
	if (found.process)
		document.getElementById(`p${found.process}-explore`)?.scrollIntoView();
}

function makeAsSeen(): void {
	const observer = new IntersectionObserver((entries) => {
		for (const entry of entries)
			if (entry.isIntersecting) {
				observer.unobserve(entry.target);
				explorerOf(Number((entry.target as HTMLElement).dataset.process));
			}
	}, { rootMargin: "600px" });
	document.querySelectorAll("article[data-process]").forEach((article) => observer.observe(article));
}

function start(): void {
	explorerOf(0);
	onTableChange(remember);
	followHash();
	makeAsSeen();
	enhanceTables();
	enhanceFigures();
	window.addEventListener("hashchange", followHash);
	document.addEventListener("keydown", (event) => {
		if (event.key !== "/" || event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement)
			return;
		event.preventDefault();
		inSight()?.focusSearch();
	});
	// On paper nothing can be unfolded: what stands outside of tables is.
	window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((details) => {
		if (!details.closest("td") && !details.matches(".columns"))
			details.open = true;
	}));
	(window as any).tprof = { explorers };
}

// The views that the reader looks at.
function inSight(): Explorer | undefined {
	return explorers.find((explorer) => explorer && explorer.root.getBoundingClientRect().bottom > 0);
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
