import {firstCodePoints} from '../util/code-points.js';
import {INVALID, stringAt, type Walk, walkFor} from '../wire/walk.js';
import {REDACTED, redactKnownSecrets} from './known-secrets.js';

export {REDACTED} from './known-secrets.js';

const QUOTE = 0x22;

/** The names, whole, whose values are secrets. Case does not matter, nor which separator there is, if there is one. */
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
	// Of bridge serve, for the mail tools of its sessions.
	'bridge_session_token',
];
const normalizeName = (name: string): string => name.toLowerCase().replace(/[-_]/g, '');
const normalizedSecretNames = new Set(secretNames.map(normalizeName));

/** Whether the value of a member with this name is a secret. */
export const isSecretMemberName = (name: string): boolean => normalizedSecretNames.has(normalizeName(name));

/** Which lengths, first and last letters such a name has. */
const candidates = new Uint8Array(32 * 1024);
const candidateIndex = (length: number, first = 0, last = 0): number =>
	(length << 10) | ((first & 31) << 5) | (last & 31);
for (const name of [...secretNames, ...normalizedSecretNames])
	candidates[candidateIndex(name.length, name.charCodeAt(0), name.charCodeAt(name.length - 1))] = 1;

const MAX_PLAIN_BYTES = 31;
/** The longest of them, each of its letters escaped, with its quotes. */
const MAX_ESCAPED_BYTES = 6 * Math.max(...secretNames.map(({length}) => length)) + 2;

/** Whether the last string, from `start` to `end`, is the key of a secret: of nearly all, two bytes tell that it is not. */
function isSecretKey(message: Buffer, start: number, end: number, hasEscape: boolean): boolean {
	if (end - start > (hasEscape ? MAX_ESCAPED_BYTES : MAX_PLAIN_BYTES)) return false;
	if (!hasEscape && candidates[candidateIndex(end - start - 2, message[start + 1], message[end - 2])] !== 1)
		return false;
	return normalizedSecretNames.has(normalizeName(stringAt(message, start, end)));
}

/** A message without the values of secret keys; itself, where it has none. All else stays byte for byte. */
export const redactMessage = (message: Buffer): Buffer => redactParts([message])[0] as Buffer;

/** The same for a message in parts. */
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
		// What has no end may be secret up to where it is cut off.
		const close = valueEnd === INVALID ? message.length : valueEnd;
		values.add(start, close);
		at = nextQuote(message, close);
	}
	return values.isEmpty ? message : values.redactIn(message);
}

const REPLACEMENT = Buffer.from(`"${REDACTED}"`);

/** Parts of a message, two numbers for each: a message may have a million secrets, each of which would cost an object. */
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

	/** The message with all of them redacted, in one piece of memory. */
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

/** Between strings there are but a few bytes, so a native search would not pay. */
function nextQuote(message: Buffer, at: number): number {
	while (at < message.length && message[at] !== QUOTE) at++;
	return at;
}

/** A header with all that is on its line; as a key of JSON, with its text. */
const headerPattern =
	/(?<![a-z])((?:proxy-)?authorization|(?:set-)?cookie)(?:("\s*:\s*)"(?:[^"\\\r\n]|\\[^\r\n])*"?|(\\*["']?\s*[:=]\s*)[^\r\n]+)/gi;

/**
 * Names as they stand in assignments, options and quoted keys, but not at the end of other words: not progressToken. JSON
 * inside of JSON has backslashes before its quotes.
 */
const assignmentPattern =
	/(?<![a-z])((?:(?:(?:access|refresh|id)[-_ ]?)?token|passw(?:or)?d|(?:client[-_ ]?)?secret|(?:aws[-_ ]?)?secret[-_ ]?(?:access[-_ ]?)?key|api[-_ ]?key)(?:\\*["']?\s*[:=]\s*|[ \t]+(?=[^\s:=])))("(?:[^"\\]|\\[\s\S])*"?|\\+"[^"]*"?|'[^']*'?|\[[^\]]*\]?|(?:true|false|null)(?=[\s,}\]]|$)|\S+)/gi;

/** The user in an address, up to the last `@` before its path: passwords may hold that character. */
const userInfoPattern = /(:\/\/)[^\s/]+@/g;

/** Free text, such as a server's stderr, with likely secrets redacted. Its time is linear in the length. */
export const redactText = (text: string): string =>
	redactKnownSecrets(
		text
			.replace(headerPattern, `$1$2$3${REDACTED}`)
			.replace(assignmentPattern, (whole, name: string, value: string) =>
				isHarmlessValue(name, value) ? whole : `${name}${REDACTED}`,
			)
			.replace(userInfoPattern, `$1${REDACTED}@`),
	);

/** Characters that are read beyond those that are kept, since redaction makes a text shorter. */
const LOOKAHEAD_CHARS = 8000;

/** The first characters of a text, redacted. The rest of the text is not read. */
export function redactStart(text: string, maxLength: number): string {
	const start = redactText(text.slice(0, maxLength + LOOKAHEAD_CHARS));
	// A secret that the cut divides is not recognized. If the cut is near, the text ends after the last redacted secret.
	const isCutNear =
		text.length > maxLength + LOOKAHEAD_CHARS && start.length < maxLength + LOOKAHEAD_CHARS / 2;
	const safe = isCutNear ? start.slice(0, start.lastIndexOf(REDACTED) + REDACTED.length) : start;
	return firstCodePoints(safe, maxLength);
}

/** Whether a name is followed by a JSON value that is not a text, or only by the next word of a sentence: "the token expired". */
const isHarmlessValue = (name: string, value: string): boolean =>
	/^(?:true|false|null)$/.test(value) ||
	(/\s$/.test(name) && !/[:=]\s*$/.test(name) && /^[a-z]{1,12}[.,;!?]?$/.test(value));
