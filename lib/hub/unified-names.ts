import {createHash} from 'node:crypto';

/** What the models of most vendors take for the name of a tool: so many characters, of these alone. */
const MAX_NAME = 64;
const DISALLOWED = /[^A-Za-z0-9_-]/g;
const HASH_LENGTH = 8;
const MAX_SERVER_LENGTH = 20;

/** Something that a server has, by its own name. */
type ServerItem = {readonly server: string; readonly name: string};

/**
 * Names for what many servers have, in one list: `server__name`, with what no model would take replaced. What is too long,
 * or would be there twice, is told apart by a few characters that stay the same from one start to the next.
 */
export function unifiedNames<T extends ServerItem>(all: Iterable<T>): Map<string, T> {
	const names = new Map<string, T>();
	for (const item of all) {
		const plain = `${item.server}__${item.name}`.replace(DISALLOWED, '_');
		const isUsable = plain.length <= MAX_NAME && !names.has(plain);
		const unified = isUsable ? plain : shortenedName(item);
		// The same server, and the same name twice: the first one counts, as it does for the server's own clients.
		if (!names.has(unified)) names.set(unified, item);
	}
	return names;
}

/** What follows the server in a name of such a list; undefined if the name cannot be of something that this server has. */
export function stripServerPrefix(unified: string, server: string): string | undefined {
	const prefix = [server, server.slice(0, MAX_SERVER_LENGTH)].find(start => unified.startsWith(`${start}__`));
	return prefix === undefined ? undefined : unified.slice(prefix.length + 2);
}

function shortenedName({server, name}: ServerItem): string {
	const hash = createHash('sha256').update(`${server}\0${name}`).digest('hex').slice(0, HASH_LENGTH);
	const start = `${server.slice(0, MAX_SERVER_LENGTH)}__${name}`.replace(DISALLOWED, '_');
	return `${start.slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hash}`;
}
