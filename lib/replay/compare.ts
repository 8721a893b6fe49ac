import {isSecretMemberName, REDACTED} from '../core/redact.js';
import {isObject, type JsonObject} from '../util/json.js';
import {matchesPrefix, type PointerPattern, type ValuePath} from './json-pointer.js';
import {differsOnlyInVolatileParts} from './volatile-values.js';

export type ComparisonRules = {
	readonly ignored: readonly PointerPattern[];
	/** Whether times, ids and tokens have to be equal, too. */
	readonly isStrict: boolean;
};

/** A difference between two values. A missing value is undefined. */
export type ValueDifference = {
	readonly path: ValuePath;
	readonly recorded: unknown;
	readonly live: unknown;
};

const MAX_DIFFERENCES = 1000;

export function findDifferences(
	recorded: unknown,
	live: unknown,
	rules: ComparisonRules,
	{path = [], onEquivalent}: {readonly path?: ValuePath; readonly onEquivalent?: OnEquivalent} = {},
): ValueDifference[] {
	const found: ValueDifference[] = [];
	compare(recorded, live, path, {rules, found, onEquivalent});
	return found;
}

/** Called with two different texts that count as equal. */
type OnEquivalent = (recorded: string, live: string) => void;

type Comparison = {
	readonly rules: ComparisonRules;
	readonly found: ValueDifference[];
	readonly onEquivalent: OnEquivalent | undefined;
};

function compare(recorded: unknown, live: unknown, path: ValuePath, search: Comparison): void {
	if (Object.is(recorded, live) || search.found.length >= MAX_DIFFERENCES) return;
	if (search.rules.ignored.some(pattern => matchesPrefix(pattern, path))) return;
	const last = path.at(-1) ?? '';
	const name = typeof last === 'string' ? last : last[0];
	if (isSecretMemberName(name) && (recorded === REDACTED || live === REDACTED)) return;
	if (Array.isArray(recorded) && Array.isArray(live)) compareLists(recorded, live, path, search);
	else if (isObject(recorded) && isObject(live)) compareObjects(recorded, live, path, search);
	else if (search.rules.isStrict || !differsOnlyInVolatileParts(name, recorded, live))
		search.found.push({path, recorded, live});
	else notifyEquivalent(recorded, live, search);
}

function notifyEquivalent(recorded: unknown, live: unknown, {onEquivalent}: Comparison): void {
	if (typeof recorded === 'string' && typeof live === 'string') onEquivalent?.(recorded, live);
}

function compareObjects(recorded: JsonObject, live: JsonObject, path: ValuePath, search: Comparison): void {
	for (const name of new Set([...Object.keys(recorded), ...Object.keys(live)]))
		compare(ownMember(recorded, name), ownMember(live, name), [...path, name], search);
}

/** Returns an own member, and never an inherited one. */
const ownMember = (object: JsonObject, name: string): unknown =>
	Object.hasOwn(object, name) ? object[name] : undefined;

function compareLists(
	recorded: readonly unknown[],
	live: readonly unknown[],
	path: ValuePath,
	search: Comparison,
): void {
	const names = memberNames(recorded);
	const liveNames = memberNames(live);
	if (names && liveNames) {
		compareNamed({names, items: recorded}, {names: liveNames, items: live}, path, search);
		return;
	}
	const length = Math.max(recorded.length, live.length);
	for (let at = 0; at < length; at++) compare(recorded[at], live[at], [...path, String(at)], search);
}

type NamedList = {readonly names: readonly string[]; readonly items: readonly unknown[]};

/** Compares lists by the names of their items, so that an inserted item is one difference. */
function compareNamed(recorded: NamedList, live: NamedList, path: ValuePath, search: Comparison): void {
	const liveIndexes = new Map(live.names.map((name, at) => [name, at]));
	for (const [at, name] of recorded.names.entries()) {
		const liveIndex = liveIndexes.get(name);
		const other = liveIndex === undefined ? undefined : live.items[liveIndex];
		compare(recorded.items[at], other, [...path, [name, String(at)]], search);
	}
	const recordedNames = new Set(recorded.names);
	for (const [at, name] of live.names.entries())
		if (!recordedNames.has(name)) compare(undefined, live.items[at], [...path, [name, String(at)]], search);
	const recordedOrder = recorded.names.filter(name => liveIndexes.has(name));
	const liveOrder = live.names.filter(name => recordedNames.has(name));
	if (recordedOrder.some((name, at) => name !== liveOrder[at]))
		search.found.push({
			path,
			recorded: `in this order: ${recordedOrder.join(', ')}`,
			live: `in this order: ${liveOrder.join(', ')}`,
		});
}

/** Returns the names of the items of a list, if all items have unique names. */
function memberNames(list: readonly unknown[]): string[] | undefined {
	for (const key of ['name', 'uri', 'uriTemplate']) {
		const names = list.map(item => (isObject(item) ? ownMember(item, key) : undefined));
		const isNamed = names.every(name => typeof name === 'string') && new Set(names).size === list.length;
		if (list.length > 0 && isNamed) return names as string[];
	}
	return;
}
