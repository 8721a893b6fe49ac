type Attributes = {readonly [name: string]: string | number | boolean | undefined};
type Child = Node | string | undefined;

/** Creates an element. Strings always become text nodes, never markup. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
	tag: Tag,
	attributes: Attributes = {},
	...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
	return fillElement(document.createElement(tag), attributes, children);
}

export function svgElement<Tag extends keyof SVGElementTagNameMap>(
	tag: Tag,
	attributes: Attributes = {},
	...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
	return fillElement(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function fillElement<T extends Element>(created: T, attributes: Attributes, children: readonly Child[]): T {
	for (const [name, value] of Object.entries(attributes))
		if (value !== undefined && value !== false)
			created.setAttribute(name, value === true ? '' : String(value));
	created.append(...children.filter(child => child !== undefined));
	return created;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
	const found = document.getElementById(id);
	if (!found) throw new Error(`There is no #${id}.`);
	return found as T;
}

export function button(text: string, title: string, onClick: () => void): HTMLButtonElement {
	const created = element('button', {type: 'button', class: 'button', title}, text);
	created.addEventListener('click', onClick);
	return created;
}

/** Invisible characters that change the direction or the look of a text. */
const hiddenCharacters = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** Makes hidden characters visible: control characters become symbols, others their code points. */
export const showHidden = (text: string): string =>
	text.replace(hiddenCharacters, char => {
		const code = char.charCodeAt(0);
		if (code < 0x20) return String.fromCharCode(0x2400 + code);
		return `‹${code.toString(16).padStart(4, '0')}›`;
	});

/** Like `showHidden`, but keeps line feeds and tabs. */
export const showHiddenInLines = (text: string): string =>
	text
		.split('\n')
		.map(line => line.split('\t').map(showHidden).join('\t'))
		.join('\n');

let toastTimer: ReturnType<typeof setTimeout> | undefined;

/** Shows a short message for a moment. */
export function showToast(text: string): void {
	const toast = byId('toast');
	toast.textContent = text;
	toast.classList.add('shown');
	clearTimeout(toastTimer);
	toastTimer = setTimeout(() => toast.classList.remove('shown'), 1800);
}
