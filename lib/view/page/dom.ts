type Attributes = {readonly [name: string]: string | number | boolean | undefined};
type Child = Node | string | undefined;

/** An element. Texts become text, whatever they look like; nothing here ever makes markup of one. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
	tag: Tag,
	attributes: Attributes = {},
	...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
	return fillElement(document.createElement(tag), attributes, children);
}

/** An element of a drawing. */
export function svgElement<Tag extends keyof SVGElementTagNameMap>(
	tag: Tag,
	attributes: Attributes = {},
	...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
	return fillElement(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function fillElement<T extends Element>(made: T, attributes: Attributes, children: readonly Child[]): T {
	for (const [name, value] of Object.entries(attributes))
		if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : String(value));
	made.append(...children.filter(child => child !== undefined));
	return made;
}

/** The element that the page has with this id. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
	const found = document.getElementById(id);
	if (!found) throw new Error(`There is no #${id}.`);
	return found as T;
}

/** A button that does something. */
export function button(text: string, title: string, onClick: () => void): HTMLButtonElement {
	const made = element('button', {type: 'button', class: 'button', title}, text);
	made.addEventListener('click', onClick);
	return made;
}

/** What changes the direction or the look of a text without being seen. */
const hiddenCharacters = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** A text in which nothing is hidden: control characters have signs of their own, or their numbers. */
export const showHidden = (text: string): string =>
	text.replace(hiddenCharacters, char => {
		const code = char.charCodeAt(0);
		if (code < 0x20) return String.fromCharCode(0x2400 + code);
		return `‹${code.toString(16).padStart(4, '0')}›`;
	});

/** The same, with its lines. */
export const showHiddenInLines = (text: string): string =>
	text
		.split('\n')
		.map(line => line.split('\t').map(showHidden).join('\t'))
		.join('\n');

let toastTimer: ReturnType<typeof setTimeout> | undefined;

/** Says something in passing. */
export function showToast(text: string): void {
	const toast = byId('said');
	toast.textContent = text;
	toast.classList.add('shown');
	clearTimeout(toastTimer);
	toastTimer = setTimeout(() => toast.classList.remove('shown'), 1800);
}
