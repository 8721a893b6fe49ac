import {BridgeError} from '../core/errors.js';
import {isSecretMemberName, REDACTED} from '../core/redact.js';
import type {RecordedMessage} from '../traffic-log/log-contents.js';
import {isObject} from '../util/json.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {formatPointer, matchesPrefix, type PointerPattern, type ValuePath} from './json-pointer.js';
import type {Recording} from './recording.js';

/** A value for a secret, which the log does not contain. */
export type SecretValue = {readonly pattern: PointerPattern; readonly value: unknown};

const REDACTED_JSON = Buffer.from(`"${REDACTED}"`);
const MAX_SHOWN = 10;

/** Fills the redacted secrets in a message with their values. */
export function fillSecrets(line: Buffer, secretValues: readonly SecretValue[]): Buffer {
	if (!line.includes(REDACTED_JSON)) return line;
	const exact = new ExactNumbers();
	const filled = fillRedacted(exact.parse(line.toString()), [], secretValues);
	return Buffer.from(`${exact.stringify(filled)}\n`);
}

function fillRedacted(value: unknown, path: ValuePath, secretValues: readonly SecretValue[]): unknown {
	if (value === REDACTED && isSecretMemberName(String(path.at(-1))))
		return secretValues.find(({pattern}) => matchesExactly(pattern, path))?.value ?? value;
	if (Array.isArray(value))
		return value.map((item, at) => fillRedacted(item, [...path, String(at)], secretValues));
	if (!isObject(value)) return value;
	const entries = Object.entries(value).map(([name, item]) => [
		name,
		fillRedacted(item, [...path, name], secretValues),
	]);
	return Object.fromEntries(entries);
}

const matchesExactly = (pattern: PointerPattern, path: ValuePath): boolean =>
	pattern.length === path.length && matchesPrefix(pattern, path);

function redactedPaths(value: unknown, path: ValuePath = []): ValuePath[] {
	if (value === REDACTED) return isSecretMemberName(String(path.at(-1))) ? [path] : [];
	if (Array.isArray(value)) return value.flatMap((item, at) => redactedPaths(item, [...path, String(at)]));
	if (!isObject(value)) return [];
	return Object.entries(value).flatMap(([name, item]) => redactedPaths(item, [...path, name]));
}

/** Rejects a replay that lacks the values of redacted secrets. */
export function rejectMissingSecrets(
	recording: Recording,
	messages: readonly RecordedMessage[],
	secretValues: readonly SecretValue[],
): void {
	const missing = new Map<string, string>();
	for (const message of messages) {
		if (message.from !== 'client' || missing.size > MAX_SHOWN) continue;
		const bytes = recording.bytes(message);
		if (!bytes.includes(REDACTED_JSON)) continue;
		for (const path of redactedPaths(JSON.parse(bytes.toString())))
			if (!secretValues.some(({pattern}) => matchesExactly(pattern, path)))
				missing.set(formatPointer(path), message.method ?? 'a response');
	}
	if (missing.size > 0) throw missingSecrets([...missing].slice(0, MAX_SHOWN));
}

function missingSecrets(missing: ReadonlyArray<readonly [pointer: string, method: string]>): BridgeError {
	const rows = missing.map(([pointer, method]) => `  ${pointer} in ${method}\n`);
	const [[pointer] = ['']] = missing;
	return new BridgeError(
		'ERR_CONFIG_INVALID',
		`The log does not contain the secrets that have to be sent:\n${rows.join('')}`,
		`Set each with --set ${pointer}=VALUE`,
	);
}
