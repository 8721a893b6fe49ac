#!/usr/bin/env node
import {readFileSync, writeSync} from 'node:fs';
import process from 'node:process';
import {isatty} from 'node:tty';
import {BridgeError} from '../lib/errors.js';
import {nearest} from '../lib/nearest.js';
import {printableLines} from '../lib/printable.js';
import {redactKnown} from '../lib/store/known-secrets.js';
import {isTaken} from '../lib/uncaught.js';
import {companions} from './companions.js';
import {type Flags, type Invocation, readInvocation, splitAtDashes} from './flags.js';
import {helpOf} from './help.js';
import {refuseMisplaced} from './misplaced.js';
import {listenForStop, type Stop} from './signals.js';

const commands = [
	'gateway',
	'hub',
	'serve',
	'raw',
	'decode',
	'replay',
	'view',
	'versions',
	'config',
	'mail',
	'atm-tools',
	...companions.keys(),
] as const;

/** Arguments → command → exit code. */
async function main(argv: readonly string[], stop: Stop): Promise<number> {
	const {server, words, flags} = await readInvocation(argv);
	const [command] = words;
	if (flags.help) return print(1, helpOf(command), 0);
	if (flags.version) return print(1, `${version()}\n`, 0);
	if (command !== undefined && !commands.some(known => known === command)) throw unknownCommand(words);
	if (server?.length === 0) throw nothingToRun();
	refuseMisplaced({words, server, flags});
	if (command === 'config') {
		const {runConfig} = await import('./config.js');
		return runConfig({words, server, flags});
	}
	const companion = companions.get(command ?? '');
	if (companion) return companion({words, server, flags}, {script: process.argv[1] ?? 'bridge'});
	const serve = serving.get(command);
	if (serve) return serve({words, server, flags}, stop);
	if (command === 'view') return lookAt({words, server, flags}, stop);
	if (command === 'raw' || command === 'decode') return traceBytes(command, {words, server, flags}, stop);
	if (flags.config !== undefined) throw onlyConfig();
	if (command === 'versions') return askVersions({words, server, flags}, stop);
	return frontServer(server, flags, stop);
}

/** Own stdio in front of one server, or of none. */
async function frontServer(server: Invocation['server'], flags: Flags, stop: Stop): Promise<number> {
	if (flags.url && server) throw twoServers();
	if (flags.url) {
		const {runRemote} = await import('./remote.js');
		return runRemote(flags.url, flags, stop);
	}
	if (server) {
		const {runWrap} = await import('./wrap.js');
		return runWrap(server, flags, stop);
	}
	if (isatty(0)) return print(2, helpOf(), 2);
	const {runFilter} = await import('./filter.js');
	return runFilter(flags, stop);
}

/** Commands that have a file or a configuration to go by. */
const serving: ReadonlyMap<string | undefined, (given: Invocation, stop: Stop) => Promise<number>> = new Map([
	['gateway', serveGateway],
	['hub', serveHub],
	['serve', serveCodex],
	['replay', replayLog],
	['atm-tools', serveMail],
	['mail', showMail],
]);

async function serveGateway({words, server, flags}: Invocation, stop: Stop): Promise<number> {
	if (server || words.length > 1) throw superfluous('gateway', server?.[0] ?? words[1] ?? '');
	const {runGateway} = await import('./gateway.js');
	const demo = new URL('./demo-server.js', import.meta.url);
	return runGateway(flags, stop, {demo, version: version(), page});
}

/** The page that shows traffic: its files, and the thread that indexes for it. */
const page = {
	files: new URL('../lib/view/page/', import.meta.url),
	worker: new URL('../lib/view/index-worker.js', import.meta.url),
};

async function lookAt({words, server, flags}: Invocation, stop: Stop): Promise<number> {
	if (server) throw superfluous('view', server[0] ?? '--');
	const {runView} = await import('./view.js');
	return runView(words, flags, stop, page);
}

async function traceBytes(
	command: 'raw' | 'decode',
	{words, server, flags}: Invocation,
	stop: Stop,
): Promise<number> {
	if (server) throw superfluous(command, server[0] ?? '--');
	if (command === 'decode') {
		const {runDecode} = await import('./decode.js');
		return runDecode(words, flags, stop);
	}
	const {runRaw, NeedsHelp} = await import('./raw.js');
	const worker = new URL('../lib/store/log-worker.js', import.meta.url);
	return runRaw(words, flags, stop, {worker, version: version()}).catch(error => {
		if (!(error instanceof NeedsHelp)) throw error;
		return print(2, `bridge: ${error.sentence}\n\n${helpOf('raw')}`, error.exitCode);
	});
}

async function serveHub({words, server, flags}: Invocation, stop: Stop): Promise<number> {
	if (server || words.length > 1) throw superfluous('hub', server?.[0] ?? words[1] ?? '');
	const {runHub} = await import('./hub.js');
	return runHub(flags, stop, version());
}

async function replayLog(given: Invocation, stop: Stop): Promise<number> {
	const {runReplay} = await import('./replay.js');
	return runReplay(given, stop, {version: version(), page});
}

async function serveCodex({words, server, flags}: Invocation, stop: Stop): Promise<number> {
	if (server || words.length > 1) throw superfluous('serve', server?.[0] ?? words[1] ?? '');
	const {runServe} = await import('./serve.js');
	return runServe(flags, stop, version());
}

async function serveMail({words, server, flags}: Invocation, stop: Stop): Promise<number> {
	if (server || words.length > 1) throw superfluous('atm-tools', server?.[0] ?? words[1] ?? '');
	const {runAtmTools} = await import('./atm-tools.js');
	return runAtmTools(flags, stop, version());
}

async function showMail({words, server, flags}: Invocation, stop: Stop): Promise<number> {
	if (server || words.length > 1) throw superfluous('mail', server?.[0] ?? words[1] ?? '');
	const {runMail} = await import('./mail.js');
	return runMail(flags, stop);
}

async function askVersions({words, server, flags}: Invocation, stop: Stop): Promise<number> {
	if ((!server && !flags.url) || words.length > 1) throw noServer(words);
	const {runVersions} = await import('./versions.js');
	return runVersions(server, flags, stop);
}

function print(fd: number, text: string, exitCode: number): number {
	try {
		writeSync(fd, text);
		return exitCode;
	} catch {
		// Nobody can be told.
		return 1;
	}
}

const version = (): string =>
	JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;

const noServer = ([, ...words]: readonly string[]): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		'versions has to know which server to ask.',
		`Write: bridge versions -- ${words.length > 0 ? words.join(' ') : 'npx some-server'}`,
	);

const superfluous = (command: string, word: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`bridge ${command} has no use for ${word}.`,
		command === 'gateway' || command === 'hub'
			? `Servers stand in its configuration: bridge ${command} --config FILE`
			: `Leave it out: bridge ${command} --help says what it takes.`,
	);

const twoServers = (): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		'There is a --url and a command.',
		'Name one server: --url URL, or -- COMMAND.',
	);

const onlyConfig = (): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		'--config has no meaning here: the flags say it all.',
		'Leave it out, or look at the file: bridge config --config FILE',
	);

const unknownCommand = (words: readonly string[]): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`There is no command ${words[0]}.`,
		`${nearest(words[0] ?? '', commands)} To put bridge in front of a server, write: bridge -- ${words.join(' ')}`.trim(),
	);

const nothingToRun = (): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		'Nothing follows the --.',
		'Name the server to run: bridge -- npx some-server',
	);

/** What is not foreseen is a bug: it is told briefly, and with its stack to those who debug. */
function report(error: unknown): number {
	const [own = []] = splitAtDashes(process.argv.slice(2));
	const isDebug = own.includes('--debug');
	const {message, stack} = error instanceof Error ? error : new Error(String(error));
	const text = error instanceof BridgeError ? error.sentence : `This is a bug in bridge: ${message}`;
	const shown = `bridge: ${text}\n${isDebug ? `${stack}\n` : ''}`;
	print(2, printableLines(redactKnown(shown)), 0);
	return error instanceof BridgeError ? error.exitCode : 1;
}

const exit = (code: number): void => process.exit(code);
process.on('uncaughtException', error => {
	if (!isTaken(error)) exit(report(error));
});
const stop = listenForStop(exit);
exit(await main(process.argv.slice(2), stop).catch(report));
