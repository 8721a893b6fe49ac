import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {newFolder, until} from '../../helpers/program.js';
import {call, done, failureOf} from './control.js';
import {type Line, linesIn, shareRaw, TIME, textIn} from './support.js';
import {exchange} from './tcp.js';

const shared = shareRaw(echo => ['--mcp-port', '0', '--flush-millis', '20', `0:127.0.0.1:${echo}`]);

/** The path of a log folder that does not exist yet. */
const newLogs = async (t: ExecutionContext): Promise<string> => join(await newFolder(t), 'logs');

const start = (directory?: string | null, more: object = {}): Promise<string> =>
	done(shared().endpoint, 'start-logging', {...(directory === undefined ? {} : {directory}), ...more});
const stop = (directory?: string | null): Promise<string> =>
	done(shared().endpoint, 'stop-logging', directory === undefined ? {} : {directory});

const events = (lines: readonly Line[], event: string): Line[] => lines.filter(line => line.event === event);
const has = (lines: readonly Line[], data: string): boolean => lines.some(line => line.data === data);

/** Sends a text through the echo and waits until the connection is logged on stdout. */
async function sendAndWait(text: string): Promise<void> {
	const {client} = await exchange(shared().port, text);
	await shared().connection(client);
}

let sent = 0;
const newText = (): string => {
	sent += 1;
	return `text ${sent}`;
};

test.serial(
	'a log on stdout begins with start-logging and a directory of null [LOG_001] [LOG_003]',
	async t => {
		const begin = await shared().line(({event}) => event !== 'mcp-ready');
		t.like(begin, {event: 'start-logging', directory: null});
		t.regex(begin.time, TIME);
	},
);

test.serial(
	'start-logging contains a filename_format for a folder, but not for stdout [LOG_016]',
	async t => {
		const logs = await newLogs(t);
		await start(logs, {filename_format: 'x.ndjson'});
		await stop(logs);
		const [begin] = events(linesIn(logs), 'start-logging');
		t.deepEqual(Object.keys(begin ?? {}), ['time', 'event', 'directory', 'filename_format']);
		t.like(begin, {directory: logs, filename_format: 'x.ndjson'});
		const [onStdout] = events(shared().lines, 'start-logging');
		t.deepEqual(Object.keys(onStdout ?? {}), ['time', 'event', 'directory']);
	},
);

test.serial('start-logging uses the default format without filename_format [LOG_018]', async t => {
	const logs = await newLogs(t);
	await start(logs);
	await stop(logs);
	t.is(events(linesIn(logs), 'start-logging')[0]?.filename_format, 'rawprox_%Y-%m-%d-%H.ndjson');
	t.regex(readdirSync(logs).join(), /^rawprox_\d{4}-\d\d-\d\d-\d\d\.ndjson$/);
});

test.serial('logs start-logging to all destinations, including the new one [LOG_001]', async t => {
	const [one, two] = [await newLogs(t), await newLogs(t)];
	await start(one);
	await start(two);
	await shared().line(({event, directory}) => event === 'start-logging' && directory === two);
	await stop(one);
	await stop(two);
	t.deepEqual(
		events(linesIn(one), 'start-logging').map(({directory}) => directory),
		[one, two],
	);
	t.deepEqual(
		events(linesIn(two), 'start-logging').map(({directory}) => directory),
		[two],
	);
});

test.serial(
	'stop-logging is the last line of a stopped destination and is written at once [LOG_002]',
	async t => {
		const logs = await newLogs(t);
		await start(logs);
		await stop(logs);
		const last = linesIn(logs).at(-1);
		t.deepEqual(Object.keys(last ?? {}), ['time', 'event', 'directory']);
		t.like(last, {event: 'stop-logging', directory: logs});
		const before = textIn(logs);
		await sendAndWait(newText());
		t.is(textIn(logs), before);
	},
);

test.serial('logs the same traffic to stdout and several folders at once [LOG_004]', async t => {
	const [one, two] = [await newLogs(t), await newLogs(t)];
	await start(one);
	await start(two);
	const text = newText();
	await sendAndWait(text);
	await stop(one);
	await stop(two);
	const about = (lines: readonly Line[]): Line[] => {
		const id = lines.find(({data}) => data === text)?.ConnID;
		return lines.filter(({ConnID}) => ConnID === id);
	};
	t.is(about(shared().lines).length, 4);
	t.deepEqual(about(linesIn(one)), about(shared().lines));
	t.deepEqual(about(linesIn(two)), about(shared().lines));
});

test.serial('a stopped folder receives no more lines, and the others do [LOG_007]', async t => {
	const [one, two] = [await newLogs(t), await newLogs(t)];
	await start(one);
	await start(two);
	await stop(one);
	const text = newText();
	await sendAndWait(text);
	await stop(two);
	t.false(has(linesIn(one), text));
	t.true(has(linesIn(two), text));
});

test.serial('stop-logging with null stops only stdout [LOG_006] [LOG_019]', async t => {
	const logs = await newLogs(t);
	await start(logs);
	const text = newText();
	await stop(null);
	t.like(await shared().line(({event, directory}) => event === 'stop-logging' && directory === null), {
		directory: null,
	});
	const {length} = shared().lines;
	await exchange(shared().port, text);
	await until(() => textIn(logs).includes('"close"'));
	await start(null);
	await stop(logs);
	t.true(has(linesIn(logs), text));
	t.false(has(shared().lines, text));
	await until(() => shared().lines.length > length);
	t.like(shared().lines[length], {event: 'start-logging', directory: null});
});

test.serial(
	'stop-logging without a folder stops all destinations and logs an event for each [LOG_005] [LOG_019]',
	async t => {
		const [one, two] = [await newLogs(t), await newLogs(t)];
		await start(one);
		await start(two);
		await stop();
		for (const logs of [one, two]) t.like(linesIn(logs).at(-1), {event: 'stop-logging', directory: logs});
		await until(() => shared().lines.at(-1)?.event === 'stop-logging');
		const {length} = shared().lines;
		const text = newText();
		t.is(String((await exchange(shared().port, text)).reply), text);
		await start(null);
		await until(() => shared().lines.length > length);
		t.like(shared().lines[length], {event: 'start-logging', directory: null});
		for (const logs of [one, two]) t.false(has(linesIn(logs), text));
	},
);

test.serial('starting stdout twice logs start-logging again and duplicates no line', async t => {
	const {length} = events(shared().lines, 'start-logging');
	await start(null);
	await until(() => events(shared().lines, 'start-logging').length > length);
	await start();
	await until(() => events(shared().lines, 'start-logging').length > length + 1);
	const text = newText();
	await sendAndWait(text);
	t.is(
		shared().lines.filter(({data, to}) => data === text && to?.endsWith(`:${shared().echo.port}`)).length,
		1,
	);
	t.is(events(shared().lines, 'start-logging').length, length + 2);
});

test.serial('starting the same folder twice duplicates no line', async t => {
	const logs = await newLogs(t);
	await start(logs, {filename_format: 'x.ndjson'});
	await start(logs, {filename_format: 'x.ndjson'});
	const text = newText();
	await sendAndWait(text);
	await stop(logs);
	t.is(linesIn(logs).filter(({data}) => data === text).length, 2);
	t.like(linesIn(logs).at(-1), {event: 'stop-logging', directory: logs});
});

test.serial('treats two spellings of a folder as one destination', async t => {
	const logs = await newLogs(t);
	await start(logs, {filename_format: 'x.ndjson'});
	await start(`${logs}/../logs/`, {filename_format: 'x.ndjson'});
	const text = newText();
	await sendAndWait(text);
	await stop(logs);
	t.is(linesIn(logs).filter(({data}) => data === text).length, 2);
});

test.serial('rejects stopping a folder that was never started, and traffic continues', async t => {
	const response = await call(shared().endpoint, 'stop-logging', {directory: await newLogs(t)});
	t.is(typeof failureOf(response).message, 'string');
	await sendAndWait(newText());
	t.pass();
});
