import process from 'node:process';
import {Observable} from 'rxjs';
import {BridgeError} from '../../core/errors.js';
import type {Log, LogLevelName} from '../../core/log.js';
import {behind} from '../../core/stage.js';
import {logMessages} from '../../operators/log-messages.js';
import {parse} from '../../operators/parse.js';
import {type Child, type ChildOptions, child} from '../../transports/process/child.js';
import type {Environment} from '../../transports/process/environment.js';
import {appServer} from './app-server.js';
import {mcpServer} from './mcp-server.js';
import {type CodexBackendKind, type InstalledCodex, probeCodex} from './probe-codex.js';
import {repairText} from './repair-text.js';

export type CodexOptions = {
	/** A command or path that starts Codex. Default: `codex`. */
	readonly command?: string;
	/** Arguments after the subcommand, such as `-c` and a setting. */
	readonly args?: readonly string[];
	readonly cwd?: string | undefined;
	/** Variables in addition to those that Codex always gets. */
	readonly env?: Environment;
	readonly log: Log;
	/** The log level. At debug and trace, the log includes the messages of Codex. */
	readonly logLevel?: LogLevelName;
	readonly onStderr: ChildOptions['onStderr'];
	/** The interface to use. Default: the one that the probe detects. */
	readonly kind?: CodexBackendKind | undefined;
	readonly maxBytes?: number;
	/** Time limit for Codex to exit on its own. */
	readonly graceMs?: number;
	/** Time limit for Codex to confirm that a cancelled turn has stopped. */
	readonly cancelGraceMs?: number;
	/** Time limit for Codex to acknowledge a cancelled call. The thread is released after it. */
	readonly acknowledgeMs?: number;
	readonly approvalMs?: number;
	/** Time limits for Codex to start a turn and to end an abandoned one. */
	readonly startMs?: number;
	readonly stuckMs?: number;
};

/** A running Codex, presented as an MCP server. */
export type CodexBackend = Child & {
	/** The interface in use. Undefined if Codex could not be started: `incoming` then fails on subscription. */
	readonly kind: CodexBackendKind | undefined;
};

/**
 * Starts the installed Codex. If it is missing or broken, returns an endpoint that has failed, so that
 * features without Codex keep working.
 */
export async function startCodexBackend(options: CodexOptions): Promise<CodexBackend> {
	const env = {...codexEnvironment(process.env), ...options.env};
	try {
		const {command = 'codex', cwd, kind} = options;
		const installed = await probeCodex({command, cwd, env});
		return connectBackend({...installed, kind: kind ?? installed.kind}, options, env);
	} catch (error) {
		if (error instanceof BridgeError) return failedBackend(error);
		throw error;
	}
}

function connectBackend(
	{program, kind}: InstalledCodex,
	options: CodexOptions,
	env: Environment,
): CodexBackend {
	const {args = [], cwd, log, logLevel = 'info', onStderr, maxBytes, graceMs} = options;
	const {cancelGraceMs, acknowledgeMs, approvalMs, startMs, stuckMs} = options;
	const size = maxBytes === undefined ? {} : {maxBytes};
	const codex = child({
		name: 'codex',
		command: program,
		args: [kind, ...args],
		env,
		passHint: 'Pass one with --env NAME.',
		cwd,
		onStderr,
		...size,
		...(graceMs === undefined ? {} : {graceMs}),
	});
	const limits = {cancelGraceMs, acknowledgeMs, approvalMs, startMs, stuckMs};
	const isApp = kind === 'app-server';
	const stages = [
		isApp ? appServer({log, cwd, ...limits}) : mcpServer({log, ...limits}),
		repairText(),
		logMessages({log, level: logLevel, peer: 'codex'}),
		// Invalid messages are matched by the ids that Codex uses, so this stage is next to Codex.
		parse({log, from: 'upstream', allowsMissingVersion: isApp, ...size}),
	];
	return {...codex, ...behind(stages, codex), kind};
}

function failedBackend(error: BridgeError): CodexBackend {
	const exited = Promise.reject(error);
	// Prevents an unhandled rejection. Callers handle the error through `exited`.
	exited.catch(() => {});
	return {
		name: 'codex',
		kind: undefined,
		incoming: new Observable(subscriber => subscriber.error(error)),
		outgoing: {next() {}, error() {}, complete() {}},
		disconnected: Promise.resolve(),
		exited,
		close: async () => {},
		finish: async () => {},
		kill() {},
	};
}

/** Variables that Codex gets in addition to those of every child: its settings and keys, and proxies. */
const passedVariables = /^(?:CODEX_|OPENAI_|(?:HTTPS?|ALL|NO)_PROXY$|RUST_LOG$)/i;

export function codexEnvironment(environment: NodeJS.ProcessEnv): Environment {
	const passed = Object.entries(environment).filter(
		([name, value]) => passedVariables.test(name) && value !== undefined,
	);
	return Object.fromEntries(passed) as Environment;
}
