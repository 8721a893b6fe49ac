import {asObject} from './input-schema.js';
import {ProgramError} from './program-error.js';

const MAX_FIELDS = 30;

const isObject = (value: unknown): value is object =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** Evaluates `value[key]` with the semantics and errors of Python. */
export function getItem(value: unknown, key: string | number, line: number): unknown {
	if (typeof value === 'string') {
		const char = codePointAt(value, checkedIndex(key, line, 'string'));
		return char ?? outOfRange(line, 'string');
	}
	if (Array.isArray(value)) {
		const index = checkedIndex(key, line, 'list');
		const at = index < 0 ? value.length + index : index;
		return at >= 0 && at < value.length ? value[at] : outOfRange(line, 'list');
	}
	if (!isObject(value)) {
		throw new ProgramError('TypeError', `'${pythonTypeOf(value)}' object is not subscriptable`, line);
	}
	if (typeof key === 'string' && Object.hasOwn(value, key)) return asObject(value)[key];
	throw new ProgramError('KeyError', typeof key === 'string' ? pythonRepr(key) : String(key), line);
}

/** Returns the key if it is a number, or throws the `TypeError` of Python. */
function checkedIndex(key: string | number, line: number, kind: 'string' | 'list'): number {
	if (typeof key === 'number') return key;
	const suffix = kind === 'list' ? 'or slices, not str' : ", not 'str'";
	throw new ProgramError(
		'TypeError',
		`${kind} indices must be integers${kind === 'list' ? ' ' : ''}${suffix}`,
		line,
	);
}

function outOfRange(line: number, kind: 'string' | 'list'): never {
	throw new ProgramError('IndexError', `${kind} index out of range`, line);
}

const SURROGATE = /[\ud800-\udfff]/;

/**
 * Returns the code point at an index. Negative indexes count from the end. Only texts with surrogates are
 * scanned, up to the index.
 */
function codePointAt(text: string, index: number): string | undefined {
	if (!SURROGATE.test(text)) return text.at(index);
	const at = index < 0 ? offsetFromEnd(text, -index) : offsetFromStart(text, index);
	const code = text.codePointAt(at);
	return code === undefined ? undefined : String.fromCodePoint(code);
}

/** The offset of the code point after `count` code points, or the length of the text if it is shorter. */
function offsetFromStart(text: string, count: number): number {
	let at = 0;
	for (let remaining = count; remaining > 0 && at < text.length; remaining--)
		at += isSurrogatePair(text, at) ? 2 : 1;
	return at;
}

/** The offset of the last `count` code points, or a negative number if the text is shorter. */
function offsetFromEnd(text: string, count: number): number {
	let at = text.length;
	for (let remaining = count; remaining > 0 && at >= 0; remaining--)
		at -= isSurrogatePair(text, at - 2) ? 2 : 1;
	return at;
}

/** Whether a surrogate pair starts at the offset. */
const isSurrogatePair = (text: string, at: number): boolean => (text.codePointAt(at) ?? 0) > 0xffff;

/** Evaluates `value.name` for results. Dicts written in the program have no fields. */
export function getField(value: unknown, name: string, line: number, isDict: boolean): unknown {
	if (!isObject(value) || isDict) {
		throw new ProgramError(
			'AttributeError',
			`'${pythonTypeOf(value)}' object has no attribute '${name}'`,
			line,
		);
	}
	if (Object.hasOwn(value, name)) return asObject(value)[name];
	const fields = Object.keys(value);
	const more = fields.length > MAX_FIELDS ? ` (and ${fields.length - MAX_FIELDS} more)` : '';
	const fieldList = fields.length === 0 ? 'none' : fields.slice(0, MAX_FIELDS).join(', ') + more;
	throw new ProgramError('AttributeError', `This result has no field '${name}'. Fields: ${fieldList}`, line);
}

/** The Python type name of a JSON value. */
function pythonTypeOf(value: unknown): string {
	if (value === null || value === undefined) return 'NoneType';
	if (Array.isArray(value)) return 'list';
	if (typeof value === 'boolean') return 'bool';
	if (typeof value === 'string') return 'str';
	if (typeof value === 'bigint') return 'int';
	if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 1e21 ? 'int' : 'float';
	return 'dict';
}

/** Formats a string like `repr()` in Python. */
function pythonRepr(text: string): string {
	const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
	const inner = text
		.replaceAll('\\', '\\\\')
		.replaceAll(quote, `\\${quote}`)
		.replaceAll('\n', '\\n')
		.replaceAll('\r', '\\r')
		.replaceAll('\t', '\\t');
	return quote + inner + quote;
}
