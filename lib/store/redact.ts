import {BAD, textOf, type Walk, walkFor} from '../wire/walk.js';

const QUOTE = 0x22;

/** What stands in a log for what must not. */
export const REDACTED = '[redacted]';

/** The names, whole, whose values are secrets. Case does not matter, nor which separator there is, if there is one. */
const names = [
	...['authorization', 'token', 'access_token', 'refresh_token', 'id_token', 'password', 'passwd'],
	...['secret', 'client_secret', 'api_key', 'cookie', 'set_cookie'],
];
const bare = (name: string): string => name.toLowerCase().replace(/[-_]/g, '');
const secrets = new Set(names.map(bare));

/** Whether the value of a member with this name is a secret. */
export const isSecretName = (name: string): boolean => secrets.has(bare(name));

/** Which lengths, first and last letters such a name has. */
const suspects = new Uint8Array(32 * 1024);
const suspect = (length: number, first = 0, last = 0): number =>
	(length << 10) | ((first & 31) << 5) | (last & 31);
for (const name of [...names, ...secrets])
	suspects[suspect(name.length, name.charCodeAt(0), name.charCodeAt(name.length - 1))] = 1;

const MAX_PLAIN = 31;
/** The longest of them, each of its letters escaped, with its quotes. */
const MAX_ESCAPED = 6 * 'authorization'.length + 2;

/** Whether the last string, from `start` to `end`, is the key of a secret: of nearly all, two bytes tell that it is not. */
function isSecretKey(message: Buffer, start: number, end: number, hasEscape: boolean): boolean {
	if (end - start > (hasEscape ? MAX_ESCAPED : MAX_PLAIN)) return false;
	if (!hasEscape && suspects[suspect(end - start - 2, message[start + 1], message[end - 2])] !== 1)
		return false;
	return secrets.has(bare(textOf(message, start, end)));
}

/** A message without the values of secret keys; itself, where it has none. All else stays byte for byte. */
export const redactMessage = (message: Buffer): Buffer => redactParts([message])[0] as Buffer;

/** The same for a message in parts. */
export function redactParts(parts: readonly Buffer[]): readonly Buffer[] {
	const walk = walkFor(parts.reduce((sum, {length}) => sum + length, 0));
	const end = walk.layAll(parts);
	walk.seal(end);
	const message = walk.text.subarray(0, end);
	const without = redacted(message, walk);
	return without === message ? parts : [without];
}

function redacted(message: Buffer, walk: Walk): Buffer {
	const parts: Buffer[] = [];
	let done = 0;
	let at = nextQuote(message, 0);
	while (at < message.length) {
		const end = walk.endOfString(at);
		if (end === BAD) break;
		const start = isSecretKey(message, at, end, walk.hasEscape) ? walk.afterColon(end) : BAD;
		if (start === BAD) {
			at = nextQuote(message, end);
			continue;
		}
		const valueEnd = walk.endOfValue(start);
		// What has no end may be secret up to where it is cut off.
		const close = valueEnd === BAD ? message.length : valueEnd;
		parts.push(message.subarray(done, start), Buffer.from(`"${REDACTED}"`));
		done = close;
		at = nextQuote(message, close);
	}
	return parts.length === 0 ? message : Buffer.concat([...parts, message.subarray(done)]);
}

/** Between strings there are but a few bytes, so a native search would not pay. */
function nextQuote(message: Buffer, at: number): number {
	while (at < message.length && message[at] !== QUOTE) at++;
	return at;
}

/** A header with all that is on its line. */
const header = /(?<![a-z])((?:proxy-)?authorization|(?:set-)?cookie)(["']?\s*[:=]\s*)[^\r\n]+/gi;

/** Names as they stand in assignments, options and quoted keys, but not at the end of other words: not progressToken. */
const assignment =
	/(?<![a-z])((?:(?:(?:access|refresh|id)[-_]?)?token|passw(?:or)?d|(?:client[-_]?)?secret|api[-_]?key)(?:["']?\s*[:=]\s*|\s+(?=[^\s:=])))("[^"]*"?|'[^']*'?|\[[^\]]*\]?|\S+)/gi;

/** The user in an address. */
const user = /(:\/\/)[^\s/@]+@/g;

/** What is known by its own looks: keys of well-known services, JSON web tokens, and what follows "Bearer". */
const shapes =
	/\b(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[abeprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{10,4000}\.[\w-]{10,4000}\.[\w-]*|(?<=\bBearer )[\w.~+/-]{8,}=*)/g;

/** Free text, a server's stderr say, without what looks like a secret in it. */
export const redactText = (text: string): string =>
	text
		.replace(header, `$1$2${REDACTED}`)
		.replace(assignment, (whole, name: string, value: string) =>
			isProse(name, value) ? whole : `${name}${REDACTED}`,
		)
		.replace(user, `$1${REDACTED}@`)
		.replace(shapes, REDACTED);

/** Whether a name is only followed by the next word of a sentence: "the token expired". */
const isProse = (name: string, value: string): boolean =>
	/\s$/.test(name) && !/[:=]\s*$/.test(name) && /^[a-z]{1,12}[.,;!?]?$/.test(value);
