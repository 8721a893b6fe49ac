import {basename} from 'node:path';
import type {ConfigPath} from './issues.js';
import type {LoadedConfig} from './load-config.js';
import {isSensitiveName} from './secret-names.js';

/** Where a value that is in force comes from. */
export type ValueOrigin = {
	/** `default`, `guessed`, `bridge.yaml:3`, or `bridge.yaml:3, $NAME`. */
	readonly text: string;
	/** Whether it was made of a variable that is named like a secret. */
	readonly isSecret: boolean;
};

/** Other keys that the value of a server's key may have been given by. */
const aliasKeys: ReadonlyMap<string, readonly ConfigPath[]> = new Map([
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
export function findValueOrigin({file, source}: LoadedConfig, path: ConfigPath): ValueOrigin {
	const found = alternativePaths(path).flatMap(spelling => source(spelling) ?? [])[0];
	if (!found || file === undefined)
		return {text: path[0] === 'servers' && path[2] === 'transport' ? 'guessed' : 'default', isSecret: false};
	const {line, variables} = found;
	const location = line === undefined ? basename(file) : `${basename(file)}:${line}`;
	const names = [...new Set(variables)].map(name => `$${name}`);
	return {text: [location, ...names].join(', '), isSecret: variables.some(isSensitiveName)};
}

function alternativePaths(path: ConfigPath): ConfigPath[] {
	const [root, name, key, ...rest] = path;
	if (root !== 'servers' || name === undefined) return [path];
	const keys = key === undefined ? [[]] : [[key, ...rest], ...(aliasKeys.get(String(key)) ?? [])];
	return ['servers', 'mcpServers'].flatMap(first => keys.map(ending => [first, name, ...ending]));
}
