// Elements enough for the program of a page to run without a browser.

export class Element {
	constructor(name) { this.name = name; this.attributes = {}; this.children = []; this.style = {}; this.classList = { toggle() {}, add() {} }; }
	setAttribute(key, value) { this.attributes[key] = String(value); }
	getAttribute(key) { return this.attributes[key] ?? null; }
	addEventListener(kind, act) { this[`on${kind}`] = act; }
	append(...more) { this.children.push(...more.filter(child => child !== "")); }
	prepend(...more) { this.children.unshift(...more); }
	replaceChildren(...more) { this.children = []; this.append(...more); }
	set textContent(text) { this.children = [text]; }
	get textContent() { return this.children.map(child => child instanceof Element ? child.textContent : String(child)).join(""); }
	get value() { return this.chosen ?? (this.all("option").find(option => "selected" in option.attributes) || this.all("option")[0])?.attributes.value; }
	set value(value) { this.chosen = value; }
	all(name) { return this.children.filter(child => child instanceof Element).flatMap(child => [...(child.name === name ? [child] : []), ...child.all(name)]); }
}

// Runs the program of a page; its root.
export function run(page) {
	const root = new Element("main"), data = new Element("script");
	data.append(page.match(/id="data">([^<]*)</)[1]);
	globalThis.window = globalThis;
	globalThis.document = { getElementById: id => id === "data" ? data : root, createElement: name => new Element(name), createElementNS: (space, name) => new Element(name), documentElement: root, createTextNode: text => text };
	globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#000" });
	globalThis.matchMedia = () => ({ addEventListener() {}, matches: false });
	globalThis.ResizeObserver = class { observe() {} };
	new Function(page.slice(page.lastIndexOf("<script>") + 8, page.lastIndexOf("</script>")))();
	return root;
}
