import {isObject, type JsonObject} from '../protocol/json.js';
import {isSecretName, REDACTED} from '../store/redact.js';
import {isAlike} from './alike.js';
import {covers, type Path, type Pattern} from './pointer.js';

/** What makes no difference. */
export type Rules = {
	/** Where it does not matter what there is. */
	readonly ignored: readonly Pattern[];
	/** Whether times, ids and tokens have to be the very same ones. */
	readonly isStrict: boolean;
};

/** One place where two values differ. What is not there is undefined. */
export type Difference = {
	readonly path: Path;
	readonly recorded: unknown;
	readonly live: unknown;
};

/** More are counted by nobody. */
const MAX_DIFFERENCES = 1000;

/** Where a live value differs from the recorded one. */
export function differences(
	recorded: unknown,
	live: unknown,
	rules: Rules,
	{path = [], onAlike}: {readonly path?: Path; readonly onAlike?: OnAlike} = {},
): Difference[] {
	const found: Difference[] = [];
	compare(recorded, live, path, {rules, found, onAlike});
	return found;
}

/** Told of two texts that are not the same, and as good as that. */
export type OnAlike = (recorded: string, live: string) => void;

type Search = {
	readonly rules: Rules;
	readonly found: Difference[];
	readonly onAlike: OnAlike | undefined;
};

function compare(recorded: unknown, live: unknown, path: Path, search: Search): void {
	if (Object.is(recorded, live) || search.found.length >= MAX_DIFFERENCES) return;
	if (search.rules.ignored.some(pattern => covers(pattern, path))) return;
	const last = path.at(-1) ?? '';
	const name = typeof last === 'string' ? last : last[0];
	if (isSecretName(name) && (recorded === REDACTED || live === REDACTED)) return;
	if (Array.isArray(recorded) && Array.isArray(live)) compareLists(recorded, live, path, search);
	else if (isObject(recorded) && isObject(live)) compareObjects(recorded, live, path, search);
	else if (search.rules.isStrict || !isAlike(name, recorded, live)) search.found.push({path, recorded, live});
	else tellAlike(recorded, live, search);
}

function tellAlike(recorded: unknown, live: unknown, {onAlike}: Search): void {
	if (typeof recorded === 'string' && typeof live === 'string') onAlike?.(recorded, live);
}

function compareObjects(recorded: JsonObject, live: JsonObject, path: Path, search: Search): void {
	for (const name of new Set([...Object.keys(recorded), ...Object.keys(live)]))
		compare(own(recorded, name), own(live, name), [...path, name], search);
}

/** A member, and none that every object has. */
const own = (object: JsonObject, name: string): unknown =>
	Object.hasOwn(object, name) ? object[name] : undefined;

function compareLists(
	recorded: readonly unknown[],
	live: readonly unknown[],
	path: Path,
	search: Search,
): void {
	const names = namesOf(recorded);
	const liveNames = namesOf(live);
	if (names && liveNames) {
		compareNamed({names, items: recorded}, {names: liveNames, items: live}, path, search);
		return;
	}
	const length = Math.max(recorded.length, live.length);
	for (let at = 0; at < length; at++) compare(recorded[at], live[at], [...path, String(at)], search);
}

type Named = {readonly names: readonly string[]; readonly items: readonly unknown[]};

/** Lists whose members have names are compared name by name, so that one more in the middle is one difference. */
function compareNamed(recorded: Named, live: Named, path: Path, search: Search): void {
	const places = new Map(live.names.map((name, at) => [name, at]));
	for (const [at, name] of recorded.names.entries()) {
		const place = places.get(name);
		const other = place === undefined ? undefined : live.items[place];
		compare(recorded.items[at], other, [...path, [name, String(at)]], search);
	}
	const known = new Set(recorded.names);
	for (const [at, name] of live.names.entries())
		if (!known.has(name)) compare(undefined, live.items[at], [...path, [name, String(at)]], search);
	const order = recorded.names.filter(name => places.has(name));
	const liveOrder = live.names.filter(name => known.has(name));
	if (order.some((name, at) => name !== liveOrder[at]))
		search.found.push({
			path,
			recorded: `in this order: ${order.join(', ')}`,
			live: `in this order: ${liveOrder.join(', ')}`,
		});
}

/** What the members of a list go by, if all of them have a name of their own. */
function namesOf(list: readonly unknown[]): string[] | undefined {
	for (const key of ['name', 'uri', 'uriTemplate']) {
		const names = list.map(item => (isObject(item) ? own(item, key) : undefined));
		const isNamed = names.every(name => typeof name === 'string') && new Set(names).size === list.length;
		if (list.length > 0 && isNamed) return names as string[];
	}
	return;
}
