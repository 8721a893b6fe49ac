import {element, showHidden, showHiddenInLines} from './dom.js';
import {formatCount} from './format.js';
import {isDeepEqual, isJsonMembers, SourceNumber} from './json.js';

/** Members shown at a time. A button shows more. */
const MAX_MEMBERS = 100;
/** Characters of a string shown at first. */
const MAX_CHARACTERS = 2000;
/** Levels expanded at first, unless they have too many members. */
const OPEN_LEVELS = 4;
const MAX_OPEN_MEMBERS = 30;

/** The value to compare with: the same message on the other side. */
type ComparedValue = {readonly value: unknown} | undefined;

/** Shows a value as a collapsible tree. Differences from another value are marked. */
export function jsonTree(value: unknown, other?: ComparedValue): HTMLElement {
	const root = element('div', {class: 'tree'});
	root.append(treeNode(undefined, value, other, 0));
	return root;
}

function treeNode(key: string | undefined, value: unknown, other: ComparedValue, level: number): HTMLElement {
	const entries = memberEntries(value);
	const mark = differenceClass(value, other, entries !== undefined);
	if (!entries) return element('div', {class: `member ${mark}`}, ...keyLabel(key), leafElement(value));
	const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
	const sum = entries.length === 0 ? `${open}${close}` : `${open} ${formatCount(entries.length)} ${close}`;
	if (entries.length === 0)
		return element('div', {class: `member ${mark}`}, ...keyLabel(key), element('span', {class: 'sum'}, sum));
	const summary = element('summary', {class: mark}, ...keyLabel(key), element('span', {class: 'sum'}, sum));
	const details = element('details', {}, summary);
	let isFilled = false;
	const fill = (): void => {
		if (isFilled) return;
		isFilled = true;
		appendMembers(details, entries, other, level + 1);
	};
	details.addEventListener('toggle', () => details.open && fill());
	if (level < OPEN_LEVELS && entries.length <= MAX_OPEN_MEMBERS) {
		details.open = true;
		fill();
	}
	return details;
}

/** Appends members, and a button if there are more. */
function appendMembers(
	parent: HTMLElement,
	entries: ReadonlyArray<readonly [string, unknown]>,
	other: ComparedValue,
	level: number,
): void {
	for (const [key, value] of entries.slice(0, MAX_MEMBERS))
		parent.append(treeNode(key, value, comparedMember(other, key), level));
	const rest = entries.slice(MAX_MEMBERS);
	if (rest.length === 0) return;
	const more = element('button', {type: 'button', class: 'more'}, `${formatCount(rest.length)} more`);
	more.addEventListener('click', () => {
		more.remove();
		appendMembers(parent, rest, other, level);
	});
	parent.append(more);
}

const memberEntries = (value: unknown): ReadonlyArray<readonly [string, unknown]> | undefined => {
	if (Array.isArray(value)) return value.map((item, at) => [String(at), item]);
	return isJsonMembers(value) ? Object.entries(value) : undefined;
};

const comparedMember = (other: ComparedValue, key: string): ComparedValue => {
	if (!other) return;
	const {value} = other;
	if (Array.isArray(value)) return {value: value[Number(key)]};
	return {value: isJsonMembers(value) ? value[key] : undefined};
};

function differenceClass(value: unknown, other: ComparedValue, isContainer: boolean): string {
	if (!other || isDeepEqual(value, other.value)) return '';
	if (other.value === undefined) return 'added';
	// Containers on both sides are not marked themselves. Only their differing members are.
	return isContainer && memberEntries(other.value) ? '' : 'changed';
}

const keyLabel = (key: string | undefined): Array<Node | string> =>
	key === undefined ? [] : [element('span', {class: 'key'}, showHidden(key)), ': '];

function leafElement(value: unknown): HTMLElement {
	if (value instanceof SourceNumber) return element('span', {class: 'number'}, value.text);
	if (typeof value === 'number') return element('span', {class: 'number'}, String(value));
	if (typeof value !== 'string') return element('span', {class: 'literal'}, String(value));
	const shown = element('span', {class: 'string'}, quotedText(value.slice(0, MAX_CHARACTERS)));
	if (value.length <= MAX_CHARACTERS) return shown;
	const more = element(
		'button',
		{type: 'button', class: 'more'},
		`${formatCount(value.length - MAX_CHARACTERS)} more characters`,
	);
	more.addEventListener('click', () => {
		shown.textContent = quotedText(value);
		more.remove();
	});
	return element('span', {}, shown, more);
}

const quotedText = (text: string): string => `"${showHiddenInLines(text)}"`;
