import {existsSync, readdirSync, statSync} from 'node:fs';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {newFolder, until} from '../../helpers/program.js';
import {type Line, linesIn, parsed, type Raw, startRaw} from './support.js';
import {dial, exchange, readBytes, startEcho} from './tcp.js';

/** Starts a bridge in front of an echo that logs to a folder, by default one that does not exist yet. */
async function startLogging(
	t: ExecutionContext,
	flags: readonly string[],
	folder?: string,
): Promise<{raw: Raw; logs: string}> {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const logs = folder ?? join(await newFolder(t), 'logs');
	return {raw: await startRaw(t, [...flags, `0:127.0.0.1:${echo.port}`, `@${logs}`]), logs};
}

const dataIn = (lines: readonly Line[]): unknown[] => lines.map(({data}) => data).filter(Boolean);

/** The name of the file for a line of this time. */
function nameAt(time: string, format: string): string {
	const [year = '', month = '', day = '', hour = '', minute = '', second = ''] = time.split(/[-T:.]/);
	const parts: {readonly [letter: string]: string} = {
		Y: year,
		m: month,
		d: day,
		H: hour,
		M: minute,
		S: second,
	};
	return format.replace(/%([A-Za-z])/g, (_, letter: string) => parts[letter] ?? '');
}

/** Asserts that each line is in the file of its time. */
async function assertFiles(t: ExecutionContext, logs: string, format: string): Promise<void> {
	for (const file of readdirSync(logs))
		for (const {time} of parsed(await readFile(join(logs, file), 'utf8'))) t.is(nameAt(time, format), file);
}

test('@DIRECTORY logs to a file in that folder instead of stdout [ROT_001A] [SIMPLE_020] [CMD_007]', async t => {
	const {raw, logs} = await startLogging(t, []);
	await exchange(raw.port, 'to the file');
	t.is(await raw.stop(), 0);
	t.deepEqual(raw.running.lines, []);
	t.deepEqual(dataIn(linesIn(logs)), ['to the file', 'to the file']);
	t.like(linesIn(logs)[0], {
		event: 'start-logging',
		directory: logs,
		filename_format: 'rawprox_%Y-%m-%d-%H.ndjson',
	});
});

test('--log FILE logs only to this file [ROT_008]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const folder = join(await newFolder(t), 'captures');
	const raw = await startRaw(t, [`0:127.0.0.1:${echo.port}`, '--log', join(folder, '100%.ndjson')]);
	await exchange(raw.port, 'to the file');
	t.is(await raw.stop(), 0);
	t.deepEqual(raw.running.lines, []);
	t.deepEqual(readdirSync(folder), ['100%.ndjson']);
	t.like(linesIn(folder)[0], {event: 'start-logging', directory: folder, filename_format: '100%%.ndjson'});
	t.deepEqual(dataIn(linesIn(folder)), ['to the file', 'to the file']);
});

const formats = [
	['by the hour, the default [ROT_002] [ROT_004]', undefined, 'rawprox_%Y-%m-%d-%H.ndjson'],
	['by the day [ROT_005]', 'rawprox_%Y-%m-%d.ndjson', 'rawprox_%Y-%m-%d.ndjson'],
	['by the minute [ROT_006]', 'rawprox_%Y-%m-%d-%H-%M.ndjson', 'rawprox_%Y-%m-%d-%H-%M.ndjson'],
	['by the second [ROT_007]', 'rawprox_%Y-%m-%d-%H-%M-%S.ndjson', 'rawprox_%Y-%m-%d-%H-%M-%S.ndjson'],
	['without a period [ROT_008]', 'rawprox.ndjson', 'rawprox.ndjson'],
	['by a custom format [ROT_003] [CMD_004]', 'x-%d.%m.%Y.log', 'x-%d.%m.%Y.log'],
] as const;

for (const [what, flag, format] of formats)
	test(`names files by the UTC time of their lines ${what} [ROT_002] [ROT_003] [ROT_004] [ROT_005] [ROT_006] [ROT_007] [CMD_004]`, async t => {
		const {raw, logs} = await startLogging(t, flag === undefined ? [] : ['--filename-format', flag]);
		await exchange(raw.port, 'x');
		t.is(await raw.stop(), 0);
		const lines = linesIn(logs);
		t.true(lines.length >= 5);
		const names = [...new Set(lines.map(({time}) => nameAt(time, format)))].sort();
		t.deepEqual(readdirSync(logs).sort(), names);
		await assertFiles(t, logs, format);
	});

test('writes buffered lines of two periods to the file of each [ROT_013]', async t => {
	const format = '%S.ndjson';
	const {raw, logs} = await startLogging(t, ['--flush-millis', '60000', '--filename-format', format]);
	const socket = await dial(raw.port);
	const seconds = new Set<number>();
	let sent = 0;
	for (; seconds.size < 3; sent++) {
		socket.write('x');
		await readBytes(socket, 1);
		seconds.add(new Date().getUTCSeconds());
		await until(() => !seconds.has(new Date().getUTCSeconds()));
	}
	socket.destroy();
	t.false(existsSync(logs) && readdirSync(logs).length > 0);
	t.is(await raw.stop(), 0);
	t.true(readdirSync(logs).length >= 3);
	await assertFiles(t, logs, format);
	t.is(dataIn(linesIn(logs)).length, 2 * sent);
});

test('creates files while traffic flows, with --flush-millis 100 and a name per second [ROT_014]', async t => {
	const {raw, logs} = await startLogging(t, [
		'--flush-millis',
		'100',
		'--filename-format',
		'%H-%M-%S.ndjson',
	]);
	const socket = await dial(raw.port);
	const beat = setInterval(() => socket.write('x'), 50);
	socket.resume();
	t.teardown(() => clearInterval(beat));
	await until(() => existsSync(logs) && readdirSync(logs).length >= 3);
	clearInterval(beat);
	socket.destroy();
	t.is(await raw.stop(), 0);
});

test('a second run appends to the file of the first [ROT_009]', async t => {
	const flags = ['--filename-format', 'log.ndjson'];
	const {raw, logs} = await startLogging(t, flags);
	await exchange(raw.port, 'first run');
	await raw.stop();
	const before = await readFile(join(logs, 'log.ndjson'), 'utf8');
	const {raw: second} = await startLogging(t, flags, logs);
	await exchange(second.port, 'second run');
	await second.stop();
	const after = await readFile(join(logs, 'log.ndjson'), 'utf8');
	t.true(after.startsWith(before));
	t.deepEqual(dataIn(parsed(after)), ['first run', 'first run', 'second run', 'second run']);
});

test('never overwrites an existing file and terminates its truncated last line first [ROT_010]', async t => {
	const logs = await newFolder(t);
	await writeFile(join(logs, 'log.ndjson'), 'not ours\n{"cut');
	const {raw} = await startLogging(t, ['--filename-format', 'log.ndjson'], logs);
	await exchange(raw.port, 'x');
	await raw.stop();
	const text = await readFile(join(logs, 'log.ndjson'), 'utf8');
	t.true(text.startsWith('not ours\n{"cut\n{"time":"'), text.slice(0, 60));
});

test('creates the folder and the file, accessible only to their owner [ROT_011] [ROT_012] [I11]', async t => {
	const folder = join(await newFolder(t), 'deep', 'er');
	const {raw, logs} = await startLogging(t, ['--filename-format', 'log.ndjson'], folder);
	await exchange(raw.port, 'x');
	await raw.stop();
	t.deepEqual(readdirSync(logs), ['log.ndjson']);
	t.is(statSync(join(logs, 'log.ndjson')).mode & 0o777, 0o600);
	t.is(statSync(logs).mode & 0o077, 0);
});

test('keeps the mode of an existing folder and creates the file with mode 0600 [ROT_011]', async t => {
	const logs = join(await newFolder(t), 'logs');
	await mkdir(logs, {mode: 0o755});
	const {raw} = await startLogging(t, ['--filename-format', 'log.ndjson'], logs);
	await raw.stop();
	t.is(statSync(logs).mode & 0o777, 0o755);
	t.is(statSync(join(logs, 'log.ndjson')).mode & 0o777, 0o600);
});

test('writes buffered lines before the process exits [ROT_SHUTDOWN_001]', async t => {
	const {raw, logs} = await startLogging(t, ['--flush-millis', '600000']);
	await exchange(raw.port, 'buffered data');
	t.is(await raw.stop(), 0);
	t.deepEqual(dataIn(linesIn(logs)), ['buffered data', 'buffered data']);
	t.is(linesIn(logs).filter(({event}) => event === 'close').length, 1);
});

test('logs the folder as it is spelled on the command line', async t => {
	const cwd = await newFolder(t);
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const raw = await startRaw(t, [`0:127.0.0.1:${echo.port}`, '@./some/../logs'], {cwd});
	await raw.stop();
	t.is(linesIn(join(cwd, 'logs'))[0]?.directory, './some/../logs');
});
