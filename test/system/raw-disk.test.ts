import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {bytesFrom, type Line, linesIn, type Raw, startRaw, textIn} from '../e2e/raw/support.js';
import {dial, exchange, readBytes, startEcho} from '../e2e/raw/tcp.js';
import {until} from '../helpers/pipeline.js';
import {logged, untilStill} from '../helpers/program.js';
import {smallDisk} from './tools.js';

/** Starts bridge with its log on a disk of 128 KiB, of which `freeKiB` are free. */
async function start(t: ExecutionContext, freeKiB: number, ...flags: string[]) {
	const {folder, remount} = smallDisk(t, '128k');
	if (freeKiB < 128) writeFileSync(join(folder, 'ballast'), Buffer.alloc((128 - freeKiB) * 1024));
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const logs = join(folder, 'logs');
	const args = ['--flush-millis', '20', ...flags, `0:127.0.0.1:${echo.port}`, `@${logs}`];
	return {raw: await startRaw(t, args), logs, remount, target: `127.0.0.1:${echo.port}`};
}

const FAILS = /cannot be written/;
const WORKS = /written again/;
const text = 'x'.repeat(5000);

/** Sends a text over this many connections, one after the other, and reads it back. */
async function sendTexts(t: ExecutionContext, raw: Raw, count: number): Promise<void> {
	for (let index = 0; index < count; index++) t.is((await exchange(raw.port, text)).reply.length, 5000);
}

const count = (lines: readonly Line[], event: string): number =>
	lines.filter(line => line.event === event).length;

test.serial(
	'raw forwards traffic on a full disk, warns once, and resumes the log without a gap [I5]',
	async t => {
		const {raw, logs, remount, target} = await start(t, 64);
		await sendTexts(t, raw, 2);
		await until(() => textIn(logs).includes('"close"'));
		await sendTexts(t, raw, 10);
		await raw.running.says(FAILS);
		await sendTexts(t, raw, 5);
		remount('size=16m');
		await raw.running.says(WORKS);
		await sendTexts(t, raw, 1);
		t.is(await raw.stop(), 0);
		t.is(raw.running.stderr.match(new RegExp(FAILS, 'g'))?.length, 1);
		t.regex(raw.running.stderr, /ENOSPC/);
		const lines = linesIn(logs);
		t.is(count(lines, 'open'), 18);
		t.is(count(lines, 'close'), 18);
		t.is(count(lines, 'gap'), 0);
		t.is(bytesFrom(lines, target).length, 18 * 5000);
	},
);

test.serial('raw logs the number of lines dropped when the buffer is full [I5]', async t => {
	const {raw, logs, remount} = await start(t, 0, '--max-buffer', '64KiB');
	await sendTexts(t, raw, 40);
	await raw.running.says(FAILS);
	remount('size=16m');
	await raw.running.says(WORKS);
	await sendTexts(t, raw, 1);
	t.is(await raw.stop(), 0);
	const lines = linesIn(logs);
	t.true(count(lines, 'gap') > 0);
	const lost = lines.reduce((sum, line) => sum + (line.event === 'gap' ? Number(line.lines) : 0), 0);
	const kept = lines.filter(({ConnID}) => ConnID !== undefined).length;
	// Each connection has an open line, a close line and at least one data line in each direction.
	t.true(lost + kept >= 41 * 4, `${lost} lost and ${kept} kept lines`);
});

test.serial('raw --on-full wait pauses traffic while the buffer is full, and loses nothing [I5]', async t => {
	const {raw, logs, remount, target} = await start(t, 0, '--max-buffer', '64KiB', '--on-full', 'wait');
	const socket = await dial(raw.port);
	const length = 2_000_000;
	socket.end(Buffer.alloc(length, 'y'));
	await raw.running.says(FAILS);
	let received = 0;
	socket.on('data', chunk => {
		received += chunk.length;
	});
	await untilStill(() => received);
	t.true(received < length, `${received} bytes were echoed`);
	remount('size=64m');
	await until(() => received === length);
	t.is(await raw.stop(), 0);
	const lines = linesIn(logs);
	t.is(count(lines, 'gap'), 0);
	t.is(bytesFrom(lines, target).length, length);
});

test.serial('raw reports the number of bytes that could not be written, and exits [I5]', async t => {
	const {raw} = await start(t, 0);
	await sendTexts(t, raw, 3);
	await raw.running.says(FAILS);
	t.is(await raw.stop(), 0);
	t.true(Number(logged(raw.running, 'log-error').at(-1)?.lostBytes) > 15_000);
});

function isDone(action: () => void): boolean {
	try {
		action();
		return true;
	} catch {
		return false;
	}
}

test.serial('raw resumes the log after the disk was temporarily read-only [I5]', async t => {
	const {raw, logs, remount, target} = await start(t, 128);
	await sendTexts(t, raw, 1);
	await until(() => textIn(logs).includes('"close"'));
	// The line is in the file before the file is closed, and a disk with a file open for writing cannot be
	// remounted read-only.
	await until(() => isDone(() => remount('ro')));
	const socket = await dial(raw.port);
	socket.write('meanwhile');
	t.is(String(await readBytes(socket, 9)), 'meanwhile');
	socket.end();
	await raw.running.says(FAILS);
	remount('rw');
	await raw.running.says(WORKS);
	t.is(await raw.stop(), 0);
	t.is(bytesFrom(linesIn(logs), target).length, 5009);
});
