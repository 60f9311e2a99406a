// <![CDATA[
// SPDX-License-Identifier: Apache-2.0
// Zoom, search and keyboard of the flame graph. Frames carry their depth, first byte and bytes (data-d, -a, -b).
"use strict";
function flame(svg) {
	const width = Number(svg.dataset.width), margin = Number(svg.dataset.margin), letter = 7;
	const one = (name) => svg.querySelector("text." + name);
	const details = one("details"), matched = one("matched"), reset = one("reset"), search = one("search");
	const frames = Array.from(svg.querySelectorAll("g.f")).map((g) => ({
		g: g, rect: g.querySelector("rect"), text: g.querySelector("text"), title: g.querySelector("title").textContent,
		depth: Number(g.dataset.d), start: Number(g.dataset.a), bytes: Number(g.dataset.b), hit: false, shown: true,
	}));
	if (!frames.length)
		return;
	frames.forEach((f) => {
		f.name = f.title.split("\n")[0].split(" \u2014 ")[0];
		f.end = f.start + f.bytes;
	});
	const root = frames[0];
	let zoomed = root, current = root, pattern = "";

	function label(f, pixels) {
		const room = Math.floor((pixels - 4) / letter);
		f.text.textContent = room < 3 ? "" : f.name.length <= room ? f.name : f.name.slice(0, room - 2) + "..";
	}

	// Rounded numbers of bytes: a child may stick out of its parent by less than one.
	function within(f, other) {
		return f.start >= other.start - 1 && f.end <= other.end + 1;
	}

	function zoom(target) {
		const scale = (width - 2 * margin) / target.bytes;
		zoomed = target;
		frames.forEach((f) => {
			const below = f.depth < target.depth && within(target, f);
			const x = below ? margin : margin + (f.start - target.start) * scale;
			const pixels = below ? width - 2 * margin : f.bytes * scale;
			f.shown = below || (f.depth >= target.depth && within(f, target));
			f.g.style.display = f.shown ? "" : "none";
			f.g.classList.toggle("below", below);
			if (!f.shown)
				return;
			f.rect.setAttribute("x", x);
			f.rect.setAttribute("width", Math.max(pixels, 0.1));
			f.text.setAttribute("x", x + 3);
			label(f, pixels);
		});
		reset.setAttribute("visibility", target === root ? "hidden" : "visible");
		count();
	}

	// Share of the zoomed frame that the hits hold; a hit inside a hit counts once.
	function count() {
		let sum = 0, end = -1;
		if (!pattern) {
			matched.textContent = " ";
			return;
		}
		frames.filter((f) => f.hit && f.shown && f.depth >= zoomed.depth)
			.sort((a, b) => a.start - b.start || b.end - a.end)
			.forEach((f) => {
				const from = Math.max(f.start, end);
				if (f.end > from)
					sum += f.end - from;
				end = Math.max(end, f.end);
			});
		matched.textContent = "matched: " + (100 * Math.min(1, sum / zoomed.bytes)).toFixed(1) + "%";
	}

	function find(text) {
		let regex = null;
		pattern = text || "";
		try {
			regex = pattern ? new RegExp(pattern, "i") : null;
		} catch (error) {
			matched.textContent = "not a regular expression: " + pattern;
			pattern = "";
		}
		frames.forEach((f) => {
			f.hit = Boolean(regex && regex.test(f.title.split("\n")[0]));
			f.g.classList.toggle("hit", f.hit);
		});
		search.textContent = pattern ? "clear search" : "search (/)";
		if (regex || !text)
			count();
	}

	function ask() {
		if (pattern) {
			find("");
			return;
		}
		const text = window.prompt("Regular expression for functions, modules and files:", "");
		if (text !== null)
			find(text);
	}

	function show(f) {
		details.textContent = f ? f.title.replace("\n", ": ") : " ";
	}

	function focus(f) {
		if (!f)
			return;
		current = f;
		f.g.focus();
		show(f);
	}

	function parentOf(f) {
		return frames.filter((o) => o.shown && o.depth === f.depth - 1 && within(f, o))[0];
	}

	function childOf(f) {
		return frames.filter((o) => o.shown && o.depth === f.depth + 1 && within(o, f))[0];
	}

	function sibling(f, step) {
		const row = frames.filter((o) => o.shown && o.depth === f.depth).sort((a, b) => a.start - b.start);
		return row[row.indexOf(f) + step];
	}

	// Callers stand below: up goes to a callee.
	const keys = {
		ArrowUp: () => focus(childOf(current)),
		ArrowDown: () => focus(parentOf(current)),
		ArrowLeft: () => focus(sibling(current, -1)),
		ArrowRight: () => focus(sibling(current, 1)),
		Enter: () => zoom(current),
		Escape: () => (pattern ? find("") : zoom(root)),
		Home: () => focus(root),
		"/": ask,
	};

	frames.forEach((f) => {
		f.g.addEventListener("click", () => {
			current = f;
			zoom(f);
		});
		f.g.addEventListener("mouseover", () => show(f));
		f.g.addEventListener("mouseout", () => show(null));
	});
	root.g.setAttribute("tabindex", "0");
	reset.addEventListener("click", () => zoom(root));
	search.addEventListener("click", ask);
	// A picture of its own has all keys; in a page those while the focus is in it.
	(svg === document.documentElement ? window : svg).addEventListener("keydown", (event) => {
		if (event.ctrlKey && event.key === "f")
			return;
		if (keys[event.key]) {
			event.preventDefault();
			keys[event.key]();
		}
	});
}

if (document.documentElement.localName === "svg")
	flame(document.documentElement);
else
	document.querySelectorAll("svg.flame").forEach(flame);
// ]]>
