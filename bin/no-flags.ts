import {noCompanionFlags} from './companion-flags.js';
import type {Flags} from './flags.js';
import {noReplayFlags} from './replay-flags.js';
import {noSessionFlags} from './session-flags.js';

/** What the flags are when none is given. */
export const noFlags: Flags = {
	help: false,
	version: false,
	debug: false,
	logLevel: 'info',
	log: undefined,
	logSecrets: false,
	flushMs: 2000,
	maxBufferBytes: 256 * 2 ** 20,
	onFull: 'gap',
	timeoutMs: undefined,
	env: {},
	url: undefined,
	headers: {},
	config: undefined,
	check: undefined,
	clientVersion: undefined,
	targetVersion: undefined,
	cacheTools: false,
	printClient: undefined,
	mcpPort: undefined,
	mcpToken: undefined,
	logRoot: undefined,
	rawLog: {log: undefined, format: undefined},
	conn: undefined,
	direction: undefined,
	live: undefined,
	port: undefined,
	session: noSessionFlags,
	companion: noCompanionFlags,
	replay: noReplayFlags,
};
