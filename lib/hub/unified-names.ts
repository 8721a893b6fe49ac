import {createHash} from 'node:crypto';

/** Tool names that the models of most vendors accept have at most this many characters, all from this set. */
const MAX_NAME = 64;
const DISALLOWED = /[^A-Za-z0-9_-]/g;
const HASH_LENGTH = 8;
const MAX_SERVER_LENGTH = 20;

type ServerItem = {readonly server: string; readonly name: string};

/**
 * Returns unique names for the items of all upstreams: `server__name`, with unsupported characters replaced.
 * A name that is too long, or a duplicate, gets a suffix. It is a hash, so it stays the same after a restart.
 */
export function unifiedNames<T extends ServerItem>(all: Iterable<T>): Map<string, T> {
	const names = new Map<string, T>();
	for (const item of all) {
		const plain = `${item.server}__${item.name}`.replace(DISALLOWED, '_');
		const isUsable = plain.length <= MAX_NAME && !names.has(plain);
		const unified = isUsable ? plain : shortenedName(item);
		// If an upstream lists a name twice, the first item is used, as clients of that upstream do.
		if (!names.has(unified)) names.set(unified, item);
	}
	return names;
}

/**
 * Returns the part of a unified name after its server; undefined if no item of this server can have that
 * name.
 */
export function stripServerPrefix(unified: string, server: string): string | undefined {
	const prefix = [server, server.slice(0, MAX_SERVER_LENGTH)].find(start => unified.startsWith(`${start}__`));
	return prefix === undefined ? undefined : unified.slice(prefix.length + 2);
}

function shortenedName({server, name}: ServerItem): string {
	const hash = createHash('sha256').update(`${server}\0${name}`).digest('hex').slice(0, HASH_LENGTH);
	const start = `${server.slice(0, MAX_SERVER_LENGTH)}__${name}`.replace(DISALLOWED, '_');
	return `${start.slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hash}`;
}
