import {element, visible, visibleLines} from './dom.js';
import {count} from './format.js';
import {ExactNumber, isMembers, isSame} from './json.js';

/** Members that are shown at a time; the rest is a button. */
const MANY = 100;
/** Letters of a string, likewise. */
const LONG = 2000;
/** Levels that are open at first, as long as they are not too wide. */
const OPEN_LEVELS = 4;
const WIDE = 30;

/** What a value is compared with: the same message on the other side. */
type Other = {readonly value: unknown} | undefined;

/** A value as a tree that can be folded. What differs from another value is marked. */
export function tree(value: unknown, other?: Other): HTMLElement {
	const root = element('div', {class: 'tree'});
	root.append(node(undefined, value, other, 0));
	return root;
}

function node(key: string | undefined, value: unknown, other: Other, level: number): HTMLElement {
	const entries = entriesOf(value);
	const mark = markOf(value, other, entries !== undefined);
	if (!entries) return element('div', {class: `member ${mark}`}, ...keyOf(key), leaf(value));
	const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
	const sum = entries.length === 0 ? `${open}${close}` : `${open} ${count(entries.length)} ${close}`;
	if (entries.length === 0)
		return element('div', {class: `member ${mark}`}, ...keyOf(key), element('span', {class: 'sum'}, sum));
	const summary = element('summary', {class: mark}, ...keyOf(key), element('span', {class: 'sum'}, sum));
	const details = element('details', {}, summary);
	let isFilled = false;
	const fill = (): void => {
		if (isFilled) return;
		isFilled = true;
		append(details, entries, other, level + 1);
	};
	details.addEventListener('toggle', () => details.open && fill());
	if (level < OPEN_LEVELS && entries.length <= WIDE) {
		details.open = true;
		fill();
	}
	return details;
}

/** Adds members, and a button for more where there are many. */
function append(
	parent: HTMLElement,
	entries: ReadonlyArray<readonly [string, unknown]>,
	other: Other,
	level: number,
): void {
	for (const [key, value] of entries.slice(0, MANY))
		parent.append(node(key, value, memberOf(other, key), level));
	const rest = entries.slice(MANY);
	if (rest.length === 0) return;
	const more = element('button', {type: 'button', class: 'more'}, `${count(rest.length)} more`);
	more.addEventListener('click', () => {
		more.remove();
		append(parent, rest, other, level);
	});
	parent.append(more);
}

const entriesOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> | undefined => {
	if (Array.isArray(value)) return value.map((item, at) => [String(at), item]);
	return isMembers(value) ? Object.entries(value) : undefined;
};

const memberOf = (other: Other, key: string): Other => {
	if (!other) return;
	const {value} = other;
	if (Array.isArray(value)) return {value: value[Number(key)]};
	return {value: isMembers(value) ? value[key] : undefined};
};

function markOf(value: unknown, other: Other, isContainer: boolean): string {
	if (!other || isSame(value, other.value)) return '';
	if (other.value === undefined) return 'added';
	// Of what is inside both, only what differs is marked.
	return isContainer && entriesOf(other.value) ? '' : 'changed';
}

const keyOf = (key: string | undefined): Array<Node | string> =>
	key === undefined ? [] : [element('span', {class: 'key'}, visible(key)), ': '];

function leaf(value: unknown): HTMLElement {
	if (value instanceof ExactNumber) return element('span', {class: 'number'}, value.text);
	if (typeof value === 'number') return element('span', {class: 'number'}, String(value));
	if (typeof value !== 'string') return element('span', {class: 'literal'}, String(value));
	const shown = element('span', {class: 'string'}, quoted(value.slice(0, LONG)));
	if (value.length <= LONG) return shown;
	const more = element(
		'button',
		{type: 'button', class: 'more'},
		`${count(value.length - LONG)} more letters`,
	);
	more.addEventListener('click', () => {
		shown.textContent = quoted(value);
		more.remove();
	});
	return element('span', {}, shown, more);
}

const quoted = (text: string): string => `"${visibleLines(text)}"`;
