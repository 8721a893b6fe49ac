import {writeSync} from 'node:fs';
import process from 'node:process';
import {isatty} from 'node:tty';
import {BridgeError} from '../lib/errors.js';
import {ownVersion} from '../lib/own-version.js';
import {printableLines} from '../lib/printable.js';
import {redactKnown} from '../lib/store/known-secrets.js';
import {isTaken} from '../lib/uncaught.js';
import {type Commands, type Context, type Input, NeedsHelp} from './cli/command.js';
import type {Options} from './cli/option.js';
import {splitAtDashes} from './cli/parse.js';
import {resolve} from './cli/resolve.js';
import {commands} from './commands/index.js';
import {nameProcess} from './common/process-title.js';
import {serverName} from './common/server-name.js';
import {listenForStop} from './common/signals.js';

/** Runs the program, and exits. */
export async function run(): Promise<never> {
	const exit = (code: number): never => process.exit(code);
	process.on('uncaughtException', error => {
		if (!isTaken(error)) exit(report(error));
	});
	const stop = listenForStop(exit);
	const context: Context = {script: process.argv[1] ?? 'bridge', version: ownVersion, stop, commands};
	return exit(await dispatch(process.argv.slice(2), context).catch(report));
}

/** Arguments → command → exit code. */
async function dispatch(argv: readonly string[], context: Context): Promise<number> {
	if (argv.length === 0 && isatty(0)) return printHelp(context.commands, 2, undefined, 2);
	const found = await resolve(argv, context.commands);
	if (found.kind === 'help') return printHelp(context.commands, 1, found.name, 0);
	if (found.kind === 'version') return print(1, `${context.version}\n`, 0);
	const {name, group, title, command, input} = found;
	nameProcess(group === undefined ? 'bridge' : title, subjectOf(input));
	return command.run(input, context).catch(async error => {
		if (!(error instanceof NeedsHelp)) throw error;
		print(2, `bridge: ${error.sentence}\n\n`, 0);
		return printHelp(context.commands, 2, name, error.exitCode);
	});
}

/** The server that this process is for, as lists of processes show it. */
function subjectOf({server, options}: Input<Options>): string | undefined {
	if (server.length > 0) return serverName(server);
	return options.url instanceof URL ? options.url.host : undefined;
}

async function printHelp(
	commands: Commands,
	fd: number,
	name: string | undefined,
	exitCode: number,
): Promise<number> {
	const {helpOf} = await import('./cli/help.js');
	return print(fd, await helpOf(commands, fd, name), exitCode);
}

function print(fd: number, text: string, exitCode: number): number {
	try {
		writeSync(fd, text);
		return exitCode;
	} catch {
		// The reader is gone.
		return 1;
	}
}

/** Prints an error. Unexpected ones are bugs; `--debug` adds the stack. */
function report(error: unknown): number {
	const {message, stack} = error instanceof Error ? error : new Error(String(error));
	const text = error instanceof BridgeError ? error.sentence : `This is a bug in bridge: ${message}`;
	const isDebug = splitAtDashes(process.argv.slice(2))[0].includes('--debug');
	const shown = `bridge: ${text}\n${isDebug ? `${stack}\n` : ''}`;
	print(2, printableLines(redactKnown(shown)), 0);
	return error instanceof BridgeError ? error.exitCode : 1;
}
