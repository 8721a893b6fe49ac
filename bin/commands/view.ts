import process from 'node:process';
import {takeWhile, throttleTime} from 'rxjs';
import type {Headers} from '../../lib/envelope.js';
import {localAccess} from '../../lib/http/local-access.js';
import {isLoopback} from '../../lib/loopback.js';
import {plural} from '../../lib/plural.js';
import {viewPage} from '../../lib/run-time-files.js';
import {FileSource} from '../../lib/view/file-source.js';
import {LiveSource} from '../../lib/view/live-source.js';
import type {LogIndex} from '../../lib/view/log-index.js';
import {remoteTraffic} from '../../lib/view/remote-traffic.js';
import type {Source} from '../../lib/view/source.js';
import {serveView} from '../../lib/view/view-server.js';
import {defineCommand} from '../cli/command.js';
import {flag, type Options, parsed, type Values} from '../cli/option.js';
import {ownLogOptions, urlOptions} from '../cli/options.js';
import {openPage} from '../common/open-page.js';
import {tell, write} from '../common/own-output.js';
import type {Stop} from '../common/signals.js';
import {port} from '../common/units.js';
import {address, invalid} from '../common/values.js';

const TOLD_EVERY_MS = 100;
const BAR = 30;

const options = {
	live: parsed('URL', 'shows what passes a bridge gateway from now on', (name, given) =>
		address(given, name),
	),
	header: {...urlOptions.header, summary: 'is sent with every request to the gateway. May be repeated'},
	port: parsed('PORT', 'port of the page [any that is free]', (name, given) => port(name, given)),
	open: flag('opens the page in your browser'),
	...ownLogOptions,
} satisfies Options;

export const command = defineCommand({
	summary: 'a page of recorded traffic, or of traffic as it passes',
	usage: [
		[
			'bridge view LOG… [--port PORT] [--open]',
			'a traffic log of any bridge command, or the folder that its files are in',
		],
		['bridge view --live URL [--header "X-Bridge-Token: …"]', 'what passes a bridge gateway from now on'],
	],
	details: `It prints an address for your browser, and serves the page there until Ctrl+C: messages with latency, size and status, requests and
responses paired, a sequence of each connection, latency over time, search, what a translation changed side by side, copy as a script
or as a fixture, export of a selection as a log, raw TCP data as text and hex. Logs of any size open at once; appended lines are
shown. Only someone who has the address gets in, and only from this machine. ? on the page lists the keys.`,
	options,
	maxWords: Number.POSITIVE_INFINITY,
	examples: [
		'bridge view traffic.ndjson',
		'bridge view @./logs',
		'bridge view --live http://127.0.0.1:7411/',
	],
	exitCodes: '0 it was asked to end, 2 wrong arguments, or the log cannot be read',
	run: ({words, options}, {stop}) => show(words, options, stop),
});

/** Serves a page of traffic until it is asked to end. */
async function show(
	names: readonly string[],
	{live, header: headers, port = 0, open}: Values<typeof options>,
	stop: Stop,
): Promise<number> {
	const {files: page, worker} = viewPage;
	if (live && names.length > 0)
		throw invalid('There are logs and a --live URL.', 'Leave out one of the two.');
	if (!live && names.length === 0)
		throw invalid('There is no log to show.', 'Write: bridge view LOG, or bridge view --live URL');
	const access = await localAccess(process.env);
	const userToken = access.by === 'token' ? access.token : undefined;
	const shown = live && userToken !== undefined ? withToken(live, headers, userToken) : headers;
	const source = live ? fromGateway(live, shown, worker) : fromFiles(names, worker);
	const {url, server} = await serveView({
		source,
		page,
		port,
		userToken,
		gateway: live?.origin,
		onBug: error => void tell(`This is a bug in bridge: ${(error as Error).message}`),
	});
	await write(process.stdout, `${url.href}\n`);
	if (open)
		openPage(url, reason => void tell(`No browser could be started: ${reason}. Open the address above.`));
	if (source.shown && !source.isLive) showProgress(source.shown.index);
	else await write(process.stderr, 'Ctrl+C ends it.\n');
	await stop.asked;
	server.close();
	server.closeAllConnections();
	await source.close();
	return 0;
}

/** Headers for a gateway of this machine, which recognizes its user by the token. */
const withToken = (url: URL, headers: Headers, token: string): Headers =>
	isLoopback(url.hostname) ? {'x-bridge-token': token, ...headers} : headers;

/** What nobody has foreseen ends the program, with what it is. */
const onBug = (error: Error): void => {
	throw error;
};

const fromFiles = (names: readonly string[], worker: URL): Source =>
	new FileSource({names: names.map(name => name.replace(/^@/, '')), worker, onBug});

function fromGateway(url: URL, headers: Headers, worker: URL): Source {
	let told = '';
	const source = new LiveSource({
		name: url.host,
		worker,
		onBug,
		listen: remoteTraffic({
			url,
			headers,
			tell: note => {
				source.tell(note);
				if (note !== '' && note !== told) void tell(note);
				told = note;
			},
		}),
	});
	source.tell(`Connecting to ${url.host}.`);
	// It looks, too: what passes is kept for as long as it runs.
	source.watch();
	return source;
}

/** Shows how far the index is, on a terminal as a bar, and at its end how much there is. */
function showProgress(index: LogIndex): void {
	const {stderr} = process;
	const show = (): void => {
		const {rows, readBytes, totalBytes, isAtEnd} = index.progress;
		const share = totalBytes === 0 ? 1 : readBytes / totalBytes;
		const bar = '█'.repeat(Math.floor(share * BAR)).padEnd(BAR, '░');
		const counted = plural(rows, 'line');
		if (isAtEnd) {
			const end = stderr.isTTY ? '\r\u001b[K' : '';
			void write(
				stderr,
				`${end}${counted}, ${plural(index.connections.length - 1, 'connection')}. Ctrl+C ends it.\n`,
			);
		} else if (stderr.isTTY) void write(stderr, `\r${bar} ${Math.floor(share * 100)} % ${counted}`);
	};
	index.changed
		.pipe(
			throttleTime(TOLD_EVERY_MS, undefined, {leading: true, trailing: true}),
			takeWhile(() => !index.progress.isAtEnd, true),
		)
		.subscribe(show);
}
