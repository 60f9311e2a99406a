// SPDX-License-Identifier: Apache-2.0
// A small curve over the run.
import type { PageData } from "./data";
import { color, element, isDark } from "./dom";
import { bytes, moment } from "./format";

const WIDTH = 420, HEIGHT = 44;

export function sparkline(curve: Float64Array, data: PageData, label: string): HTMLElement {
	const looks = data.raw.looksNs, from = looks[0], span = looks[looks.length - 1] - from || 1;
	const most = curve.reduce((a, b) => Math.max(a, b), 0) || 1;
	const said = `${label}: ${bytes(curve[0])} at the start, at most ${bytes(most)}, ${bytes(curve[curve.length - 1])} at ` +
		moment(looks[looks.length - 1], span / looks.length);
	const canvas = element("canvas", { class: "spark", role: "img", "aria-label": said, title: said, width: 2 * WIDTH, height: 2 * HEIGHT });

	function draw(): void {
		const context = canvas.getContext("2d")!;
		context.setTransform(2, 0, 0, 2, 0, 0);
		context.clearRect(0, 0, WIDTH, HEIGHT);
		context.beginPath();
		context.moveTo(0, HEIGHT);
		curve.forEach((value, i) => context.lineTo((looks[i] - from) / span * WIDTH, HEIGHT - 2 - value / most * (HEIGHT - 4)));
		context.lineTo(WIDTH, HEIGHT);
		context.closePath();
		context.fillStyle = color("live-area");
		context.strokeStyle = color("live");
		context.fill();
		context.stroke();
	}

	draw();
	isDark.addEventListener("change", draw);
	return canvas;
}
