"use strict";
/* Amounts for people, by the rule of src/base/amount.h, whose units come with the data of the page:
 * {number, time, energy, bytes: [[name, size, below]..]}, null for a limit that is infinite. */
function amounts(units) {
	const DIGITS = 5, LEAST_POWER = -4, MOST_POWER = 14;
	const endings = [["_ns", "time"], ["_pj", "energy"], ["_bytes", "bytes"]];
	const kind_of = column => (endings.find(([end]) => column.length > end.length && column.endsWith(end)) || ["", "number"])[1];
	function unit(kind, most) {
		const list = units[kind];
		return list.find(([, , below]) => below === null || Math.abs(most) < below);
	}
	function number(value) {
		if (!isFinite(value)) return isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
		if (value === 0) return "0";
		const size = Math.abs(value), before = Number(size.toExponential().split("e")[1]);
		const keep = before >= DIGITS && before <= MOST_POWER ? before + 1 : DIGITS;
		const [mantissa, exponent] = size.toExponential(keep - 1).split("e");
		let digits = mantissa.replace(".", "");
		const power = Number(exponent), plain = power >= LEAST_POWER && power <= MOST_POWER, whole = plain ? power + 1 : 1;
		if (digits.length < whole) digits = digits.padEnd(whole, "0");
		const fraction = (whole > 0 ? digits.slice(whole) : "0".repeat(-whole) + digits).replace(/0+$/, "");
		return (value < 0 ? "-" : "") + (whole > 0 ? digits.slice(0, whole) : "0") + (fraction ? "." + fraction : "") +
			(plain ? "" : `e${power < 0 ? "-" : "+"}${Math.abs(power)}`);
	}
	const within = (value, [name, size]) => number(value / size) + (name ? ` ${name}` : "");
	const text = (kind, value) => within(value, unit(kind, value));
	const title = (column, of) => column.replace(/_(ns|pj)$/, "").replaceAll("_", " ") + (of && of[0] ? ` (${of[0]})` : "");
	return {kind_of, unit, number, within, text, title};
}
