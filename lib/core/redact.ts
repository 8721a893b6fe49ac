import {firstCodePoints} from '../util/code-points.js';
import {INVALID, stringAt, type Walk, walkFor} from '../wire/walk.js';
import {REDACTED, redactKnownSecrets} from './known-secrets.js';

export {REDACTED} from './known-secrets.js';

const QUOTE = 0x22;

/** Names whose values are secrets. Case is ignored, and so are hyphens and underscores. */
const secretNames = [
	'authorization',
	'token',
	'access_token',
	'refresh_token',
	'id_token',
	'password',
	'passwd',
	'secret',
	'client_secret',
	'api_key',
	'cookie',
	'set_cookie',
	'private_key',
	'secret_access_key',
	'aws_secret_access_key',
	'session_token',
	'aws_session_token',
	// Sent by bridge serve for the mail tools of its sessions.
	'bridge_session_token',
];
const normalizeName = (name: string): string => name.toLowerCase().replace(/[-_]/g, '');
const normalizedSecretNames = new Set(secretNames.map(normalizeName));

export const isSecretMemberName = (name: string): boolean => normalizedSecretNames.has(normalizeName(name));

/** A filter by length, first and last letter of the secret names. */
const candidates = new Uint8Array(32 * 1024);
const candidateIndex = (length: number, first = 0, last = 0): number =>
	(length << 10) | ((first & 31) << 5) | (last & 31);
for (const name of [...secretNames, ...normalizedSecretNames])
	candidates[candidateIndex(name.length, name.charCodeAt(0), name.charCodeAt(name.length - 1))] = 1;

const MAX_PLAIN_BYTES = 31;
/** The longest name with all letters escaped, including its quotes. */
const MAX_ESCAPED_BYTES = 6 * Math.max(...secretNames.map(({length}) => length)) + 2;

/**
 * Whether the string from `start` to `end`, which was walked last, is the key of a secret. For most strings,
 * the length and two bytes decide.
 */
function isSecretKey(message: Buffer, start: number, end: number, hasEscape: boolean): boolean {
	if (end - start > (hasEscape ? MAX_ESCAPED_BYTES : MAX_PLAIN_BYTES)) return false;
	if (!hasEscape && candidates[candidateIndex(end - start - 2, message[start + 1], message[end - 2])] !== 1)
		return false;
	return normalizedSecretNames.has(normalizeName(stringAt(message, start, end)));
}

/**
 * Redacts the values of secret keys. Returns the same buffer if there are none. All other bytes stay the
 * same.
 */
export const redactMessage = (message: Buffer): Buffer => redactParts([message])[0] as Buffer;

/** Redacts the values of secret keys in a message in parts. */
export function redactParts(parts: readonly Buffer[]): readonly Buffer[] {
	const walk = walkFor(parts.reduce((sum, {length}) => sum + length, 0));
	const end = walk.writeAll(parts);
	walk.seal(end);
	const message = walk.text.subarray(0, end);
	const redactedMessage = redactSecretValues(message, walk);
	return redactedMessage === message ? parts : [redactedMessage];
}

function redactSecretValues(message: Buffer, walk: Walk): Buffer {
	const values = new Ranges();
	let at = nextQuote(message, 0);
	while (at < message.length) {
		const end = walk.endOfString(at);
		if (end === INVALID) break;
		const start = isSecretKey(message, at, end, walk.hasEscape) ? walk.afterColon(end) : INVALID;
		if (start === INVALID) {
			at = nextQuote(message, end);
			continue;
		}
		const valueEnd = walk.endOfValue(start);
		// A truncated value is redacted to the end of the message.
		const close = valueEnd === INVALID ? message.length : valueEnd;
		values.add(start, close);
		at = nextQuote(message, close);
	}
	return values.isEmpty ? message : values.redactIn(message);
}

const REPLACEMENT = Buffer.from(`"${REDACTED}"`);

/**
 * Ranges of a message as pairs of numbers. A message may contain a million secrets, and an object for each
 * would be expensive.
 */
class Ranges {
	#ends = new Uint32Array(16);
	#used = 0;
	#bytes = 0;

	get isEmpty(): boolean {
		return this.#used === 0;
	}

	add(start: number, end: number): void {
		if (this.#used === this.#ends.length) {
			const more = new Uint32Array(2 * this.#ends.length);
			more.set(this.#ends);
			this.#ends = more;
		}
		this.#ends[this.#used++] = start;
		this.#ends[this.#used++] = end;
		this.#bytes += end - start;
	}

	/** Returns the message with all ranges redacted, in one buffer. */
	redactIn(message: Buffer): Buffer {
		const count = this.#used / 2;
		const result = Buffer.allocUnsafe(message.length - this.#bytes + count * REPLACEMENT.length);
		let from = 0;
		let to = 0;
		for (let at = 0; at < this.#used; at += 2) {
			to += message.copy(result, to, from, this.#ends[at]);
			to += REPLACEMENT.copy(result, to);
			from = this.#ends[at + 1] ?? message.length;
		}
		message.copy(result, to, from);
		return result;
	}
}

/**
 * Returns the position of the next quote. A native search does not pay off, since strings are only a few
 * bytes apart.
 */
function nextQuote(message: Buffer, at: number): number {
	while (at < message.length && message[at] !== QUOTE) at++;
	return at;
}

/** A header with the rest of its line or, as a JSON key, with its value. */
const headerPattern =
	/(?<![a-z])((?:proxy-)?authorization|(?:set-)?cookie)(?:("\s*:\s*)"(?:[^"\\\r\n]|\\[^\r\n])*"?|(\\*["']?\s*[:=]\s*)[^\r\n]+)/gi;

/**
 * Names in assignments, options and quoted keys, but not at the end of other words such as progressToken.
 * JSON inside of JSON has backslashes before its quotes.
 */
const assignmentPattern =
	/(?<![a-z])((?:(?:(?:access|refresh|id)[-_ ]?)?token|passw(?:or)?d|(?:client[-_ ]?)?secret|(?:aws[-_ ]?)?secret[-_ ]?(?:access[-_ ]?)?key|api[-_ ]?key)(?:\\*["']?\s*[:=]\s*|[ \t]+(?=[^\s:=])))("(?:[^"\\]|\\[\s\S])*"?|\\+"[^"]*"?|'[^']*'?|\[[^\]]*\]?|(?:true|false|null)(?=[\s,}\]]|$)|\S+)/gi;

/** The user info of a URL, up to the last `@` before the path, since passwords may contain `@`. */
const userInfoPattern = /(:\/\/)[^\s/]+@/g;

/** Redacts likely secrets in free text, such as the stderr of a child. Takes linear time. */
export const redactText = (text: string): string =>
	redactKnownSecrets(
		text
			.replace(headerPattern, `$1$2$3${REDACTED}`)
			.replace(assignmentPattern, (whole, name: string, value: string) =>
				isHarmlessValue(name, value) ? whole : `${name}${REDACTED}`,
			)
			.replace(userInfoPattern, `$1${REDACTED}@`),
	);

/** Characters read beyond the maximum length, since redaction shortens a text. */
const LOOKAHEAD_CHARS = 8000;

/** Returns the first characters of a text, redacted. The rest of the text is not read. */
export function redactStart(text: string, maxLength: number): string {
	const start = redactText(text.slice(0, maxLength + LOOKAHEAD_CHARS));
	// A secret that is cut in two is not recognized. If the cut is near, the text therefore ends after the
	// last redacted secret.
	const isCutNear =
		text.length > maxLength + LOOKAHEAD_CHARS && start.length < maxLength + LOOKAHEAD_CHARS / 2;
	const safe = isCutNear ? start.slice(0, start.lastIndexOf(REDACTED) + REDACTED.length) : start;
	return firstCodePoints(safe, maxLength);
}

/**
 * Whether a name is followed by a JSON literal, or only by the next word of a sentence as in "the token
 * expired".
 */
const isHarmlessValue = (name: string, value: string): boolean =>
	/^(?:true|false|null)$/.test(value) ||
	(/\s$/.test(name) && !/[:=]\s*$/.test(name) && /^[a-z]{1,12}[.,;!?]?$/.test(value));
