// SPDX-License-Identifier: Apache-2.0
// An op: how long its calls took, by their number and by their time, and the shapes that it was called with.
import type { PageData, RawOp } from "./data";
import { color, element, isDark } from "./dom";
import { count, share, time } from "./format";
import { bars } from "./histogram";

const WIDTH = 640, HEIGHT = 130, BOTTOM = 18;

function chart(op: RawOp): HTMLElement {
	const list = bars(op), low = Math.log2(Math.max(1, list[0]?.low ?? 1)), high = Math.log2(Math.max(2, list[list.length - 1]?.high ?? 2));
	const most = list.reduce((a, bar) => Math.max(a, bar.calls), 1), all = list.reduce((a, bar) => a + bar.ns, 0) || 1;
	const said = `Durations of the calls of ${op.name}: from ${time(op.minNs)} to ${time(op.maxNs)}, median ${time(op.p50Ns)}, 99% at most ` +
		time(op.p99Ns);
	const canvas = element("canvas", { class: "durations", role: "img", "aria-label": said, width: 2 * WIDTH, height: 2 * HEIGHT });
	const x = (ns: number): number => (Math.log2(Math.max(1, ns)) - low) / Math.max(high - low, 0.01) * WIDTH;

	function draw(): void {
		const context = canvas.getContext("2d")!, room = HEIGHT - BOTTOM;
		let sum = 0;
		context.setTransform(2, 0, 0, 2, 0, 0);
		context.clearRect(0, 0, WIDTH, HEIGHT);
		context.font = '11px system-ui, "DejaVu Sans", sans-serif';
		context.fillStyle = color("live");
		for (const bar of list)
			context.fillRect(x(bar.low), room - Math.max(1.5, bar.calls / most * (room - 4)), Math.max(1, x(bar.high) - x(bar.low) - 1),
				Math.max(1.5, bar.calls / most * (room - 4)));
		context.strokeStyle = color("rss");
		context.lineWidth = 1.5;
		context.beginPath();
		context.moveTo(0, room);
		for (const bar of list) {
			sum += bar.ns;
			context.lineTo(x(bar.high), room - sum / all * (room - 4));
		}
		context.stroke();
		context.fillStyle = color("dim");
		for (const [ns, name] of [[op.minNs, ""], [op.p50Ns, "median "], [op.maxNs, ""]] as [number, string][]) {
			const at = x(ns);
			context.textAlign = at < 60 ? "left" : at > WIDTH - 60 ? "right" : "center";
			context.fillText(name + time(ns), at, HEIGHT - 4);
		}
	}

	draw();
	isDark.addEventListener("change", draw);
	return canvas;
}

function shapes(op: RawOp, total: number): HTMLElement {
	const rows = op.shapes.slice().sort((a, b) => b.totalNs - a.totalNs).map((shape) => element("tr", {},
		element("td", {}, time(shape.totalNs)), element("td", {}, share(shape.totalNs, total)), element("td", {}, count(shape.calls)),
		element("td", {}, shape.flop && shape.totalNs ? (shape.flop / shape.totalNs).toFixed(2) : ""), element("td", { class: "t" }, shape.shape)));
	const head = element("tr", {}, ...["total", "%", "calls", "GFLOP/s"].map((name) => element("th", { scope: "col" }, name)),
		element("th", { scope: "col", class: "t" }, "shape"));
	return element("div", { class: "wide" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
}

export function opDetail(data: PageData, number: number): HTMLElement {
	const op = data.opOf.get(number), place = (data.raw.report.roofline ?? []).find((one: any) => one.name === op?.name);
	const root = element("section", { class: "opdetail", "aria-live": "polite" });
	if (!op)
		return root;
	root.append(element("h4", {}, op.name), element("p", {}, `median ${time(op.p50Ns)}, 90% at most ${time(op.p90Ns)}, 99% at most ` +
		`${time(op.p99Ns)}, longest ${time(op.maxNs)}; of the whole run`));
	if (place?.bound)
		root.append(element("p", {}, `bound by ${place.bound === "compute" ? "computing" : "memory"}` +
			(place.level && place.bound === "memory" ? ` (${place.level})` : "") +
			`: it reached ${(100 * place.roof_fraction).toFixed(1)}% of its roof, ${place.gflops.toPrecision(3)} GFLOP/s and ` +
			`${place.gbytes_per_s.toPrecision(3)} GB/s; at its roof it would take ${time(place.ideal_ns)}`));
	if (op.histogram.length)
		root.append(element("p", { class: "dim" }, "bars: calls by how long they took; line: the share of the time that calls up to there took"),
			chart(op));
	if (op.shapes.length)
		root.append(shapes(op, op.shapes.reduce((sum, shape) => sum + shape.totalNs, 0)));
	if (op.shapesTotal > op.shapes.length)
		root.append(element("p", { class: "rest" }, `${op.shapes.length} of ${op.shapesTotal} shapes`));
	return root;
}
