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
	/** What starts Codex: a command, or a path. */
	readonly command?: string;
	/** Words for Codex after the interface, such as `-c` and a setting. */
	readonly args?: readonly string[];
	readonly cwd?: string | undefined;
	/** Variables beyond those that Codex gets anyway. */
	readonly env?: Environment;
	readonly log: Log;
	/** The level of the log; at debug and trace it has the messages of Codex. */
	readonly logLevel?: LogLevelName;
	readonly onStderr: ChildOptions['onStderr'];
	/** Which interface to use; else the one that is found. */
	readonly kind?: CodexBackendKind | undefined;
	readonly maxBytes?: number;
	/** How long Codex may take to end by itself. */
	readonly graceMs?: number;
	/** How long a cancelled call waits for Codex to say that it has stopped. */
	readonly cancelGraceMs?: number;
	/** How long Codex may take to acknowledge a cancelled call until its thread is free. */
	readonly acknowledgeMs?: number;
	/** How long the client may take to respond to an approval. */
	readonly approvalMs?: number;
	/** How long Codex may take to start a turn, and to end one that was given up. */
	readonly startMs?: number;
	readonly stuckMs?: number;
};

/** A running Codex that looks like a server of MCP. */
export type CodexBackend = Child & {
	/** Which Codex it is; undefined for one that could not be started, which fails as soon as it is listened to. */
	readonly kind: CodexBackendKind | undefined;
};

/**
 * Starts Codex, whichever there is. One that is missing or broken is an endpoint that has died of it, so that whoever
 * uses it goes on with what does not need Codex.
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
		// What is no message is judged under the ids that Codex knows, so below.
		parse({log, from: 'upstream', allowsMissingVersion: isApp, ...size}),
	];
	return {...codex, ...behind(stages, codex), kind};
}

function failedBackend(error: BridgeError): CodexBackend {
	const exited = Promise.reject(error);
	// Whoever wants to know asks.
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

/** What Codex reads for itself, beside what every child may see: its own settings and keys, and the way to the network. */
const passedVariables = /^(?:CODEX_|OPENAI_|(?:HTTPS?|ALL|NO)_PROXY$|RUST_LOG$)/i;

export function codexEnvironment(environment: NodeJS.ProcessEnv): Environment {
	const passed = Object.entries(environment).filter(
		([name, value]) => passedVariables.test(name) && value !== undefined,
	);
	return Object.fromEntries(passed) as Environment;
}
