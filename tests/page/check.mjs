// check.mjs BROWSER FOLDER PAGE...: opens pages of reports in a headless browser, wide and narrow, and uses them: no
// complaint in the console, no dialog, a click on a point chooses it, every tab shows something, headings sort.
// Each chart is zoomed by the wheel for two seconds, and frames are counted.  Leaves screenshots.
import puppeteer from "puppeteer-core";
import { basename } from "node:path";

const [path, folder, ...pages] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath: path, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const FRAMES_LEAST = 8; // each second, on cores that others use, too; idle ones draw 60
let failed = 0;
const expect = (good, what) => { if (!good) { failed++; console.error(`page-check: ${what}`); } };

async function use(file, width) {
	const page = await browser.newPage(), name = `${basename(file, ".html")}-${width}`;
	page.on("console", message => expect(!["error", "warn"].includes(message.type()), `${name}: the console says '${message.text()}'`));
	page.on("pageerror", error => expect(false, `${name}: ${error.message}`));
	page.on("dialog", dialog => { expect(false, `${name}: a dialog opens`); dialog.dismiss(); });
	page.on("request", request => expect(/^(file|data|blob):/.test(request.url()), `${name}: asks for ${request.url()}`));
	await page.setViewport({ width, height: 900 });
	await page.goto(`file://${file}`);
	const count = await page.evaluate(() => lxplore.points.length);
	expect(count > 0, `${name}: has no points`);
	const wide = await page.evaluate(() => [...document.body.querySelectorAll("*")].filter(at => !at.closest(".scroll") && !at.closest("svg") && at.getBoundingClientRect().right > innerWidth + 1).map(at => at.tagName + "." + at.className).slice(0, 3).join(" "));
	expect(!wide, `${name}: wider than the window: ${wide}`);
	expect(await page.evaluate(() => document.scripts.length === 3), `${name}: names became scripts`);

	// A point that no other hides is chosen by a click in the chart.
	const at = await page.evaluate(() => {
		const { chart, points } = lxplore, series = chart.getOption().series[0].data, i = series.length - 1, value = series[i].value || series[i];
		const [x, y] = chart.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, value), box = document.getElementById("frontier").getBoundingClientRect();
		return { x: box.left + x, y: box.top + y, title: points[i].title };
	});
	await page.mouse.move(at.x, at.y);
	await page.mouse.click(at.x, at.y);
	expect(count > 100 || await page.$eval("#chosen", chosen => chosen.textContent) === at.title, `${name}: a click does not choose ${at.title}`);
	await page.evaluate(() => lxplore.choose(lxplore.points[0]));
	const tabs = await page.$$eval("nav button", buttons => buttons.map(button => { button.click(); return [button.textContent, document.getElementById("detail").textContent.length]; }));
	for (const [tab, length] of tabs) expect(length > 10, `${name}: the tab '${tab}' is empty`);
	const sorted = await page.evaluate(() => {
		const heading = [...document.querySelectorAll("th button")].find(button => button.textContent.startsWith("energy") || button.textContent.startsWith("latency"));
		heading.click();
		const column = [...heading.closest("tr").children].indexOf(heading.closest("th"));
		const cells = [...document.querySelectorAll("tbody tr")].map(row => Number(row.children[column].textContent.replaceAll(",", "")));
		return cells.every((cell, i) => i === 0 || cells[i - 1] <= cell);
	});
	expect(sorted, `${name}: a heading does not sort`);
	// Of a campaign, a range on an axis, a zoom and a value filter all plots and the table; "show all" takes all back.
	const kept = await page.evaluate(async () => {
		if (!lxplore.axes) return null;
		const rows = () => document.querySelectorAll("#points tbody tr").length, all = lxplore.kept().length, found = [];
		const note = () => found.push([lxplore.kept().length, rows()]);
		const axis = lxplore.axes.getOption().parallelAxis.findIndex(axis => axis.name.startsWith("latency")), id = lxplore.axes.getModel().getComponent("parallelAxis", axis).id;
		const values = lxplore.points.map(point => point.values.latency_ns).sort((a, b) => a - b), place = value => lxplore.axes.getModel().getComponent("parallelAxis", axis).axis.scale.getExtent()[1] * value / values.at(-1) * 0.9;
		lxplore.axes.dispatchAction({type: "axisAreaSelect", parallelAxisId: id, intervals: [[0, place(values.at(-1) / 4)]]}); note();
		lxplore.axes.dispatchAction({type: "axisAreaSelect", parallelAxisId: id, intervals: []}); note();
		lxplore.chart.dispatchAction({type: "dataZoom", dataZoomIndex: 0, start: 0, end: 40});
		await new Promise(done => setTimeout(done, 400)); note();
		document.querySelector("#kept button")?.click();
		await new Promise(done => setTimeout(done, 400)); note();
		return {all, found};
	});
	if (kept) {
		const [axis, none, zoom, back] = kept.found, limit = count => Math.min(count, 500);
		expect(axis[0] > 0 && axis[0] < kept.all && axis[1] === limit(axis[0]), `${name}: a range on an axis keeps ${axis} of ${kept.all}`);
		expect(none[0] === kept.all, `${name}: without a range ${none} of ${kept.all} are kept`);
		expect(zoom[0] < kept.all && zoom[1] === limit(zoom[0]), `${name}: a zoom keeps ${zoom} of ${kept.all}`);
		expect(back[0] === kept.all, `${name}: in the end ${back} of ${kept.all} are kept`);
	}
	const box = await (await page.$("#frontier")).boundingBox();
	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
	await page.evaluate(() => { window.frames_seen = 0; const next = () => { frames_seen++; requestAnimationFrame(next); }; next(); });
	const start = Date.now();
	for (let i = 0; Date.now() - start < 2000; i++) await page.mouse.wheel({ deltaY: i % 20 < 10 ? -60 : 60 });
	const rate = await page.evaluate(() => frames_seen) / ((Date.now() - start) / 1000);
	expect(rate >= FRAMES_LEAST, `${name}: only ${rate.toFixed(1)} frames a second`);
	await page.evaluate(() => lxplore.chart.dispatchAction({ type: "dataZoom", start: 0, end: 100 }));
	await page.evaluate(() => lxplore.chart.dispatchAction({ type: "dataZoom", dataZoomIndex: 1, start: 0, end: 100 }));
	const open = tabs.map(tab => tab[0]).find(tab => tab === "timeline") || tabs[0]?.[0];
	await page.$$eval("nav button", (buttons, open) => buttons.find(button => button.textContent === open)?.click(), open);
	await page.screenshot({ path: `${folder}/${name}.png`, fullPage: count < 100 });
	console.log(`${name}: ${count} points, tabs ${tabs.map(tab => tab[0]).join(", ")}; ${rate.toFixed(0)} frames a second`);
	await page.close();
}

for (const file of pages) for (const width of [1280, 390]) await use(file, width);
await browser.close();
process.exit(failed ? 1 : 0);
