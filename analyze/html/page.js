// SPDX-License-Identifier: MIT
// Sorting, filtering and pictures of the HTML report. Text goes into the page as text only, but for
// markup that the page itself holds back (unfold).
"use strict";
(() => {
	const SVG = "http://www.w3.org/2000/svg";
	const MANTISSA = { f64: 52, f32: 23, f16: 10, bf16: 7, f8e4m3: 3, f8e5m2: 2,
		f8e4m3fnuz: 3, f8e5m2fnuz: 2 };
	const all = (selector, root = document) => [...root.querySelectorAll(selector)];

	function make(name, attributes = {}, text = "") {
		const node = document.createElement(name);
		for (const [key, value] of Object.entries(attributes))
			node.setAttribute(key, value);
		node.textContent = text;
		return node;
	}

	function shape(parent, name, attributes, text) {
		const node = document.createElementNS(SVG, name);
		for (const [key, value] of Object.entries(attributes))
			node.setAttribute(key, value);
		if (text !== undefined)
			node.textContent = text;
		parent.append(node);
		return node;
	}

	// ---- what was held back ----

	// Most of the page's elements stand in <noscript class="later">: without scripts they are there at
	// once, with scripts they come when they are looked at, or after the first paint.
	function unfold(parent) {
		const later = parent.querySelector("noscript.later");
		if (!later)
			return;
		const held = document.createElement("template");
		held.innerHTML = later.textContent;
		later.replaceWith(held.content);
	}

	// The rest bit by bit, so that the browser's own search finds everything.
	function whenIdle(calls) {
		// A busy browser is not idle for long: then a call each 100 ms comes all the same.
		const idle = window.requestIdleCallback
			? (call) => requestIdleCallback(call, { timeout: 100 })
			: (call) => setTimeout(() => call({ timeRemaining: () => 0 }), 20);
		const some = (time) => {
			do
				calls.shift()();
			while (calls.length && time.timeRemaining() > 4);
			if (calls.length)
				idle(some);
		};
		requestAnimationFrame(() => idle(some));
	}

	// ---- table ----

	const table = document.getElementById("table");
	const body = table.tBodies[0];
	const rows = all("tr", body);
	const families = new Map(rows.map((row, i) => [row, document.getElementById("f" + i)]));
	const matrix = document.getElementById("matrix");
	const lines = new Map();

	function key(row, column) {
		const cell = row.cells[column];
		return cell.dataset.sort !== undefined ? Number(cell.dataset.sort) : cell.textContent;
	}

	function sort(head) {
		const column = head.cellIndex;
		const down = head.getAttribute("aria-sort") === "ascending";
		const sign = down ? -1 : 1;
		for (const other of all("thead th", table))
			other.removeAttribute("aria-sort");
		head.setAttribute("aria-sort", down ? "descending" : "ascending");
		const keyed = rows.map((row, i) => [key(row, column), i, row]);
		keyed.sort(([x, i], [y, j]) => {
			const order = typeof x === "number" ? x - y
				: x.localeCompare(y, "en", { numeric: true });
			return sign * order || i - j;
		});
		body.append(...keyed.map(([, , row]) => row));
	}

	const input = document.getElementById("filter");
	const toggles = all("button.filter");

	function filter() {
		const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
		const wanted = new Set(toggles.filter((b) => b.getAttribute("aria-pressed") === "true")
			.map((b) => b.dataset.bucket));
		let shown = 0;
		for (const row of rows) {
			const text = row.textContent.toLowerCase();
			const hide = !wanted.has(row.dataset.bucket) || !words.every((w) => text.includes(w));
			row.hidden = hide;
			families.get(row).hidden = hide;
			if (lines.has(row))
				lines.get(row).hidden = hide;
			shown += !hide;
		}
		document.getElementById("shown").textContent = `${shown} of ${rows.length} shown`;
	}

	for (const head of all("thead th", table))
		head.firstElementChild.addEventListener("click", () => sort(head));
	input.addEventListener("input", filter);
	for (const button of toggles)
		button.addEventListener("click", () => {
			const on = button.getAttribute("aria-pressed") === "true";
			button.setAttribute("aria-pressed", String(!on));
			filter();
		});
	document.addEventListener("keydown", (event) => {
		if (event.key === "/" && document.activeElement !== input) {
			event.preventDefault();
			input.focus();
		} else if (event.key === "Escape" && document.activeElement === input) {
			input.value = "";
			filter();
		}
	});
	filter();

	function unfoldMatrix() {
		unfold(matrix);
		// as much room as its rows need once they are seen
		matrix.querySelector(".wide").style.containIntrinsicSize = `auto ${rows.length * 1.75 + 6}rem`;
		for (const [i, line] of all("tbody tr", matrix).entries()) {
			lines.set(rows[i], line);
			line.hidden = rows[i].hidden;
		}
	}

	// ---- pictures ----

	const WIDTH = 380, HEIGHT = 250, LEFT = 52, RIGHT = 12, TOP = 10, BOTTOM = 34;
	const inner = { width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM };

	function number(x) {
		if (x === 0)
			return "0";
		const size = Math.abs(x);
		return size >= 1e-3 && size < 1e5 ? String(Number(x.toPrecision(3))) : x.toExponential(1);
	}

	function figure(parent, title, caption) {
		const box = make("figure");
		box.append(make("h5", {}, title));
		const plot = shape(box, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
			"aria-label": `${title}. ${caption}` });
		shape(plot, "path", { class: "axis",
			d: `M${LEFT},${TOP}v${inner.height}h${inner.width}` });
		box.append(make("figcaption", {}, caption));
		parent.append(box);
		return plot;
	}

	function label(plot, x, y, text, anchor = "middle") {
		shape(plot, "text", { x, y, "text-anchor": anchor }, text);
	}

	// Powers of ten within a range of base-2 logarithms, few enough to be read.
	function decades([low, high]) {
		const ten = Math.log2(10), first = Math.ceil(low / ten), last = Math.floor(high / ten);
		const step = Math.max(1, Math.ceil((last - first + 1) / 6)), list = [];
		for (let k = first; k <= last; k += step)
			list.push([k * ten, `1e${k}`]);
		return list.length > 1 ? list : [low, high].map((v) => [v, number(2 ** v)]);
	}

	function scatter(parent, p) {
		if (!p.difference)
			return;
		const x = p.magnitude || [0, 1], y = p.difference, zero = p.from_zero.some(Boolean);
		const bits = MANTISSA[p.dtype];
		const ulp = [Math.max(x[0], y[0] + bits), Math.min(x[1], y[1] + bits)];
		const guide = p.magnitude && y[1] > y[0] && ulp[1] > ulp[0];
		const plot = figure(parent, "|difference| against magnitude",
			`Horizontal |A|, vertical |B − A|, both logarithmic; stronger colour, more elements` +
			`${zero ? "; leftmost column: A is 0" : ""}${guide ? "; dashed: one ulp" : ""}.`);
		const gap = zero ? 16 : 0, width = inner.width - gap;
		const at = (v, [low, high], size) => high > low ? (v - low) / (high - low) * size : size / 2;
		const cell = { width: width / p.scatter_columns, height: inner.height / p.scatter_rows };
		let most = Math.max(...p.from_zero, 1);
		for (let i = 1; i < p.scatter.length; i += 2)
			most = Math.max(most, p.scatter[i]);
		const dot = (left, row, count, wide) => shape(plot, "rect", { class: "mark-d", x: left,
			y: TOP + inner.height - (row + 1) * cell.height, width: wide, height: cell.height,
			opacity: 0.25 + 0.75 * Math.log(1 + count) / Math.log(1 + most) });
		for (let i = 0; i < p.scatter.length; i += 2)
			dot(LEFT + gap + p.scatter[i] % p.scatter_columns * cell.width,
				Math.floor(p.scatter[i] / p.scatter_columns), p.scatter[i + 1], cell.width);
		p.from_zero.forEach((count, row) => count && dot(LEFT + 3, row, count, 9));
		if (p.magnitude)
			for (const [v, text] of decades(x))
				label(plot, LEFT + gap + at(v, x, width), HEIGHT - 18, text);
		for (const [v, text] of decades(y))
			label(plot, LEFT - 5, TOP + inner.height - at(v, y, inner.height) + 4, text, "end");
		label(plot, LEFT + inner.width / 2, HEIGHT - 3, "|A|");
		if (zero)
			label(plot, LEFT + 7, HEIGHT - 18, "0");
		if (guide)
			shape(plot, "path", { class: "guide", d: ulp.map((v, i) =>
				`${i ? "L" : "M"}${LEFT + gap + at(v, x, width)},` +
				`${TOP + inner.height - at(v - bits, y, inner.height)}`).join("") });
	}

	function ulps(parent, p) {
		const last = (list) => list.reduce((found, n, i) => n ? i : found, -1);
		const bins = Math.max(last(p.ulp_above), last(p.ulp_below), 0) + 1;
		const plot = figure(parent, "Signed ulp", `Steps of ${p.dtype} from A to B in powers of two ` +
			`(log counts): ${p.ulp_equal} equal; B below A on the left, above on the right.`);
		const columns = [...p.ulp_below.slice(0, bins).reverse(), p.ulp_equal, ...p.ulp_above.slice(0, bins)];
		const most = Math.log(1 + Math.max(...columns)), width = inner.width / columns.length;
		columns.forEach((count, i) => {
			const height = most ? Math.log(1 + count) / most * (inner.height - 12) : 0;
			const bar = shape(plot, "rect", { x: LEFT + i * width + 0.5, width: Math.max(width - 1, 0.5),
				y: TOP + inner.height - height, height,
				class: i < bins ? "bar-below" : i > bins ? "bar-above" : "bar-equal" });
			const k = Math.abs(i - bins) - 1;
			const range = k < 0 ? "0" : k ? `${2 ** k}…${2 ** (k + 1) - 1}` : "1";
			shape(bar, "title", {}, `${i < bins ? "−" : ""}${range} ulp: ${count}`);
		});
		const step = Math.ceil(bins / 3);
		for (let k = bins - 1; k >= 0 && (bins < 4 || k > bins / 5); k -= step) {
			const text = k < 14 ? String(2 ** k) : `2^${k}`;
			label(plot, LEFT + (bins + 1.5 + k) * width, HEIGHT - 18, "+" + text);
			label(plot, LEFT + (bins - 0.5 - k) * width, HEIGHT - 18, "−" + text);
		}
		label(plot, LEFT + (bins + 0.5) * width, HEIGHT - 18, "0");
		label(plot, LEFT - 5, TOP + 16, number(Math.max(...columns)), "end");
	}

	function distribution(parent, p) {
		if (!p.values)
			return;
		const lost = p.not_finite.some(Boolean)
			? ` Not finite: ${p.not_finite[0]} in A, ${p.not_finite[1]} in B.` : "";
		const plot = figure(parent, "Distribution of values",
			`Solid: A, dashed: B; log counts.${lost}`);
		const most = Math.log(1 + Math.max(...p.values_a, ...p.values_b));
		const width = inner.width / p.values_a.length;
		const curve = (counts) => counts.map((n, i) => {
			const y = TOP + inner.height - (most ? Math.log(1 + n) / most * (inner.height - 12) : 0);
			return `${i ? "L" : "M"}${LEFT + i * width},${y}h${width}`;
		}).join("");
		shape(plot, "path", { class: "curve-a", d: curve(p.values_a) });
		shape(plot, "path", { class: "curve-b", d: curve(p.values_b) });
		const [low, high] = p.values;
		for (let i = 0; i <= 4; i++)
			label(plot, LEFT + i / 4 * inner.width, HEIGHT - 18, number(low + i / 4 * (high - low)),
				i === 4 ? "end" : "middle");
		label(plot, LEFT - 5, TOP + 16, number(Math.max(...p.values_a, ...p.values_b)), "end");
	}

	function colour(name) {
		const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
		return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
	}

	function paint(canvas, p) {
		const { rows: height, columns: width, cells } = p.heat;
		const low = colour("--heat-low"), high = colour("--heat-high");
		const changed = colour("--heat-class"), none = colour("--heat-none");
		const range = heatRange(p);
		const context = canvas.getContext("2d"), image = context.createImageData(width, height);
		const put = (cell, rgb) => image.data.set([...rgb, 255], cell * 4);
		for (let i = 0; i < width * height; i++)
			put(i, none);
		for (let i = 0; i < cells.length; i += 4) {
			const [cell, , changes, size] = cells.slice(i, i + 4);
			const share = size === null ? 0 : range[1] > range[0]
				? (size - range[0]) / (range[1] - range[0]) : 1;
			put(cell, changes ? changed : low.map((c, k) => Math.round(c + share * (high[k] - c))));
		}
		context.putImageData(image, 0, 0);
	}

	function heatRange(p) {
		const range = [Infinity, -Infinity];
		for (let i = 3; i < p.heat.cells.length; i += 4)
			if (p.heat.cells[i] !== null) {
				range[0] = Math.min(range[0], p.heat.cells[i]);
				range[1] = Math.max(range[1], p.heat.cells[i]);
			}
		return range;
	}

	function tiles(plane, p) {
		const [height, width] = p.tile;
		if (!height || !width || p.rows / height > 96 || p.columns / width > 96)
			return false;
		const grid = shape(plane, "svg", { viewBox: `0 0 ${p.columns} ${p.rows}`,
			preserveAspectRatio: "none", "aria-hidden": "true" });
		let d = "";
		for (let x = width; x < p.columns; x += width)
			d += `M${x},0V${p.rows}`;
		for (let y = height; y < p.rows; y += height)
			d += `M0,${y}H${p.columns}`;
		shape(grid, "path", { class: "tile", d, fill: "none" });
		return d !== "";
	}

	const painted = [];

	function heat(parent, p) {
		const box = make("figure", { class: "heat" });
		box.append(make("h5", {}, `Where ${p.output} differs`));
		const plane = make("div", { class: "plane" });
		const ratio = Math.min(Math.max(p.columns / p.rows, 0.6), 8);
		plane.style.aspectRatio = String(ratio);
		plane.style.maxWidth = `${Math.round(Math.min(1, ratio / 1.3) * 24)}rem`;
		const canvas = make("canvas", { width: p.heat.columns, height: p.heat.rows, role: "img",
			"aria-label": `${p.rows} rows, ${p.columns} columns, ${p.heat.cells.length / 4} of ` +
				`${p.heat.rows * p.heat.columns} cells differ` });
		plane.append(canvas);
		const grid = tiles(plane, p);
		const caption = make("figcaption"), range = heatRange(p);
		const rest = () => {
			caption.replaceChildren(`${p.rows} rows × ${p.columns} columns (${p.how})` +
				`${grid ? `, lines: tiles of ${p.tile[0]} × ${p.tile[1]}` : ""}. `);
			if (range[0] <= range[1])
				caption.append(`Greatest |d| ${number(2 ** range[0])} `, make("span", { class: "ramp" }),
					` ${number(2 ** range[1])}. `);
			const other = make("span", { class: "swatch" });
			other.style.background = "var(--heat-class)";
			if (p.heat.cells.some((n, i) => i % 4 === 2 && n))
				caption.append(other, " NaN or infinity on one side.");
		};
		canvas.addEventListener("mousemove", (event) => {
			const cell = { x: Math.floor(event.offsetX / canvas.clientWidth * p.heat.columns),
				y: Math.floor(event.offsetY / canvas.clientHeight * p.heat.rows) };
			const first = (i, cells, of) => Math.ceil(i * of / cells);
			let text = "all equal";
			for (let i = 0; i < p.heat.cells.length; i += 4)
				if (p.heat.cells[i] === cell.y * p.heat.columns + cell.x)
					text = `${p.heat.cells[i + 1]} differ` + (p.heat.cells[i + 3] === null ? ""
						: `, greatest |d| ${number(2 ** p.heat.cells[i + 3])}`);
			caption.textContent = `rows ${first(cell.y, p.heat.rows, p.rows)}…` +
				`${first(cell.y + 1, p.heat.rows, p.rows) - 1}, columns ` +
				`${first(cell.x, p.heat.columns, p.columns)}…` +
				`${first(cell.x + 1, p.heat.columns, p.columns) - 1}: ${text}`;
		});
		canvas.addEventListener("mouseleave", rest);
		rest();
		box.append(plane, caption);
		parent.append(box);
		painted.push([canvas, p]);
		paint(canvas, p);
	}

	function draw(family) {
		unfold(family);
		const place = family.querySelector(".pictures");
		const data = family.querySelector("script.picture");
		if (!place || !data || place.querySelector("figure"))
			return;
		place.replaceChildren();
		const p = JSON.parse(data.textContent);
		heat(place, p);
		scatter(place, p);
		ulps(place, p);
		distribution(place, p);
	}

	const details = all("details.family");
	for (const family of details) {
		family.addEventListener("toggle", () => family.open && draw(family));
		if (family.open)
			draw(family);
	}
	whenIdle([unfoldMatrix, ...details.map((family) => () => unfold(family))]);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
		for (const [canvas, p] of painted)
			paint(canvas, p);
	});
	addEventListener("beforeprint", () => {
		unfoldMatrix();
		for (const family of all("details.family[data-print]")) {
			family.open = true;
			draw(family);
		}
	});

	// ---- links and copying ----

	function follow() {
		const name = /^#(f\d+)(c\d+)?$/.exec(location.hash);
		const family = name && document.getElementById(name[1]);
		if (!family)
			return;
		family.open = true;
		draw(family);
		const target = document.getElementById(name[0].slice(1)) || family;
		target.scrollIntoView();
		(target === family ? family.querySelector("summary") : target).focus({ preventScroll: true });
	}
	addEventListener("hashchange", follow);
	document.addEventListener("click", (event) => {
		const link = event.target.closest("a[href^='#']");
		if (link && link.getAttribute("href") === location.hash) {
			event.preventDefault();
			follow();
		}
	});
	follow();

	function select(node) {
		const range = document.createRange();
		range.selectNodeContents(node);
		getSelection().removeAllRanges();
		getSelection().addRange(range);
	}

	document.addEventListener("click", async (event) => {
		const button = event.target.closest("button.copy");
		if (!button)
			return;
		const code = button.parentElement.querySelector("code");
		try {
			await navigator.clipboard.writeText(code.textContent);
			button.textContent = "Copied";
		} catch {
			select(code);
			button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
		}
	});
})();
