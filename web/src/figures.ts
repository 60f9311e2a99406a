// SPDX-License-Identifier: Apache-2.0
// The pictures that the analyzer drew: what is pointed at, or reached by the arrow keys, stands in a box beside it and below the
// picture. Without this script it is there as the browser's own tooltips.
import { element } from "./dom";

interface Shape { shape: SVGElement; lines: string[] }

class Picture {
	private readonly tip = element("div", { class: "tip", hidden: true, role: "presentation" });
	private readonly said: HTMLElement;
	private readonly frame = element("div", { class: "picture" });
	private at = -1;

	constructor(private readonly svg: SVGSVGElement, private readonly shapes: Shape[]) {
		this.said = svg.closest("figure")?.querySelector("output") ?? element("p", { class: "said", "aria-live": "polite" });
		svg.replaceWith(this.frame);
		this.frame.append(svg, this.tip);
		if (!this.said.isConnected)
			this.frame.after(this.said);
		svg.tabIndex = 0;
		svg.setAttribute("role", "application");
		svg.setAttribute("aria-label", `${this.name()}. Arrow keys move, Escape leaves.`);
		svg.addEventListener("mouseover", (event) => this.show(this.shapes.findIndex((one) => one.shape === event.target)));
		svg.addEventListener("mouseleave", () => this.show(-1));
		svg.addEventListener("blur", () => this.show(-1));
		svg.addEventListener("keydown", (event) => this.key(event));
	}

	private name(): string {
		return this.svg.getAttribute("aria-label") ?? this.svg.querySelector("text")?.textContent ?? "Picture";
	}

	private key(event: KeyboardEvent): void {
		const last = this.shapes.length - 1, to: Record<string, number> = {
			ArrowRight: Math.min(this.at + 1, last), ArrowDown: Math.min(this.at + 1, last),
			ArrowLeft: Math.max(this.at - 1, 0), ArrowUp: Math.max(this.at - 1, 0), Home: 0, End: last, Escape: -1,
		};
		if (!(event.key in to))
			return;
		event.preventDefault();
		this.show(to[event.key]);
	}

	private show(at: number): void {
		this.shapes[this.at]?.shape.classList.remove("here");
		this.at = at;
		this.tip.hidden = at < 0;
		this.said.textContent = at < 0 ? "" : this.shapes[at].lines.join(", ");
		if (at < 0)
			return;
		const { shape, lines } = this.shapes[at], box = shape.getBoundingClientRect(), around = this.frame.getBoundingClientRect();
		shape.classList.add("here");
		this.tip.replaceChildren(element("b", {}, lines[0]), ...lines.slice(1).map((line) => element("div", {}, line)));
		this.tip.style.left = Math.max(0, Math.min(box.right - around.left + 8, around.width - this.tip.offsetWidth - 4)) + "px";
		this.tip.style.top = Math.max(0, Math.min(box.top - around.top, around.height - this.tip.offsetHeight)) + "px";
	}
}

export function enhanceFigures(): void {
	document.querySelectorAll<SVGSVGElement>("figure svg, svg.roof").forEach((svg) => {
		const shapes: Shape[] = [];
		for (const title of Array.from(svg.querySelectorAll("title")))
			if (title.parentNode !== svg) {
				shapes.push({ shape: title.parentNode as SVGElement, lines: title.textContent!.split("\n") });
				title.remove();
			}
		if (shapes.length)
			new Picture(svg, shapes);
	});
}
