import {basename} from 'node:path';
import type {Loaded} from './load.js';
import type {Path} from './mistakes.js';
import {isSecretName} from './secrets.js';

/** Where a value that is in force comes from. */
export type Origin = {
	/** `default`, `guessed`, `bridge.yaml:3`, or `bridge.yaml:3, $NAME`. */
	readonly text: string;
	/** Whether it was made of a variable that is named like a secret. */
	readonly isSecret: boolean;
};

/** Other keys that the value of a server's key may have been given by. */
const otherKeys: ReadonlyMap<string, readonly Path[]> = new Map([
	['transport', [['type']]],
	['enabled', [['disabled']]],
	[
		'accept',
		[
			['headers', 'Accept'],
			['headers', 'accept'],
		],
	],
	[
		'contentType',
		[
			['headers', 'Content-Type'],
			['headers', 'content-type'],
		],
	],
]);

/** Finds the place of a value, by where it would be in a file that used no other names for anything. */
export function originIn({file, source}: Loaded, path: Path): Origin {
	const found = spellings(path).flatMap(spelling => source(spelling) ?? [])[0];
	if (!found || file === undefined)
		return {text: path[0] === 'servers' && path[2] === 'transport' ? 'guessed' : 'default', isSecret: false};
	const {line, variables} = found;
	const place = line === undefined ? basename(file) : `${basename(file)}:${line}`;
	const names = [...new Set(variables)].map(name => `$${name}`);
	return {text: [place, ...names].join(', '), isSecret: variables.some(isSecretName)};
}

function spellings(path: Path): Path[] {
	const [root, name, key, ...rest] = path;
	if (root !== 'servers' || name === undefined) return [path];
	const keys = key === undefined ? [[]] : [[key, ...rest], ...(otherKeys.get(String(key)) ?? [])];
	return ['servers', 'mcpServers'].flatMap(first => keys.map(ending => [first, name, ...ending]));
}
