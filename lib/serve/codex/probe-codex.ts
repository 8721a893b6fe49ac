import {stat} from 'node:fs/promises';
import process from 'node:process';
import {BridgeError} from '../../core/errors.js';
import {redactText} from '../../core/redact.js';
import {child} from '../../transports/process/child.js';
import type {Environment} from '../../transports/process/environment.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {pause} from '../../util/pause.js';
import {shortened} from '../../util/printable.js';
import {resolveProgram} from './resolve-program.js';

/** The subcommand of Codex that serves as the interface. */
export type CodexBackendKind = 'app-server' | 'mcp-server';

export type InstalledCodex = {
	readonly program: string;
	readonly kind: CodexBackendKind;
};

type ProbeCodexOptions = {
	readonly command: string;
	readonly cwd?: string | undefined;
	readonly env?: Environment;
	readonly timeoutMs?: number;
};

const PROBE_TIMEOUT_MS = 30_000;
const MAX_CACHED = 100;
/** Limit on the output that the probe reads, in characters. */
const MAX_OUTPUT = 10_000;

/** Results of probes, by path, modification time and size of the program. */
const kindCache = new BoundedMap<string, CodexBackendKind>(MAX_CACHED);

/**
 * Finds the Codex that a command starts, and detects its interface. The probe is `codex help mcp-server`.
 * Newer versions lack this subcommand and would treat a plain `mcp-server` as a prompt.
 */
export async function probeCodex(options: ProbeCodexOptions): Promise<InstalledCodex> {
	const {command, cwd = process.cwd(), env = {}} = options;
	const program = await resolveProgram(command, cwd, env.PATH ?? process.env.PATH ?? '');
	if (program === undefined) throw commandNotFound(command);
	const file = await stat(program).catch(() => undefined);
	const key = `${program} ${file?.mtimeMs} ${file?.size}`;
	const kind = kindCache.get(key) ?? (await detectKind(program, options));
	kindCache.set(key, kind);
	return {program, kind};
}

async function detectKind(
	program: string,
	{cwd, env = {}, timeoutMs = PROBE_TIMEOUT_MS}: ProbeCodexOptions,
): Promise<CodexBackendKind> {
	let output = '';
	const collectOutput = (chunk: Buffer): void => {
		output = (output + chunk.toString()).slice(0, MAX_OUTPUT);
	};
	const args = ['help', 'mcp-server'];
	const codex = child({name: 'codex', command: program, args, env, cwd, onStderr: collectOutput});
	codex.incoming.subscribe({next: ({line}) => collectOutput(line), error: () => {}});
	codex.outgoing.complete();
	const timeout = pause(timeoutMs).then(() => undefined);
	const exit = await Promise.race([codex.exited, timeout]);
	if (!exit) {
		codex.kill();
		throw unusableCodex(program, `did not exit within ${timeoutMs / 1000} s`, output);
	}
	await codex.disconnected;
	if (exit.code === 0 && output.includes('mcp-server')) return 'mcp-server';
	if (exit.code === 2 && output.includes('mcp-server')) return 'app-server';
	throw unusableCodex(program, `exited with ${exit.signal ?? exit.code}`, output);
}

const commandNotFound = (command: string): BridgeError =>
	new BridgeError(
		'ERR_COMMAND_UNUSABLE',
		`The command ${command} was not found or is not executable.`,
		'Install Codex with npm install -g @openai/codex, or set its path with codex_bin in .atm.toml or ATM_AGENT_MCP_CODEX_BIN.',
		{command},
	);

const unusableCodex = (program: string, reason: string, output: string): BridgeError =>
	new BridgeError(
		'ERR_COMMAND_UNUSABLE',
		`bridge cannot use ${program} as Codex: "help mcp-server" ${reason}. Output: ${shortened(redactText(output.trim())) || 'none'}`,
		'Run it manually with the arguments help mcp-server. If that fails, reinstall Codex with npm install -g @openai/codex.',
		{command: program},
	);
