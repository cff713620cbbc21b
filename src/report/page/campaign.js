"use strict";
/* The plots that campaigns have besides: how values go together, and what each does.  `page` has what page.js shares. */
function campaign_plots(page) {
const {element, drawing, figure, hint, saved, css, amount, points, swept, workload, numeric, values_of, name_of, scaled, told, unit_of, colouring, legend_of, conditions, keep, keep_value, keepers, choose, kept} = page;
/* Values that others were set from go with them: one plot is enough. */
const partition = name => { const numbers = new Map(); return points.map(point => numbers.get(point.values[name]) ?? numbers.set(point.values[name], numbers.size).size - 1).join(); };
const own = swept.filter((name, i) => { const mine = partition(name); return !swept.slice(0, i).some(other => partition(other) === mine); });

function parallel() {
	const axes = [...own, ...["latency_ns", "energy_pj", "hbm_bytes"].filter(name => numeric.includes(name))].slice(0, 9);
	if (!window.charts || axes.length < 2) return "";
	const box = element("div", {class: "chart tall"});
	const chart = window.charts.init(box), place = (name, value) => numeric.includes(name) ? scaled(name, value) : String(value);
	let shown = [];
	const show = () => {
		const paint = colouring(workload);
		shown = points.filter(point => [...conditions].every(([plot, keeps]) => plot === "axes" || keeps(point)));
		chart.setOption({
			animation: false, textStyle: {color: css("--ink")}, parallel: {left: 50, right: 60, top: 40, bottom: 20},
			parallelAxis: axes.map((name, dim) => ({dim, name: name_of(name), nameTextStyle: {color: css("--ink")}, ...(numeric.includes(name) ? {scale: true, axisLabel: {formatter: amount.number}} : {type: "category", data: values_of(name).map(String)})})),
			series: [{type: "parallel", lineStyle: {width: 1, opacity: shown.length > 300 ? 0.12 : 0.4}, data: shown.map(point => ({value: axes.map(name => place(name, point.values[name])), lineStyle: {color: paint.of(point)}}))}],
		}, true);
	};
	/* Between the ends that are marked on each axis; those of words are their numbers. */
	chart.on("axisareaselected", () => {
		const model = chart.getModel(), any = axes.some((_, dim) => model.getComponent("parallelAxis", dim).activeIntervals.length);
		const set = new Set(any ? model.getSeriesByIndex(0).getRawIndicesByActiveState("active").map(i => shown[i]) : []);
		keep("axes", any ? point => set.has(point) : null);
	});
	keepers.push(plot => plot !== "axes" && show());
	window.lxplore = {...window.lxplore, axes: chart};
	show();
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
	new ResizeObserver(() => chart.resize()).observe(box);
	return element("section", {}, element("h2", {}, "Values and results"), box, element("p", {}, "A line for each point, in the colour of its workload; drag along an axis to keep a part of it."));
}

const mean_of = values => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
/* By swept value and workload the best of each run: {value: {workload: [[objective, point]..]}}. */
function best_of(name, objective) {
	const rows = new Map();
	for (const point of kept()) {
		const value = point.values[objective], key = point.values[name], of = workload && workload !== name ? String(point.values[workload]) : "";
		if (!(value > 0) || key === undefined) continue;
		if (!rows.has(key)) rows.set(key, new Map());
		const runs = rows.get(key).get(of) || rows.get(key).set(of, new Map()).get(of);
		if (!(runs.get(point.values.point)?.[0] <= value)) runs.set(point.values.point, [value, point]);
	}
	return rows;
}
/* A row for each value: a dot for each run in the colour of its workload, a bar at the geometric mean over workloads. */
function strip(name, objective) {
	const rows = best_of(name, objective), keys = values_of(name).filter(key => rows.has(key));
	const all = keys.flatMap(key => [...rows.get(key).values()].flatMap(runs => [...runs.values()].map(run => run[0])));
	if (!all.length) return "";
	const least = all.reduce((a, b) => Math.min(a, b)), most = all.reduce((a, b) => Math.max(a, b)), unit = unit_of(objective), far = most > 10 * least;
	const from = far ? Math.log10(least) - 0.05 : least * 0.97, to = far ? Math.log10(most) + 0.05 : most * 1.03;
	const labels = keys.map(key => told(name, key)), letters = Math.min(30, labels.reduce((most, label) => Math.max(most, label.length), 8));
	const width = 720, left = 14 + 6.4 * letters, right = 150, tall = 26, bottom = keys.length * tall + 6, svg = figure(width, bottom + 24, `${name_of(objective)} by ${name_of(name)}`);
	const x = value => left + (width - left - right) * ((far ? Math.log10(value) : value) - from) / (to - from);
	const marks = far ? Array.from({length: 40}, (_, i) => (i % 2 ? 3 : 1) * 10 ** (Math.floor(i / 2) - 6) * unit[1]) : [0, 1, 2, 3].map(i => least + (most - least) * i / 3);
	let last = -60;
	for (const mark of marks) if (x(mark) >= left && x(mark) <= width - right && x(mark) - last > 48) {
		last = x(mark);
		svg.append(drawing("line", {class: "line", x1: x(mark), x2: x(mark), y1: 0, y2: bottom}), drawing("text", {class: "soft", x: x(mark), y: bottom + 16, "text-anchor": "middle"}, amount.number(Number(scaled(objective, mark).toPrecision(3)))));
	}
	const paint = colouring(workload), most_workloads = Math.max(...keys.map(key => rows.get(key).size));
	keys.forEach((key, i) => {
		const y = i * tall + tall / 2, means = [], label = labels[i];
		const text = drawing("text", {x: left - 8, y: y + 4, "text-anchor": "end", style: "cursor:pointer"}, label.length > letters ? "…" + label.slice(1 - letters) : label);
		text.addEventListener("click", () => keep_value(name, conditions.has(name) ? "" : key));
		svg.append(hint(text, `${label}: keep only this value, or all`), drawing("line", {class: "line", x1: left, x2: width - right, y1: y, y2: y}));
		for (const [of, runs] of rows.get(key)) {
			means.push(mean_of([...runs.values()].map(run => run[0])));
			for (const [value, point] of runs.values()) {
				const dot = drawing("circle", {cx: x(value), cy: y, r: 4, fill: paint.of(point), "fill-opacity": 0.75, style: "cursor:pointer"});
				dot.addEventListener("click", () => choose(point));
				svg.append(hint(dot, `${of ? of + ", " : ""}${point.title}: ${amount.within(value, unit)}`));
			}
		}
		const mean = mean_of(means);
		svg.append(drawing("rect", {x: x(mean) - 1.5, y: y - 10, width: 3, height: 20, fill: css("--ink") || "#000"}), drawing("text", {class: "soft", x: width - right + 10, y: y + 4}, amount.within(mean, unit) + (means.length < most_workloads ? `, ${means.length} of ${most_workloads}` : "")));
	});
	return element("figure", {"data-swept": name}, saved(svg, `by-${name}`), element("figcaption", {}, `${name_of(objective)} by ${name_of(name)}: a dot for the best of each run, a bar and the figure at the right for the geometric mean${most_workloads > 1 ? ` over ${most_workloads} workloads` : ""}`));
}
function sensitivity() {
	const objectives = ["estimate_ns", "latency_ns", "latency_cycles", "rounds", "energy_pj", "edp"].filter(name => numeric.includes(name));
	const names = own.filter(name => { const count = values_of(name).length; return count > 1 && count <= 40; });
	if (!objectives.length || !names.length) return "";
	const parts = element("div", {class: "columns"}), objective = element("select", {onchange: show}, ...objectives.map((name, i) => element("option", {value: name, ...(i ? {} : {selected: ""})}, name_of(name))));
	function show() { parts.replaceChildren(...names.map(name => strip(name, objective.value))); }
	keepers.push(show);
	show();
	return element("section", {}, element("h2", {}, "What each value does"), element("div", {class: "picks"}, element("label", {}, "objective ", objective)), workload ? legend_of(colouring(workload).legend) : "", parts);
}

return [parallel(), sensitivity()];
}
