import process from 'node:process';
import {takeWhile, throttleTime} from 'rxjs';
import type {Headers} from '../../lib/core/envelope.js';
import {viewPage} from '../../lib/run-time-files.js';
import {isLoopback} from '../../lib/util/loopback.js';
import {FileSource} from '../../lib/view/file-source.js';
import {LiveSource} from '../../lib/view/live-source.js';
import type {LogIndex} from '../../lib/view/log-index.js';
import {subscribeToRemoteTraffic} from '../../lib/view/remote-traffic.js';
import type {TrafficSource} from '../../lib/view/traffic-source.js';
import {serveView} from '../../lib/view/view-server.js';
import {defineCommand} from '../shared/cli/command.js';
import {booleanFlag, type Options, type OptionValues, parsedFlag} from '../shared/cli/option.js';
import {stderrLogOptions, urlOptions} from '../shared/cli/options.js';
import {parsePortFlag} from '../shared/flag-units.js';
import {parseUrlFlag, usageError} from '../shared/flag-values.js';
import {localAccess} from '../shared/local-access.js';
import {printNotice, writeText} from '../shared/output.js';
import {plural} from '../shared/plural.js';
import type {StopSignals} from '../shared/stop-signals.js';
import {openPage} from './view/open-page.js';

const PROGRESS_INTERVAL_MS = 100;
const BAR = 30;

const options = {
	live: parsedFlag('URL', 'shows live traffic of a bridge gateway', (name, input) =>
		parseUrlFlag(input, name),
	),
	header: {...urlOptions.header, summary: 'header for every request to the gateway. Repeatable'},
	port: parsedFlag('PORT', 'port of the page [any free port]', (name, input) => parsePortFlag(name, input)),
	open: booleanFlag('opens the page in your browser'),
	...stderrLogOptions,
} satisfies Options;

export const command = defineCommand({
	summary: 'serves a web page with recorded or live traffic',
	usage: [
		['bridge view LOG… [--port PORT] [--open]', 'a traffic log of any bridge command, or a folder of them'],
		['bridge view --live URL [--header "X-Bridge-Token: …"]', 'live traffic of a bridge gateway'],
	],
	details: `It prints an address for your browser, and serves the page there until Ctrl+C: messages with latency, size and status, requests and
responses paired, a sequence of each connection, latency over time, search, what a translation changed side by side, copy as a script
or as a fixture, export of a selection as a log, raw TCP data as text and hex. Logs of any size open at once; appended lines are
shown. Access requires the full address and is limited to this machine. ? on the page lists the keys.`,
	options,
	maxPositionals: Number.POSITIVE_INFINITY,
	examples: [
		'bridge view traffic.ndjson',
		'bridge view @./logs',
		'bridge view --live http://127.0.0.1:7411/',
	],
	exitCodes: '0 stopped by a signal, 2 invalid arguments, or an unreadable log',
	run: ({positionals: words, options}, {stop}) => viewTraffic(words, options, stop),
});

/** Serves a page of traffic until a stop signal. */
async function viewTraffic(
	names: readonly string[],
	{live, header: headers, port = 0, open}: OptionValues<typeof options>,
	stop: StopSignals,
): Promise<number> {
	const {files: page, worker} = viewPage;
	if (live && names.length > 0) throw usageError('Logs and --live exclude each other.', 'Use one of them.');
	if (!live && names.length === 0)
		throw usageError('bridge view needs a log.', 'Write: bridge view LOG, or bridge view --live URL');
	const access = await localAccess(process.env);
	const userToken = access.by === 'token' ? access.token : undefined;
	const requestHeaders = live && userToken !== undefined ? withToken(live, headers, userToken) : headers;
	const source = live ? fromGateway(live, requestHeaders, worker) : fromFiles(names, worker);
	const {url, server} = await serveView({
		source,
		page,
		port,
		userToken,
		gateway: live?.origin,
		onBug: error => void printNotice(`This is a bug in bridge: ${(error as Error).message}`),
	});
	await writeText(process.stdout, `${url.href}\n`);
	if (open)
		openPage(
			url,
			reason => void printNotice(`The browser could not be started: ${reason}. Open the address above.`),
		);
	if (source.indexedLog && !source.isLive) showProgress(source.indexedLog.index);
	else await writeText(process.stderr, 'Press Ctrl+C to stop.\n');
	await stop.requested;
	server.close();
	server.closeAllConnections();
	await source.close();
	return 0;
}

/** Adds the user's token to requests to a gateway on this machine. */
const withToken = (url: URL, headers: Headers, token: string): Headers =>
	isLoopback(url.hostname) ? {'x-bridge-token': token, ...headers} : headers;

/** Unexpected errors end the program. */
const onBug = (error: Error): void => {
	throw error;
};

const fromFiles = (names: readonly string[], worker: URL): TrafficSource =>
	new FileSource({names: names.map(name => name.replace(/^@/, '')), worker, onBug});

function fromGateway(url: URL, headers: Headers, worker: URL): TrafficSource {
	let lastNote = '';
	const source = new LiveSource({
		name: url.host,
		worker,
		onBug,
		subscribe: subscribeToRemoteTraffic({
			url,
			headers,
			onStatus: note => {
				source.setNote(note);
				if (note !== '' && note !== lastNote) void printNotice(note);
				lastNote = note;
			},
		}),
	});
	source.setNote(`Connecting to ${url.host}.`);
	// Registers as a viewer, so that traffic is kept while the command runs.
	source.addViewer();
	return source;
}

/** Shows the indexing progress as a bar on a terminal, and the totals at the end. */
function showProgress(index: LogIndex): void {
	const {stderr} = process;
	const printProgress = (): void => {
		const {rows, readBytes, totalBytes, isAtEnd} = index.progress;
		const share = totalBytes === 0 ? 1 : readBytes / totalBytes;
		const bar = '█'.repeat(Math.floor(share * BAR)).padEnd(BAR, '░');
		const counted = plural(rows, 'line');
		if (isAtEnd) {
			const end = stderr.isTTY ? '\r\u001b[K' : '';
			void writeText(
				stderr,
				`${end}${counted}, ${plural(index.connections.length - 1, 'connection')}. Press Ctrl+C to stop.\n`,
			);
		} else if (stderr.isTTY) void writeText(stderr, `\r${bar} ${Math.floor(share * 100)} % ${counted}`);
	};
	index.changed
		.pipe(
			throttleTime(PROGRESS_INTERVAL_MS, undefined, {leading: true, trailing: true}),
			takeWhile(() => !index.progress.isAtEnd, true),
		)
		.subscribe(printProgress);
}
