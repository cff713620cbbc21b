// amounts.mjs PAGE VALUES: the page writes each value (kind, value, text a line) as the program did.
import { readFileSync } from "node:fs";

const [page, values] = process.argv.slice(2).map(path => readFileSync(path, "utf8"));
const units = JSON.parse(page.match(/id="data">([^<]*)</)[1]).units;
const source = page.slice(page.indexOf("function amounts(units)"), page.indexOf("/* The page: "));
const amount = new Function("units", `${source.replace(/"use strict";\s*$/, "")}; return amounts(units);`)(units);
const kinds = Object.keys(units);
let wrong = 0, count = 0;
for (const line of values.trimEnd().split("\n")) {
	const [, kind, value, text] = line.match(/^(\d) (\S+) (.*)$/), told = amount.text(kinds[kind], Number(value));
	count++;
	if (told !== text && wrong++ < 5) console.error(`${value}: the program says '${text}', the page '${told}'`);
}
if (wrong || !count) { console.error(`${wrong} of ${count} differ`); process.exit(1); }
