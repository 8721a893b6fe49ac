import {BridgeError} from '../errors.js';
import {isObject} from '../protocol/json.js';
import type {Recorded} from '../store/recorded.js';
import {isSecretName, REDACTED} from '../store/redact.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {covers, type Path, type Pattern, pointerText} from './pointer.js';
import type {Recording} from './recording.js';

/** A value for what the log does not tell. */
export type Given = {readonly pattern: Pattern; readonly value: unknown};

const MARK = Buffer.from(`"${REDACTED}"`);
/** So many are told at once. */
const MAX_TOLD = 10;

/** A message as it is to be sent: with the values that were given for those that the log does not tell. */
export function withSecrets(line: Buffer, given: readonly Given[]): Buffer {
	if (!line.includes(MARK)) return line;
	const exact = new ExactNumbers();
	const filled = fill(exact.parse(line.toString()), [], given);
	return Buffer.from(`${exact.write(filled)}\n`);
}

function fill(value: unknown, path: Path, given: readonly Given[]): unknown {
	if (value === REDACTED && isSecretName(String(path.at(-1))))
		return given.find(({pattern}) => isAt(pattern, path))?.value ?? value;
	if (Array.isArray(value)) return value.map((item, at) => fill(item, [...path, String(at)], given));
	if (!isObject(value)) return value;
	const entries = Object.entries(value).map(([name, item]) => [name, fill(item, [...path, name], given)]);
	return Object.fromEntries(entries);
}

const isAt = (pattern: Pattern, path: Path): boolean =>
	pattern.length === path.length && covers(pattern, path);

/** Where a message has a value that the log does not tell. */
function redactedIn(value: unknown, path: Path = []): Path[] {
	if (value === REDACTED) return isSecretName(String(path.at(-1))) ? [path] : [];
	if (Array.isArray(value)) return value.flatMap((item, at) => redactedIn(item, [...path, String(at)]));
	if (!isObject(value)) return [];
	return Object.entries(value).flatMap(([name, item]) => redactedIn(item, [...path, name]));
}

/** Refuses to send what the log does not tell, before anything is sent. */
export function refuseRedacted(
	recording: Recording,
	messages: readonly Recorded[],
	given: readonly Given[],
): void {
	const missing = new Map<string, string>();
	for (const message of messages) {
		if (message.from !== 'client' || missing.size > MAX_TOLD) continue;
		const bytes = recording.bytes(message);
		if (!bytes.includes(MARK)) continue;
		for (const path of redactedIn(JSON.parse(bytes.toString())))
			if (!given.some(({pattern}) => isAt(pattern, path)))
				missing.set(pointerText(path), message.method ?? 'an answer');
	}
	if (missing.size > 0) throw redacted([...missing].slice(0, MAX_TOLD));
}

function redacted(missing: ReadonlyArray<readonly [pointer: string, method: string]>): BridgeError {
	const rows = missing.map(([pointer, method]) => `  ${pointer} in ${method}\n`);
	const [[pointer] = ['']] = missing;
	return new BridgeError(
		'ERR_CONFIG_INVALID',
		`The log does not have the values of secrets that would have to be sent:\n${rows.join('')}`,
		`Give each: --set ${pointer}=VALUE`,
	);
}
