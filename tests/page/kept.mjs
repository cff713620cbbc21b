// kept.mjs PAGE SWEPT WORKLOAD OBJECTIVE: runs the program of a campaign's page without a browser.  What is kept by one value is what
// the table shows, and the figure of each swept value is the geometric mean over workloads of the best of each run.
import { readFileSync } from "node:fs";
import { run } from "./elements.mjs";

const [path, swept, workload, objective] = process.argv.slice(2), page = readFileSync(path, "utf8");
const sizes = { "": 1, ns: 1, us: 1e3, ms: 1e6, s: 1e9, pJ: 1, nJ: 1e3, uJ: 1e6, mJ: 1e9, J: 1e12 };
const root = run(page), points = JSON.parse(page.match(/id="data">([^<]*)</)[1]).campaign.points;
let wrong = 0;
const expect = (good, what) => { if (!good) { wrong++; console.error(what); } };
const rows = () => root.all("table").find(at => at.attributes.id === "points").all("tbody")[0].all("tr").length;
const count = points.reduce((sum, point) => sum + point.frontier.length, 0);
const mean = list => list.reduce((product, value) => product * value, 1) ** (1 / list.length);
const strip = () => root.all("figure").find(at => at.attributes["data-swept"] === swept).all("text").filter(text => text.attributes.class === "soft").map(text => text.textContent.match(/^([\d.e+-]+) (\w+)(?:, \d+ of \d+)?$/)).filter(found => found);
function check(of) {
	const values = [...new Set(of.map(point => point.values[swept]))].sort((a, b) => a - b), shown = strip();
	expect(shown.length === values.length, `${shown.length} rows for ${values.length} values`);
	values.forEach((value, i) => {
		const by = new Map();
		for (const point of of.filter(point => point.values[swept] === value)) by.set(point.values[workload], [...(by.get(point.values[workload]) || []), Math.min(...point.frontier.map(row => row[objective]))]);
		const wanted = mean([...by.values()].map(mean)), read = Number(shown[i]?.[1]) * sizes[shown[i]?.[2]];
		expect(Math.abs(read - wanted) <= 1e-4 * wanted, `${swept} ${value}: ${read} for ${wanted}`);
	});
}
expect(rows() === count, `${rows()} rows for ${count}`);
check(points);
for (const name of new Set(points.map(point => point.values[workload]))) {
	const some = points.filter(point => point.values[workload] === name);
	const shown = lxplore.points.find(point => point.values.point === some[0].point).values[workload];
	lxplore.keep_value(workload, shown);
	expect(rows() === some.reduce((sum, point) => sum + point.frontier.length, 0) && rows() < count, `${name}: ${rows()} rows`);
	check(some);
}
lxplore.keep_value(workload, "");
expect(rows() === count, `${rows()} rows in the end for ${count}`);
process.exit(wrong ? 1 : 0);
