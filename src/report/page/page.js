"use strict";
/* The page: a list of points, a chart to choose from, and what is known of the chosen one.  All text goes through
 * textContent, so that names are never markup. */
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#999999"];

/* --- elements */

function element(name, attributes, ...children) {
	const at = document.createElement(name);
	for (const key in attributes || {})
		if (key.startsWith("on")) at.addEventListener(key.slice(2), attributes[key]);
		else if (attributes[key] !== undefined) at.setAttribute(key, attributes[key]);
	at.append(...children);
	return at;
}
function drawing(name, attributes, text) {
	const at = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const key in attributes) at.setAttribute(key, attributes[key]);
	if (text !== undefined) at.textContent = text;
	return at;
}
function figure(width, height, label) {
	return drawing("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label});
}
function hint(shape, text) { shape.append(drawing("title", {}, text)); return shape; }

/* --- numbers */

/* A column has one unit, that of its largest value, wherever the page shows it. */
const amount = amounts(data.units), units = new Map();
function unit_of(column) {
	if (!units.has(column)) units.set(column, amount.unit(amount.kind_of(column), points.reduce((most, point) => Math.max(most, Math.abs(point.values[column]) || 0), 0)));
	return units.get(column);
}
/* Where estimates are what counts they are the latency, and the columns `latency_..` a bound, as in tables. */
const estimated = () => !(data.run?.options || []).includes("--price=bound") && points.some(point => typeof point.values.estimate_ns === "number");
const called = {latency_ns: "bound_ns", latency_cycles: "bound_cycles", estimate_ns: "latency_ns", estimate_cycles: "latency_cycles"};
const name_of = column => amount.title(estimated() && called[column] || column, unit_of(column));
const scaled = (column, value) => value / unit_of(column)[1];
const short = value => typeof value === "number" ? amount.number(value) : String(value ?? "");
const told = (column, value) => short(typeof value === "number" ? scaled(column, value) : value);
const bytes = value => amount.text("bytes", value);

/* --- what there is: points with values by column */

function read_csv(text) {
	const rows = [[""]];
	let quoted = false;
	for (let i = 0; i < text.length; i++) {
		const row = rows[rows.length - 1], letter = text[i];
		if (letter === '"' && quoted && text[i + 1] === '"') row[row.length - 1] += text[++i];
		else if (letter === '"') {
			quoted = !quoted;
			/* an apostrophe that keeps a spreadsheet from computing the text: csv_field of json.h */
			if (quoted && row[row.length - 1] === "" && /^'[=@+\-\t\r]/.test(text.slice(i + 1, i + 3))) i++;
		}
		else if (letter === "," && !quoted) row.push("");
		else if (letter === "\n" && !quoted) rows.push([""]);
		else row[row.length - 1] += letter;
	}
	return rows.filter(row => row.length > 1);
}
const value_of = text => text !== "" && text !== null && isFinite(text) && typeof text !== "boolean" ? Number(text) : text;

function points_of_run() {
	const [names, ...rows] = read_csv(data.csv);
	return rows.map(row => {
		const values = Object.fromEntries(names.map((name, i) => [name, value_of(row[i] ?? "")]));
		return {title: `point ${values.point}`, values, ...(data.points[values.point] || {})};
	});
}
function points_of_campaign() {
	const list = [];
	for (const point of data.campaign.points)
		(point.frontier || []).forEach((found, i) => {
			const values = {point: point.point};
			for (const key in point.values) values[key] = value_of(point.values[key]);
			for (const key in found) if (found[key] !== null) values[key] = value_of(found[key]);
			list.push({title: `${point.name || "point " + point.point}, ${found.frontier}`, values, plan: (point.plans || [])[i]});
		});
	return list;
}
const points = data.campaign ? points_of_campaign() : points_of_run();
const columns = [...new Set(points.flatMap(point => Object.keys(point.values)))].filter(name => points.some(point => point.values[name] !== "" && point.values[name] !== undefined));
const numeric = columns.filter(name => name !== "point" && points.every(point => typeof point.values[name] === "number" || point.values[name] === "" || point.values[name] === undefined));
/* What a network's point takes of each layer: rows of layers.csv, by the lines of its plan; null elsewhere. */
const layer_rows = data.layers ? (([names, ...rows]) => rows.map(row => Object.fromEntries(names.map((name, i) => [name, value_of(row[i] ?? "")]))))(read_csv(data.layers)) : [];
function layers_of(point) {
	if (!layer_rows.length || !point.plan) return null;
	const taken = [...point.plan.matchAll(/^ *- \{layer: (".*?"|[^,]*), count: (\d+), point: (\d+)/gm)].map(found => {
		const name = found[1].startsWith('"') ? JSON.parse(found[1]) : found[1];
		const row = layer_rows.find(row => String(row.layer) === name && row.point === Number(found[3]));
		return row && {...row, count: Number(found[2])};
	}).filter(row => row);
	return taken.length ? taken : null;
}
const swept = data.campaign ? data.campaign.columns : [];
const values_of = (name, of = points) => [...new Set(of.map(point => point.values[name]).filter(value => value !== undefined && value !== ""))].sort((a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, {numeric: true}));
/* Paths of specs are shown by their last names where these differ. */
for (const name of swept) {
	const short_of = value => String(value).replace(/^.*\//, "").replace(/\.ya?ml$/, ""), values = values_of(name);
	if (values.some(value => /[/]/.test(value)) && new Set(values.map(short_of)).size === values.length) for (const point of points) if (point.values[name] !== undefined) point.values[name] = short_of(point.values[name]);
}
const workload = swept.find(name => /^(specs|problem|workload|network|layers?)$/.test(name) && values_of(name).length > 1);
let chosen = null;
const listeners = [], keepers = [];
function choose(point) { chosen = point; for (const listener of listeners) listener(point); }

/* --- which points are kept: by each plot its own condition; all plots show what all of them keep */

const conditions = new Map();
const is_kept = point => [...conditions.values()].every(keeps => keeps(point));
let kept = points;
/* `keeps` null: the plot keeps all. */
function keep(plot, keeps) {
	if (keeps) conditions.set(plot, keeps);
	else if (!conditions.delete(plot)) return;
	kept = points.filter(is_kept);
	for (const keeper of keepers) keeper(plot);
}
const keep_value = (name, value) => keep(name, value === "" ? null : point => String(point.values[name]) === String(value));

/* --- colours by a column: `of` a point, and [name, colour] for a legend */

const ramp = share => {
	const ends = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 187, 37]], at = Math.min(share * 4, 3.999), i = Math.floor(at);
	return `rgb(${ends[i].map((from, k) => Math.round(from + (ends[i + 1][k] - from) * (at - i))).join(",")})`;
};
function colouring(name) {
	if (!name) return {of: () => css("--mark"), legend: []};
	const values = values_of(name), order = new Map(values.map((value, i) => [value, i])), numbers = values.every(value => typeof value === "number");
	const colour = i => numbers ? ramp(values.length > 1 ? i / (values.length - 1) : 0) : i < 7 || values.length === 8 ? colours[i] : colours[7];
	const marks = numbers && values.length > 8 ? [0, 1, 2, 3, 4].map(k => Math.round(k * (values.length - 1) / 4)) : values.map((_, i) => i).slice(0, values.length > 8 ? 7 : 8);
	return {of: point => order.has(point.values[name]) ? colour(order.get(point.values[name])) : colours[7], legend: [...marks.map(i => [told(name, values[i]), colour(i)]), ...(!numbers && values.length > 8 ? [[`${values.length - 7} others`, colours[7]]] : [])]};
}
const legend_of = list => element("p", {class: "legend"}, ...list.map(([name, colour]) => element("span", {}, element("i", {style: `background:${colour}`}), name)));

/* --- the scatter of all points */

function is_beaten(point, x, y) {
	return points.some(other => other !== point && (!data.campaign || other.values.point === point.values.point) && other.values[x] <= point.values[x] && other.values[y] <= point.values[y] &&
		(other.values[x] < point.values[x] || other.values[y] < point.values[y]));
}
/* Points of which no other beats in both values, from left to right; between two of them nothing better was found. */
function stairs(shown, x, y) {
	let best = Infinity;
	return [...shown].sort((a, b) => a.values[x] - b.values[x] || a.values[y] - b.values[y]).filter(point => point.values[y] < best && (best = point.values[y], true));
}
function scatter() {
	const box = element("div", {class: "chart", id: "frontier"});
	const pick = (usual, change) => {
		const select = element("select", {onchange: change});
		for (const name of numeric) select.append(element("option", {value: name, ...(name === usual ? {selected: ""} : {})}, name_of(name)));
		return select;
	};
	const varies = name => new Set(points.map(point => point.values[name])).size > 1;
	const first = [...(estimated() ? ["estimate_ns"] : []), "latency_ns", "latency_cycles", "rounds"].find(name => numeric.includes(name)) || numeric[0];
	const second = ["energy_pj", "hbm_bytes", "edp", "cores"].find(name => numeric.includes(name) && name !== first && varies(name)) || numeric[1] || first;
	const coloured = [...new Set([...(workload ? [workload] : []), ...swept, "cores", "solver", "proof"])].filter(name => columns.includes(name) && varies(name));
	const x = pick(first, show), y = pick(second, show), log = element("select", {onchange: show}, ...["by range", "linear", "logarithmic"].map(name => element("option", {value: name}, name)));
	const decades = name => {
		const values = points.map(point => point.values[name]).filter(value => typeof value === "number");
		const least = values.reduce((a, b) => Math.min(a, b), Infinity), most = values.reduce((a, b) => Math.max(a, b), -Infinity);
		return least > 0 && (log.value === "logarithmic" || log.value === "by range" && most >= 10 * least);
	};
	const chart = window.charts && window.charts.init(box), legend = element("div", {});
	const colour = element("select", {onchange: show}, element("option", {value: ""}, "none"), ...coloured.map(name => element("option", {value: name, ...(name === coloured[0] ? {selected: ""} : {})}, name_of(name))));
	let zoom = [{}, {}], over = "", shown = [];
	function show() {
		const paint = colouring(colour.value);
		legend.replaceChildren(paint.legend.length ? legend_of(paint.legend) : "");
		if (over !== x.value + y.value) { zoom = [{}, {}]; over = x.value + y.value; keep("scatter", null); }
		shown = points.filter(point => (!conditions.size || [...conditions].every(([plot, keeps]) => plot === "scatter" || keeps(point)))).filter(point => typeof point.values[x.value] === "number" && typeof point.values[y.value] === "number");
		const small = shown.length <= 2000;
		const axis = name => ({type: decades(name) ? "log" : "value", axisLabel: {formatter: amount.number, hideOverlap: true}, scale: true, name: name_of(name), nameLocation: "middle", nameGap: 34, axisLine: {lineStyle: {color: css("--soft")}}, splitLine: {lineStyle: {color: css("--line")}}});
		const place = point => [scaled(x.value, point.values[x.value]), scaled(y.value, point.values[y.value])];
		if (!chart) return;
		chart.setOption({
			textStyle: {color: css("--ink")}, animation: false, grid: {left: 76, right: 20, top: 16, bottom: 74},
			xAxis: axis(x.value), yAxis: {...axis(y.value), nameGap: 58},
			dataZoom: [{type: "inside", ...zoom[0]}, {type: "inside", yAxisIndex: 0, ...zoom[1]}, {type: "slider", height: 16, bottom: 8, showDataShadow: false, ...zoom[0]}],
			tooltip: {confine: true, renderMode: "richText", formatter: at => tell(shown[at.dataIndex])},
			series: [{type: "scatter", symbolSize: small ? 11 : 3, large: !small, itemStyle: {color: css("--mark"), opacity: 0.7}, data: shown.map(point => {
				const value = place(point);
				return small ? {value, itemStyle: {color: paint.of(point), opacity: is_beaten(point, x.value, y.value) ? 0.35 : 0.9}} : value;
			})}, {type: "scatter", symbolSize: 16, silent: true, z: 3, itemStyle: {color: "transparent", borderColor: css("--ink"), borderWidth: 2}, data: shown.includes(chosen) ? [place(chosen)] : []},
				{type: "line", step: "end", silent: true, symbol: "none", lineStyle: {width: 1, color: css("--other")}, data: data.campaign ? [] : stairs(shown, x.value, y.value).map(place)}],
		}, true);
	}
	/* Of a campaign, all plots have the points that the chart is zoomed to. */
	function zoomed() {
		const now = chart.getOption().dataZoom.slice(0, 2).map(({start, end}) => ({start, end}));
		zoom = now;
		if (!data.campaign) return;
		if (now.every(({start, end}) => start <= 0 && end >= 100)) return keep("scatter", null);
		const at = corner => chart.convertFromPixel({xAxisIndex: 0, yAxisIndex: 0}, corner), [x0, y0] = at([76, chart.getHeight() - 74]), [x1, y1] = at([chart.getWidth() - 20, 16]);
		keep("scatter", point => { const [px, py] = [scaled(x.value, point.values[x.value]), scaled(y.value, point.values[y.value])]; return px >= x0 && px <= x1 && py >= y0 && py <= y1; });
	}
	if (chart) {
		let soon = 0;
		chart.on("click", at => at.seriesIndex === 0 && choose(shown[at.dataIndex]));
		chart.on("datazoom", () => { clearTimeout(soon); soon = setTimeout(zoomed, 120); });
	}
	keepers.push(plot => plot !== "scatter" && show());
	const which = element("select", {id: "workload", onchange: () => keep_value(workload, which.value)}, element("option", {value: ""}, "all"), ...(workload ? values_of(workload) : []).map(value => element("option", {value: String(value)}, String(value))));
	const told_kept = element("span", {id: "kept"}, "");
	keepers.push(() => {
		told_kept.replaceChildren(...(conditions.size ? [`${kept.length} of ${points.length} points `, element("button", {onclick: () => { zoom = [{}, {}]; which.value = ""; for (const plot of [...conditions.keys()]) keep(plot, null); show(); }}, "show all")] : []));
	});
	const tell = point => [point.title, ...[x.value, y.value, "proof", "solver", ...swept].map(name => `${name_of(name)}: ${told(name, point.values[name])}`)].join("\n");
	listeners.push(show);
	if (chart) new ResizeObserver(() => chart.resize()).observe(box);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
	window.lxplore = {...window.lxplore, points, choose, chart, keep, keep_value, kept: () => kept, zoom: () => chart && chart.dispatchAction({type: "dataZoom", start: 20, end: 80})};
	show();
	return element("section", {}, element("h2", {}, data.campaign ? "All points of the campaign" : "The frontier"),
		element("div", {class: "picks"}, element("label", {}, "x ", x), element("label", {}, "y ", y), element("label", {}, "scale ", log), ...(coloured.length ? [element("label", {}, "colour ", colour)] : []), ...(workload ? [element("label", {}, "workload ", which)] : []), ...(data.campaign ? [told_kept] : [])),
		legend, chart ? box : element("p", {class: "note"}, "The program was built without charts: install npm and build it again. Tables and plans are complete."),
		element("p", {}, "Wheel or pinch zooms, a click chooses a point. Points that another one beats in both values are paler." + (data.campaign ? " What is zoomed to, and what is kept on an axis or by a click on a value below, is what all plots and the table show." : "")));
}

/* --- the table of all points */

function table() {
	const listed = columns.filter(name => !["plan", "mapping", "worst_tensor"].includes(name) && (name === "point" || new Set(points.map(point => point.values[name])).size > 1 || ["latency_cycles", "energy_pj", "proof", "solver"].includes(name)));
	/* The latency that counts comes first, before the bound. */
	const first = listed.filter(name => name === "point" || (estimated() && /^estimate_/.test(name)));
	const shown = [...first, ...listed.filter(name => !first.includes(name))];
	const body = element("tbody", {}), rows = new Map();
	let by = null, up = true;
	const limit = 500;
	function fill() {
		const sorted = [...kept];
		if (by) sorted.sort((a, b) => {
			const p = a.values[by] ?? "", q = b.values[by] ?? "";
			return (typeof p === "number" && typeof q === "number" ? p - q : String(p).localeCompare(String(q))) * (up ? 1 : -1);
		});
		rows.clear();
		body.replaceChildren(...sorted.slice(0, limit).map(point => {
			const row = element("tr", {onclick: () => choose(point), tabindex: "0", onkeydown: event => event.key === "Enter" && choose(point)},
				...shown.map(name => element("td", typeof point.values[name] === "number" ? {} : {class: "words"}, told(name, point.values[name]))));
			rows.set(point, row);
			return row;
		}));
		mark();
	}
	const mark = () => rows.forEach((row, point) => row.classList.toggle("chosen", point === chosen));
	listeners.push(mark);
	keepers.push(fill);
	fill();
	return element("section", {}, element("h2", {}, "Points"),
		element("div", {class: "scroll low"}, element("table", {id: "points"},
			element("thead", {}, element("tr", {}, ...shown.map(name => element("th", {"data-column": name}, element("button", {onclick: () => { up = by === name ? !up : true; by = name; fill(); }}, name_of(name)))))),
			body)),
		points.length > limit ? element("p", {}, `${limit} of ${points.length} points are shown; a click on a heading sorts all of them.`) : "");
}

/* --- the chosen point */

/* "core: h4 k8 | LX: h2" as boxes within each other. */
function boxes(mapping) {
	const outer = element("div", {});
	let at = outer;
	for (const part of mapping.split(" | ")) {
		const cut = part.indexOf(":");
		if (part.startsWith("keep")) { outer.append(element("p", {}, part)); continue; }
		const box = element("div", {class: "nest"}, element("b", {}, cut < 0 ? "" : part.slice(0, cut) + " "), cut < 0 ? part : part.slice(cut + 1).trim());
		at.append(box);
		at = box;
	}
	return outer;
}
function nests(point) {
	const ops = point.details?.score?.ops;
	if (ops) return element("div", {}, ...ops.flatMap(op => [element("p", {}, op.op, op.mapping === "undivided" ? ": undivided" : ""), op.mapping && op.mapping !== "undivided" ? boxes(op.mapping) : ""]));
	const layers = layers_of(point);
	if (layers) return element("div", {}, ...layers.flatMap(layer => [element("p", {}, `${layer.layer}, ${short(layer.count)} times, point ${layer.point}`), boxes(String(layer.mapping))]));
	return point.values.mapping && !layer_rows.length ? boxes(point.values.mapping) : null;
}

/* The map of LX: steps across, addresses upwards. */
function lx_map(point) {
	const tensors = Object.entries(point.details?.score?.tensors || {}).map(([name, stay]) => ({name, ...stay})).filter(stay => stay.place === "LX" && stay.address !== undefined);
	if (!tensors.length) return null;
	const steps = point.details.score.ops.length, top = Math.max(...tensors.map(t => t.address + t.bytes_per_core), point.details.machine?.lx_bytes || 1);
	const width = 720, height = 330, left = 70, bottom = 30, svg = figure(width, height, "tensors in LX by step and address");
	const x = step => left + (width - left - 8) * step / steps, y = address => (height - bottom) * (1 - address / top) + 4;
	const apart = 2 ** Math.max(0, Math.floor(Math.log2(top / 4)));
	for (let at = 0; at <= top; at += apart) svg.append(drawing("line", {class: "line", x1: left, x2: width, y1: y(at), y2: y(at)}), drawing("text", {class: "soft", x: left - 6, y: y(at) + 4, "text-anchor": "end"}, bytes(at)));
	for (let step = 0; step < steps; step++) if (steps <= 24 || step % Math.ceil(steps / 24) === 0) svg.append(drawing("text", {class: "soft", x: (x(step) + x(step + 1)) / 2, y: height - 8, "text-anchor": "middle"}, (point.details.score.ops[step].op.length * 6.5 < x(step + 1) - x(step)) ? point.details.score.ops[step].op : step));
	/* A tensor in the place of another hides the end of it. */
	const seen = t => Math.min(t.to, ...tensors.filter(other => other.in_place_of === t.name && other.address === t.address && other.from > t.from && other.from < t.to).map(other => other.from));
	tensors.forEach((t, i) => {
		const tall = Math.max(1.5, y(t.address) - y(t.address + t.bytes_per_core)), wide = x(seen(t)) - x(t.from);
		svg.append(hint(drawing("rect", {x: x(t.from), y: y(t.address + t.bytes_per_core), width: wide, height: tall, fill: colours[i % 8], "fill-opacity": 0.45, stroke: colours[i % 8]}),
			`${t.name}: ${bytes(t.bytes_per_core)} at ${t.address}, steps ${t.from} to ${t.to}${t.in_place_of ? `, in place of ${t.in_place_of}` : ""}`));
		if (tall > 12 && wide > 7 * t.name.length) svg.append(drawing("text", {x: x(t.from) + 4, y: y(t.address + t.bytes_per_core) + 12}, t.name));
	});
	if (point.details.machine?.lx_bytes) svg.append(drawing("line", {x1: left, x2: width, y1: y(point.details.machine.lx_bytes), y2: y(point.details.machine.lx_bytes), stroke: "#cc2222", "stroke-dasharray": "4 3"}));
	return element("figure", {}, saved(svg, "lx"), element("figcaption", {}, `Bytes of LX on each core by step; ${bytes(point.details.machine?.lx_bytes || 0)} are for tensors, up to the dashed line.`));
}
/* A drawing, and a button that keeps it as a file. */
function saved(svg, name) {
	const keep = () => {
		const copy = svg.cloneNode(true);
		copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
		copy.prepend(drawing("style", {}, "text{font:11px sans-serif;fill:#1c2430}.line{stroke:#d5dae1}.soft{fill:#5b6675}"));
		element("a", {href: URL.createObjectURL(new Blob([copy.outerHTML], {type: "image/svg+xml"})), download: `${name}.svg`}).click();
	};
	return element("div", {}, element("div", {class: "scroll"}, svg), element("button", {onclick: keep}, "save SVG"));
}

function timeline(point) {
	const rows = point.details?.timeline;
	if (!rows?.length) return null;
	const ops = point.details.score.ops, engines = [...new Set(rows.map(row => row.engine))], end = Math.max(...rows.map(row => row.to), 1);
	const width = 720, left = 80, tall = 34, svg = figure(width, engines.length * tall + 26, "engines by time");
	const x = ns => left + (width - left - 8) * ns / end;
	engines.forEach((engine, i) => svg.append(drawing("text", {class: "soft", x: left - 6, y: i * tall + 20, "text-anchor": "end"}, engine)));
	for (const row of rows) {
		const y = engines.indexOf(row.engine) * tall + 4, wide = Math.max(1, x(row.to) - x(row.from));
		const share = row.to > row.from ? Math.min(1, row.busy / (row.to - row.from)) : 0, colour = colours[row.step % 8], op = ops[row.step]?.op ?? "";
		svg.append(hint(drawing("rect", {x: x(row.from), y, width: wide, height: tall - 8, fill: colour, "fill-opacity": 0.15 + 0.7 * share, stroke: colour, "stroke-width": 0.5}),
			`${op}, ${row.engine}: ${amount.text("time", row.from)} to ${amount.text("time", row.to)}, busy ${Math.round(100 * share)} %`));
		if (wide > 7 * op.length + 6) svg.append(drawing("text", {x: x(row.from) + 3, y: y + 17}, op));
	}
	for (let i = 0; i <= 4; i++) svg.append(drawing("text", {class: "soft", x: Math.min(x(end * i / 4), width - 30), y: engines.length * tall + 18, "text-anchor": "middle"}, amount.text("time", end * i / 4)));
	return element("figure", {}, saved(svg, "timeline"), element("figcaption", {}, "The execution on the simulator without the overhead of bundles; the darker, the busier."));
}

/* Horizontal bars: [name, value, text, title]. */
function bars(rows, label) {
	const most = Math.max(...rows.map(row => row[1]), 1e-30), width = 720, tall = 20, left = 150, svg = figure(width, rows.length * tall + 4, label);
	rows.forEach(([name, value, text, title, colour], i) => {
		svg.append(drawing("text", {x: left - 6, y: i * tall + 14, "text-anchor": "end"}, name.length > 22 ? name.slice(0, 21) + "…" : name),
			hint(drawing("rect", {x: left, y: i * tall + 3, width: Math.max(1, (width - left - 130) * value / most), height: tall - 6, fill: colour || colours[0]}), title || text),
			drawing("text", {class: "soft", x: left + 6 + (width - left - 130) * value / most, y: i * tall + 14}, text));
	});
	return element("figure", {}, saved(svg, label.replaceAll(" ", "-")), element("figcaption", {}, label));
}
/* Bars of parts in the colours of a legend: [name, [[part, value]..]]. */
function stacks(rows, kind, label) {
	const names = [...new Set(rows.flatMap(row => row[1].map(part => part[0])))], sums = rows.map(row => row[1].reduce((sum, part) => sum + part[1], 0));
	const most = Math.max(...sums, 1e-30), unit = amount.unit(kind, most), width = 720, tall = 20, left = 150, places = [];
	let x = 0, y = 0;
	for (const name of names) {
		if (x + 24 + 7 * name.length > width) { x = 0; y += 18; }
		places.push([x, y]);
		x += 34 + 7 * name.length;
	}
	const top = y + 24, svg = figure(width, rows.length * tall + top, label);
	names.forEach((name, i) => svg.append(drawing("rect", {x: places[i][0], y: places[i][1] + 3, width: 12, height: 12, fill: colours[i % 8]}), drawing("text", {class: "soft", x: places[i][0] + 17, y: places[i][1] + 13}, name)));
	rows.forEach(([name, parts], i) => {
		let at = left;
		svg.append(drawing("text", {x: left - 6, y: top + i * tall + 14, "text-anchor": "end"}, name.length > 22 ? name.slice(0, 21) + "…" : name));
		for (const [part, value] of parts) {
			const wide = (width - left - 130) * value / most;
			svg.append(hint(drawing("rect", {x: at, y: top + i * tall + 3, width: wide, height: tall - 6, fill: colours[names.indexOf(part) % 8]}), `${name}, ${part}: ${amount.within(value, unit)}`));
			at += wide;
		}
		svg.append(drawing("text", {class: "soft", x: at + 6, y: top + i * tall + 14}, amount.within(sums[i], unit)));
	});
	return element("figure", {}, saved(svg, label.replaceAll(" ", "-")), element("figcaption", {}, label));
}
function phases(point) {
	const ops = point.details?.score?.ops?.filter(op => op.phase);
	if (!ops?.length) return null;
	const resources = [...new Set(ops.map(op => op.phase.slowest))];
	return bars(ops.map(op => [op.op, op.phase.cycles, `${short(op.phase.cycles)} ${op.phase.slowest}`, Object.entries(op.phase.resource_cycles || {}).map(([name, cycles]) => `${name} ${short(cycles)}`).join(", "), colours[resources.indexOf(op.phase.slowest) % 8]]), "cycles of each phase and what bounds it");
}
const energy_bars = (rows, label, colour) => {
	const most = 30, sorted = [...rows].sort((a, b) => b[1] - a[1]), rest = sorted.slice(most).reduce((sum, row) => sum + row[1], 0);
	const all = rows.reduce((sum, row) => sum + row[1], 0), unit = amount.unit("energy", sorted.length ? sorted[0][1] : 0);
	return bars([...sorted.slice(0, most), ...(rest > 0 ? [[`${sorted.length - most} others`, rest]] : [])].map(([name, pj]) => [name, pj, `${amount.within(pj, unit)}, ${short(Math.round(1000 * pj / all) / 10)} %`, undefined, colour]), label);
};
/* By level and tensor; of a problem by level alone. */
function energies(point) {
	const score = point.details?.score, parts = score?.energy, levels = score?.levels?.filter(level => level.energy_pj !== undefined);
	const layers = parts ? null : layers_of(point), shares = layers?.filter(row => data.layer_energies?.[row.plan]).map(row => [String(row.layer), data.layer_energies[row.plan].map(([name, pj]) => [name, pj * row.count])]);
	if (shares?.length) {
		const sums = new Map();
		for (const [, levels] of shares) for (const [name, pj] of levels) sums.set(name, (sums.get(name) || 0) + pj);
		return element("div", {}, energy_bars([...sums], "energy of each level, all layers together"), stacks(shares, "energy", "energy of each layer by level"));
	}
	if (parts) return element("div", {}, energy_bars(parts.levels.map(level => [level.source?.startsWith("assumed") ? `${level.name} (assumed)` : level.name, level.energy_pj]), "energy of each level"),
		...parts.levels.filter(level => level.source).map(level => element("p", {}, `${level.name}: ${level.source}`)),
		energy_bars([...parts.tensors.map(tensor => [tensor.name, tensor.energy_pj]), ["(computes, leakage)", parts.others_pj]].filter(row => row[1] > 0), "energy of each tensor", colours[2]));
	return levels?.length ? energy_bars(levels.map(level => [level.name, level.energy_pj]), "energy of each level") : null;
}
function moved(point) {
	const levels = point.details?.score?.levels;
	if (!levels?.some(level => Object.keys(level.bytes || {}).length)) return null;
	return bars(levels.flatMap(level => Object.entries(level.bytes || {}).map(([kind, count]) => [`${level.name} ${kind.replace(/^(lx|hbm)_/, "")}`, count, bytes(count)])), "bytes moved at each level");
}

/* Operations per byte of HBM against operations per nanosecond, both by powers of ten. */
function roofline(point) {
	const machine = point.details?.machine, ops = point.details?.score?.ops;
	if (!machine?.hbm_bytes_per_ns || !machine.computes_per_ns || !ops) return null;
	const ns = point.values.latency_ns / point.values.latency_cycles;
	const at = ops.map(op => {
		const moved = (op.operands || []).reduce((sum, operand) => sum + (operand.bytes?.hbm_read || 0) + (operand.bytes?.hbm_write || 0), 0);
		return {name: op.op, rate: op.computes / (op.phase?.cycles * ns), intensity: op.computes / Math.max(moved, 1), inside: !moved};
	}).filter(op => op.rate > 0 && isFinite(op.rate) && op.intensity > 0);
	if (!at.length) return null;
	const peak = machine.computes_per_ns, slope = machine.hbm_bytes_per_ns, ridge = peak / slope;
	const outside = at.filter(op => !op.inside).map(op => op.intensity);
	const low = Math.floor(Math.log10(Math.min(...outside, ridge / 10))), high = Math.ceil(Math.log10(Math.max(...outside, ridge * 10)));
	for (const op of at) if (op.inside) op.intensity = 10 ** high;
	const floor = Math.floor(Math.log10(Math.min(...at.map(op => op.rate), slope * 10 ** low))), roof = Math.ceil(Math.log10(peak)) + 0.2;
	const width = 720, height = 320, left = 56, svg = figure(width, height, "roofline");
	const x = v => left + (width - left - 12) * (Math.log10(v) - low) / (high - low), y = v => (height - 30) * (1 - (Math.log10(v) - floor) / (roof - floor));
	for (let e = low; e <= high; e++) svg.append(drawing("text", {class: "soft", x: x(10 ** e), y: height - 10, "text-anchor": "middle"}, `1e${e}`), drawing("line", {class: "line", x1: x(10 ** e), x2: x(10 ** e), y1: 0, y2: height - 30}));
	for (let e = floor; e < roof; e++) svg.append(drawing("text", {class: "soft", x: left - 6, y: y(10 ** e) + 4, "text-anchor": "end"}, `1e${e}`), drawing("line", {class: "line", x1: left, x2: width, y1: y(10 ** e), y2: y(10 ** e)}));
	svg.append(drawing("polyline", {points: `${x(10 ** low)},${y(slope * 10 ** low)} ${x(ridge)},${y(peak)} ${x(10 ** high)},${y(peak)}`, fill: "none", stroke: css("--other"), "stroke-width": 2}));
	svg.append(drawing("text", {x: width - 12, y: height - 36, "text-anchor": "end"}, "operations per byte of HBM"), drawing("text", {x: left + 6, y: 12}, "operations per ns"));
	at.forEach((op, i) => svg.append(hint(drawing("circle", {cx: x(op.intensity), cy: y(op.rate), r: 6, fill: colours[i % 8], "fill-opacity": 0.8}), `${op.name}: ${short(op.rate)} operations/ns, ${op.inside ? "no byte of HBM" : short(op.intensity) + " operations/byte"}`)));
	return element("figure", {}, saved(svg, "roofline"), element("figcaption", {}, "Operations per byte of HBM (across) and per nanosecond (upwards) of each op; the line is the machine's peak. Ops without a byte of HBM stand at the right end."));
}

function facts(point) {
	const times = ["latency_ns", "estimate_ns", "latency_cycles", "estimate_cycles"];
	const names = [...(estimated() ? [times[1], times[0], times[3], times[2]] : times), "energy_pj", "edp", "hbm_bytes", "lx_peak_bytes", "cores", "utilization", "sim_cycles", "sim_agrees", "executed", "proof", "bound", "gap", "solver", "rounds", ...swept];
	return element("dl", {id: "facts"}, ...names.filter(name => point.values[name] !== undefined && point.values[name] !== "").flatMap(name => [element("dt", {"data-column": name}, name_of(name)), element("dd", {}, told(name, point.values[name]))]));
}
/* Of a network: its layers, and their parts of the whole. */
function layers(point) {
	const rows = layers_of(point);
	if (!rows) return null;
	const most = name => amount.unit(amount.kind_of(name), Math.max(...rows.map(row => row[name] * row.count)));
	const time = most("latency_ns"), energy = most("energy_pj");
	return element("div", {}, element("div", {class: "scroll low"}, element("table", {},
		element("thead", {}, element("tr", {}, ...["layer", "times", "point", amount.title("latency_ns", time), amount.title("energy_pj", energy), "utilization", "proof"].map(name => element("th", {}, name)))),
		element("tbody", {}, ...rows.map(row => element("tr", {}, ...[row.layer, row.count, row.point, row.latency_ns * row.count / time[1], row.energy_pj * row.count / energy[1], row.utilization, row.proof].map((value, i) => element("td", i && typeof value === "number" ? {} : {class: "words"}, short(value)))))))),
	element("p", {}, "Latency and energy are those of all times that a layer occurs."),
	bars(rows.map(row => [String(row.layer), row.latency_ns * row.count, amount.within(row.latency_ns * row.count, time)]), "latency of each layer"),
	bars(rows.map(row => [String(row.layer), row.energy_pj * row.count, amount.within(row.energy_pj * row.count, energy), undefined, colours[1]]), "energy of each layer"));
}
const tabs = [["layers", layers], ["phases", phases], ["timeline", timeline], ["LX map", lx_map], ["loop nests", nests], ["energy", energies], ["bytes", moved], ["roofline", roofline],
	["plan", point => point.plan ? element("pre", {}, point.plan) : null]];
function detail() {
	const title = element("h2", {id: "chosen"}, ""), bar = element("nav", {role: "tablist"}), body = element("div", {id: "detail"}), list = element("div", {});
	let open = layer_rows.length ? "layers" : "timeline";
	listeners.push(point => {
		title.textContent = point.title;
		const made = tabs.map(([name, make]) => [name, make(point)]).filter(tab => tab[1]);
		list.replaceChildren(facts(point));
		if (!made.some(tab => tab[0] === open)) open = made.length ? made[0][0] : "";
		const show = name => {
			open = name;
			body.replaceChildren(made.find(tab => tab[0] === name)?.[1] || "");
			for (const button of bar.children) button.setAttribute("aria-selected", String(button.textContent === name));
		};
		bar.replaceChildren(...made.map(([name]) => element("button", {role: "tab", onclick: () => show(name)}, name)));
		show(open);
	});
	return element("section", {}, title, bar, body, list);
}

/* --- provenance */

function provenance() {
	const run = data.run;
	if (!run) return element("p", {}, `${data.campaign.points.length} points, ${points.length} on their frontiers`);
	const counters = Object.entries(run.counters || {}).filter(entry => entry[1]).map(([name, count]) => `${name.replaceAll("_", " ")} ${short(count)}`).join(", ");
	return element("div", {}, element("p", {}, `${(run.specs || []).map(spec => spec.path).join(" ")} ${(run.options || []).join(" ")}`),
		element("details", {}, element("summary", {}, `lxplore ${run.version}, seed ${run.seed}, objectives ${(run.objectives || []).join(", ")}, ${short(run.seconds)} s${run.cut_short ? `, cut short by ${run.limit}` : ""}`), element("p", {}, counters)));
}
page.append(element("header", {}, element("h1", {}, data.title), provenance(), ...data.notes.map(note => element("p", {class: "note"}, note))));
if (points.length) {
	page.append(element("div", {class: "columns"}, scatter(), detail()), ...(data.campaign ? campaign_plots({element, drawing, figure, hint, saved, css, amount, points, swept, workload, numeric, values_of, name_of, scaled, told, unit_of, colouring, legend_of, conditions, keep, keep_value, keepers, choose, kept: () => kept}) : []), table());
	choose(points[0]);
} else page.append(element("p", {}, "No point was found."));
})();
