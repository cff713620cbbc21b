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
