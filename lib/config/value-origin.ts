import {basename} from 'node:path';
import type {ConfigPath} from './issues.js';
import type {LoadedConfig} from './load-config.js';
import {isSensitiveName} from './secret-names.js';

/** The origin of an effective value. */
export type ValueOrigin = {
	/** `default`, `guessed`, `bridge.yaml:3`, or `bridge.yaml:3, $NAME`. */
	readonly text: string;
	/** Whether a variable with a sensitive name is part of the value. */
	readonly isSecret: boolean;
};

/** Other paths, relative to the server, that may set the value of a key. */
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

/** Finds the origin of a value by its canonical path. Also checks aliases of keys. */
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
