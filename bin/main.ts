import {writeSync} from 'node:fs';
import process from 'node:process';
import {isatty} from 'node:tty';
import {bridgeVersion} from '../lib/bridge-version.js';
import {BridgeError} from '../lib/core/errors.js';
import {redactKnownSecrets} from '../lib/core/known-secrets.js';
import {printableLines} from '../lib/util/printable.js';
import {handleUncaughtError} from '../lib/util/uncaught-errors.js';
import {commands} from './commands/index.js';
import {
	type CliContext,
	type CommandInput,
	type CommandRegistry,
	ErrorWithHelp,
} from './shared/cli/command.js';
import type {Options} from './shared/cli/option.js';
import {splitAtDoubleDash} from './shared/cli/parse.js';
import {resolveCommand} from './shared/cli/resolve.js';
import {setProcessTitle} from './shared/process-title.js';
import {serverName} from './shared/server-name.js';
import {listenForStopSignals} from './shared/stop-signals.js';

export async function run(): Promise<never> {
	const exit = (code: number): never => process.exit(code);
	process.on('uncaughtException', error => {
		if (!handleUncaughtError(error)) exit(printError(error));
	});
	const stop = listenForStopSignals(exit);
	const context: CliContext = {script: process.argv[1] ?? 'bridge', version: bridgeVersion, stop, commands};
	return exit(await dispatch(process.argv.slice(2), context).catch(printError));
}

/** Resolves and runs a command. Returns its exit code. */
async function dispatch(argv: readonly string[], context: CliContext): Promise<number> {
	if (argv.length === 0 && isatty(0)) return printHelp(context.commands, 2, undefined, 2);
	const resolved = await resolveCommand(argv, context.commands);
	if (resolved.kind === 'help') return printHelp(context.commands, 1, resolved.name, 0);
	if (resolved.kind === 'version') return print(1, `${context.version}\n`, 0);
	const {name, group, title, command, input} = resolved;
	setProcessTitle(group === undefined ? 'bridge' : title, titleSubject(input));
	return command.run(input, context).catch(async error => {
		if (!(error instanceof ErrorWithHelp)) throw error;
		print(2, `bridge: ${error.sentence}\n\n`, 0);
		return printHelp(context.commands, 2, name, error.exitCode);
	});
}

/** The server that the process title shows. */
function titleSubject({upstreamCommand: server, options}: CommandInput<Options>): string | undefined {
	if (server.length > 0) return serverName(server);
	return options.url instanceof URL ? options.url.host : undefined;
}

async function printHelp(
	commands: CommandRegistry,
	fd: number,
	name: string | undefined,
	exitCode: number,
): Promise<number> {
	const {helpText} = await import('./shared/cli/help.js');
	return print(fd, await helpText(commands, fd, name), exitCode);
}

function print(fd: number, text: string, exitCode: number): number {
	try {
		writeSync(fd, text);
		return exitCode;
	} catch {
		// The reader has closed the pipe.
		return 1;
	}
}

/** Prints an error and returns the exit code. Unexpected errors are bugs. `--debug` adds the stack. */
function printError(error: unknown): number {
	const {message, stack} = error instanceof Error ? error : new Error(String(error));
	const text = error instanceof BridgeError ? error.sentence : `This is a bug in bridge: ${message}`;
	const isDebug = splitAtDoubleDash(process.argv.slice(2))[0].includes('--debug');
	const output = `bridge: ${text}\n${isDebug ? `${stack}\n` : ''}`;
	print(2, printableLines(redactKnownSecrets(output)), 0);
	return error instanceof BridgeError ? error.exitCode : 1;
}
