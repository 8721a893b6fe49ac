import {replayOptions, replaySwitches} from './replay-flags.js';
import {invalid} from './values.js';

/** The flags of commands that have to do with logs: all others would mean nothing there. */
const own: ReadonlyMap<string | undefined, readonly string[]> = new Map([
	[
		'raw',
		['mcp-port', 'mcp-token', 'log-root', 'log', 'filename-format', 'flush-millis', 'max-buffer', 'on-full'],
	],
	['decode', ['conn', 'from', 'to']],
	[
		'replay',
		[
			...['conn', 'url', 'header', 'env', 'timeout', ...replayOptions, ...replaySwitches],
			...['log', 'log-secrets', 'filename-format', 'flush-millis', 'max-buffer', 'on-full'],
		],
	],
	['view', ['live', 'header', 'port']],
]);
const everywhere: readonly string[] = ['help', 'version', 'debug', 'log-level'];

/** Refuses what somebody has typed for nothing. */
export function refuseOthers(command: string | undefined, given: readonly string[]): void {
	const names = own.get(command);
	const other = given.find(name => !names?.includes(name) && !everywhere.includes(name));
	if (names && other !== undefined)
		throw invalid(`--${other} has no meaning for bridge ${command}.`, `See bridge ${command} --help.`);
}
