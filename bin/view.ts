import process from 'node:process';
import {takeWhile, throttleTime} from 'rxjs';
import type {Headers} from '../lib/envelope.js';
import {localAccess} from '../lib/http/local-access.js';
import {isLoopback} from '../lib/loopback.js';
import {FileSource} from '../lib/view/file-source.js';
import {LiveSource} from '../lib/view/live-source.js';
import type {LogIndex} from '../lib/view/log-index.js';
import {remoteTraffic} from '../lib/view/remote-traffic.js';
import type {Source} from '../lib/view/source.js';
import {serveView} from '../lib/view/view-server.js';
import type {Flags} from './flags.js';
import {tell, write} from './own-output.js';
import type {Stop} from './signals.js';
import {invalid} from './values.js';

/** Where the page is, and what indexes for it. */
export type Page = {readonly files: URL; readonly worker: URL};

const TOLD_EVERY_MS = 100;
const BAR = 30;

/** `bridge view LOG` and `bridge view --live URL`: a page of traffic, until it is asked to end. */
export async function runView(
	[, ...names]: readonly string[],
	{live, headers, port = 0}: Flags,
	stop: Stop,
	{files: page, worker}: Page,
): Promise<number> {
	if (live ? names.length > 0 : names.length === 0)
		throw invalid('view has to know what to show.', 'Write: bridge view LOG, or bridge view --live URL');
	const access = await localAccess(process.env);
	const userToken = access.by === 'token' ? access.token : undefined;
	const shown = live && userToken !== undefined ? withToken(live, headers, userToken) : headers;
	const source = live ? fromGateway(live, shown, worker) : fromFiles(names, worker);
	const {url, server} = await serveView({
		...{source, page, port, userToken},
		onBug: error => void tell(`This is a bug in bridge: ${(error as Error).message}`),
	});
	await write(process.stdout, `${url.href}\n`);
	if (source.shown && !source.isLive) showProgress(source.shown.index);
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
		...{name: url.host, worker, onBug},
		listen: remoteTraffic({
			...{url, headers},
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
		const counted = `${rows.toLocaleString('en')} lines`;
		if (isAtEnd) {
			const end = stderr.isTTY ? '\r\u001b[K' : '';
			void write(stderr, `${end}${counted}, ${index.connections.length - 1} connections. Ctrl+C ends it.\n`);
		} else if (stderr.isTTY) void write(stderr, `\r${bar} ${Math.floor(share * 100)} % ${counted}`);
	};
	index.changed
		.pipe(
			throttleTime(TOLD_EVERY_MS, undefined, {leading: true, trailing: true}),
			takeWhile(() => !index.progress.isAtEnd, true),
		)
		.subscribe(show);
}
