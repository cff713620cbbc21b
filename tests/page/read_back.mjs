// read_back.mjs PAGE CSV: runs the program of a page without a browser, on elements of its own, and reads the numbers
// of the table and of the chosen point back: each is that of the CSV, to the digits that are shown.
import { readFileSync } from "node:fs";
import { run } from "./elements.mjs";

const [page, csv] = process.argv.slice(2).map(path => readFileSync(path, "utf8"));
const sizes = { "": 1, ns: 1, us: 1e3, ms: 1e6, s: 1e9, pJ: 1, nJ: 1e3, uJ: 1e6, mJ: 1e9, J: 1e12, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

const root = run(page);
// The CSV, read on its own: no cell of ours has a line end in it.
const cells = line => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(found => found[1].replace(/^"|"$/g, "").replaceAll('""', '"'));
const [names, ...rows] = csv.trimEnd().split("\n").map(cells);
let count = 0, wrong = 0;
const fail = text => { if (wrong++ < 8) console.error(text); };
function check(where, column, row, text, unit) {
	const cell = row[names.indexOf(column)];
	if (cell === undefined) return fail(`${where}: pareto.csv has no column ${column}`);
	count++;
	if (cell === "" || isNaN(cell)) { if (text !== cell) fail(`${where}, ${column}: '${text}' for '${cell}'`); return; }
	if (!(unit in sizes)) return fail(`${where}, ${column}: unknown unit '${unit}'`);
	const read = Number(text) * sizes[unit], value = Number(cell);
	if (text === "" || !(Math.abs(read - value) <= 5.0001e-5 * Math.abs(value))) fail(`${where}, ${column}: '${text} ${unit}' for ${cell}`);
}
const unit_of = title => title.match(/ \((\w+)\)$/)?.[1] ?? "";
const table = root.all("table").find(at => at.attributes.id === "points");
const heads = table.all("th").map(head => [head.attributes["data-column"], unit_of(head.textContent)]);
const shown = table.all("tbody")[0].all("tr");
if (shown.length !== Math.min(rows.length, 500)) fail(`the table has ${shown.length} rows for ${rows.length}`);
shown.forEach((row, i) => row.all("td").forEach((cell, c) => check(`row ${i + 1}`, heads[c][0], rows[i], cell.textContent, heads[c][1])));
for (const [i, point] of lxplore.points.entries()) {
	lxplore.choose(point);
	const list = root.all("dl").find(at => at.attributes.id === "facts"), terms = list.all("dt"), facts = list.all("dd");
	if (!terms.length) fail(`point ${i + 1} has no facts`);
	terms.forEach((term, k) => { if (names.includes(term.attributes["data-column"])) check(`point ${i + 1}`, term.attributes["data-column"], rows[i], facts[k].textContent, unit_of(term.textContent)); });
}
if (wrong || !count) { console.error(`${wrong} of ${count} figures differ`); process.exit(1); }
console.log(`${count} figures of ${rows.length} points are those of pareto.csv`);
