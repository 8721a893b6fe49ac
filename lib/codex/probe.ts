import {stat} from 'node:fs/promises';
import process from 'node:process';
import {BoundedMap} from '../bounded-map.js';
import {BridgeError} from '../errors.js';
import {pause} from '../pause.js';
import {shortened} from '../printable.js';
import {redactText} from '../store/redact.js';
import {child} from '../transports/child.js';
import type {Environment} from '../transports/environment.js';
import {programOf} from './native.js';

/** Which of its two interfaces a Codex is used by. */
export type BackendKind = 'app-server' | 'mcp-server';

/** A Codex that can be started. */
export type Installed = {
	readonly program: string;
	readonly kind: BackendKind;
};

export type ProbeOptions = {
	readonly command: string;
	readonly cwd?: string | undefined;
	readonly env?: Environment;
	readonly timeoutMs?: number;
};

const TIMEOUT_MS = 30_000;
const MAX_KEPT = 100;
/** How much of what it says is looked at. */
const MAX_WORDS = 10_000;

/** What was found out about programs, as long as they stay the same. */
const kept = new BoundedMap<string, BackendKind>(MAX_KEPT);

/**
 * Finds the Codex that a command starts, and which interface it has. It is asked for help on `mcp-server`, which newer ones
 * do not know: started with that word, they would take it for a prompt.
 */
export async function probeCodex(options: ProbeOptions): Promise<Installed> {
	const {command, cwd = process.cwd(), env = {}} = options;
	const program = await programOf(command, cwd, env.PATH ?? process.env.PATH ?? '');
	if (program === undefined) throw missing(command);
	const file = await stat(program).catch(() => undefined);
	const key = `${program} ${file?.mtimeMs} ${file?.size}`;
	const kind = kept.get(key) ?? (await askForHelp(program, options));
	kept.set(key, kind);
	return {program, kind};
}

async function askForHelp(
	program: string,
	{cwd, env = {}, timeoutMs = TIMEOUT_MS}: ProbeOptions,
): Promise<BackendKind> {
	let words = '';
	const hear = (chunk: Buffer): void => {
		words = (words + chunk.toString()).slice(0, MAX_WORDS);
	};
	const args = ['help', 'mcp-server'];
	const codex = child({name: 'codex', command: program, args, env, cwd, onStderr: hear});
	codex.incoming.subscribe({next: ({line}) => hear(line), error: () => {}});
	codex.outgoing.complete();
	const late = pause(timeoutMs).then(() => undefined);
	const exit = await Promise.race([codex.exited, late]);
	if (!exit) {
		codex.kill();
		throw broken(program, `did not say within ${timeoutMs / 1000} s what it can do`, words);
	}
	await codex.gone;
	if (exit.code === 0 && words.includes('mcp-server')) return 'mcp-server';
	if (exit.code === 2 && words.includes('mcp-server')) return 'app-server';
	throw broken(program, `ended with ${exit.signal ?? exit.code} when it was asked what it can do`, words);
}

const missing = (command: string): BridgeError =>
	new BridgeError(
		'ERR_COMMAND_UNUSABLE',
		`There is no command ${command} that could be run.`,
		'Install Codex with npm install -g @openai/codex, or say where it is: codex_bin in .atm.toml, or ATM_AGENT_MCP_CODEX_BIN.',
		{command},
	);

const broken = (program: string, what: string, words: string): BridgeError =>
	new BridgeError(
		'ERR_COMMAND_UNUSABLE',
		`${program} ${what}, so it is not a Codex that bridge can use. It said: ${shortened(redactText(words.trim())) || 'nothing'}`,
		'Run it by hand with the words help mcp-server, and install it anew with npm install -g @openai/codex if that fails.',
		{command: program},
	);
