import {ProgramError} from './program-error.js';
import {members} from './schema.js';

const MAX_FIELDS = 30;

const isObject = (value: unknown): value is object =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** `value[key]` as Python has it, errors included. */
export function item(value: unknown, key: string | number, line: number): unknown {
	if (typeof value === 'string') return element([...value], key, line, 'string');
	if (Array.isArray(value)) return element(value, key, line, 'list');
	if (!isObject(value)) {
		throw new ProgramError('TypeError', `'${typeOf(value)}' object is not subscriptable`, line);
	}
	if (typeof key === 'string' && Object.hasOwn(value, key)) return members(value)[key];
	throw new ProgramError('KeyError', typeof key === 'string' ? quoted(key) : String(key), line);
}

function element(
	items: readonly unknown[],
	key: string | number,
	line: number,
	kind: 'string' | 'list',
): unknown {
	if (typeof key === 'string') {
		const what = kind === 'list' ? 'or slices, not str' : ", not 'str'";
		throw new ProgramError(
			'TypeError',
			`${kind} indices must be integers${kind === 'list' ? ' ' : ''}${what}`,
			line,
		);
	}
	const at = key < 0 ? items.length + key : key;
	if (at < 0 || at >= items.length) throw new ProgramError('IndexError', `${kind} index out of range`, line);
	return items[at];
}

/** `value.name` as results have it. A dict that the program wrote itself has no fields. */
export function field(value: unknown, name: string, line: number, isDict: boolean): unknown {
	if (!isObject(value) || isDict) {
		throw new ProgramError('AttributeError', `'${typeOf(value)}' object has no attribute '${name}'`, line);
	}
	if (Object.hasOwn(value, name)) return members(value)[name];
	const fields = Object.keys(value);
	const more = fields.length > MAX_FIELDS ? ` (and ${fields.length - MAX_FIELDS} more)` : '';
	const known = fields.length === 0 ? 'none' : fields.slice(0, MAX_FIELDS).join(', ') + more;
	throw new ProgramError('AttributeError', `This result has no field '${name}'. Fields: ${known}`, line);
}

/** What Python calls the type of a value that came as JSON. */
function typeOf(value: unknown): string {
	if (value === null || value === undefined) return 'NoneType';
	if (Array.isArray(value)) return 'list';
	if (typeof value === 'boolean') return 'bool';
	if (typeof value === 'string') return 'str';
	if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 1e21 ? 'int' : 'float';
	return 'dict';
}

/** A text in quotes, as Python shows it. */
function quoted(text: string): string {
	const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
	const inner = text
		.replaceAll('\\', '\\\\')
		.replaceAll(quote, `\\${quote}`)
		.replaceAll('\n', '\\n')
		.replaceAll('\r', '\\r')
		.replaceAll('\t', '\\t');
	return quote + inner + quote;
}
