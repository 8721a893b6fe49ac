import {say} from './dom.js';
import {isMembers, written} from './json.js';
import {model} from './model.js';
import type {ListedRow} from './types.js';

/** Puts a text where it can be pasted from. */
export async function copy(text: string, what: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
		say(`${what} copied`);
	} catch {
		say(`${what} could not be copied: the browser does not allow it`);
	}
}

/** A text as a shell takes it: nothing in it is more than a letter, and all of it is ASCII. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const ascii = (text: string): string =>
	text.replace(/[\u007f-\uffff]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A name as it may stand in an address. */
const safeName = (name: string): string => (/^[\w-]{1,64}$/.test(name) ? name : 'SERVICE');

/** A message as a command that sends it, over streamable HTTP. */
export function asCurl(message: unknown, {server, version, method}: ListedRow): string {
	const gateway = model.state?.hasStatus ? location.origin : 'http://127.0.0.1:7411';
	const hasVersion = method !== 'initialize' && /^[\w.-]{1,32}$/.test(version);
	return [
		`curl -sS ${quoted(`${gateway}/mcp/${safeName(server)}`)}`,
		"-H 'content-type: application/json'",
		"-H 'accept: application/json, text/event-stream'",
		...(hasVersion ? [`-H ${quoted(`mcp-protocol-version: ${version}`)}`] : []),
		`--data-raw ${quoted(ascii(written(message)))}`,
	].join(' \\\n  ');
}

/** A request with its answer, as tests keep it. */
export function asFixture(request: unknown, answer: unknown): string {
	const parts = {
		...(isMembers(request) ? {request} : {}),
		...(isMembers(answer) ? {answer} : {}),
	};
	return `${written(parts)}\n`;
}
