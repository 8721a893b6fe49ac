import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {startBridge} from '../helpers/bridge.js';
import {until} from '../helpers/pipeline.js';
import {type LogLine, lineCount, readLog} from '../helpers/temp-folder.js';
import {chat, countOf, echoServer, FAILS, HANDSHAKE, sendRequests, smallDisk, WORKS} from './tools.js';

const start = async (t: ExecutionContext, {free, flags}: {free: number; flags: readonly string[]}) => {
	const {folder, remount} = smallDisk(t, '128k');
	writeFileSync(join(folder, 'ballast'), Buffer.alloc((128 - free) * 1024));
	const file = join(folder, 'log.ndjson');
	const bridge = startBridge(['--log', file, ...flags, '--', ...echoServer]);
	t.teardown(() => bridge.child.kill('SIGKILL'));
	await bridge.shakeHands();
	return {bridge, file, remount};
};

/** The ids of the requests and of the responses in a log, after those of the handshake. */
function idsIn(lines: readonly LogLine[]): {requests: unknown[]; responses: unknown[]} {
	const messages = lines
		.filter(({message}) => message !== undefined)
		.slice(HANDSHAKE)
		.map(({message}) => message as {id?: unknown; method?: string});
	return {
		requests: messages.filter(({method}) => method !== undefined).map(({id}) => id),
		responses: messages.filter(({method}) => method === undefined).map(({id}) => id),
	};
}

const upTo = (count: number): number[] => Array.from({length: count}, (_, index) => index);

test.serial('forwards traffic on a full disk, warns once, and resumes the log without a gap', async t => {
	const {bridge, file, remount} = await start(t, {free: 32, flags: ['--flush-millis', '20']});
	await chat(bridge, 0, 2);
	await until(() => lineCount(file) >= 5 + HANDSHAKE);
	await chat(bridge, 2, 10);
	await bridge.says(FAILS);
	await chat(bridge, 12, 10);
	remount('size=16m');
	await bridge.says(WORKS);
	await chat(bridge, 22, 2);
	t.is(await bridge.end(), 0);
	t.is(countOf(bridge, FAILS), 1);
	t.is(countOf(bridge, WORKS), 1);
	t.regex(bridge.stderr, /ENOSPC/);
	t.deepEqual(idsIn(readLog(file)), {requests: upTo(24), responses: upTo(24)});
});

test.serial('writes no partial line if the first lines do not fit on the disk', async t => {
	const {bridge, file, remount} = await start(t, {free: 8, flags: ['--flush-millis', '400']});
	await chat(bridge, 0, 10);
	await bridge.says(FAILS);
	remount('size=16m');
	await bridge.says(WORKS);
	t.is(await bridge.end(), 0);
	t.deepEqual(idsIn(readLog(file)), {requests: upTo(10), responses: upTo(10)});
});

test.serial('logs the number of lines dropped when the buffer is full', async t => {
	const {bridge, file, remount} = await start(t, {
		free: 0,
		flags: ['--flush-millis', '20', '--max-buffer', '64KiB'],
	});
	await chat(bridge, 0, 100);
	await bridge.says(FAILS);
	remount('size=16m');
	await bridge.says(WORKS);
	await chat(bridge, 100, 1);
	t.is(await bridge.end(), 0);
	const lines = readLog(file);
	const lost = lines
		.filter(({event}) => event === 'gap')
		.reduce((sum, {lines: count}) => sum + Number(count), 0);
	t.true(lost > 100, `${lost} lines`);
	t.is(lines.filter(({message}) => message !== undefined).length + lost, 202 + HANDSHAKE);
});

test.serial('--on-full wait pauses traffic while the buffer is full', async t => {
	const flags = ['--flush-millis', '20', '--max-buffer', '64KiB', '--on-full', 'wait'];
	const {bridge, file, remount} = await start(t, {free: 0, flags});
	const count = 200;
	sendRequests(bridge, 0, count);
	await bridge.says(FAILS);
	let seen = -1;
	for (let since = performance.now(); performance.now() - since < 300; ) {
		if (bridge.lines.length !== seen) since = performance.now();
		seen = bridge.lines.length;
		await new Promise(setImmediate);
	}
	t.true(seen < count, `${seen} responses arrived`);
	remount('size=16m');
	for (const id of upTo(count)) await bridge.answer(id);
	t.is(await bridge.end(), 0);
	t.deepEqual(idsIn(readLog(file)), {requests: upTo(count), responses: upTo(count)});
});

test.serial('reports the number of bytes that could not be written before exit', async t => {
	const {bridge} = await start(t, {free: 0, flags: ['--flush-millis', '20']});
	await chat(bridge, 0, 3);
	await bridge.says(FAILS);
	t.is(await bridge.end(), 0);
	t.regex(bridge.stderr, /\d{5} bytes of the traffic log could not be written/);
	t.is(countOf(bridge, FAILS), 1);
});

test.serial('resumes the log after the disk was temporarily read-only', async t => {
	const {bridge, file, remount} = await start(t, {free: 128, flags: ['--flush-millis', '20']});
	await chat(bridge, 0, 1);
	await until(() => lineCount(file) >= 3 + HANDSHAKE);
	remount('ro');
	await chat(bridge, 1, 3);
	await bridge.says(FAILS);
	t.regex(bridge.stderr, /EROFS/);
	remount('rw');
	await bridge.says(WORKS);
	t.is(await bridge.end(), 0);
	t.deepEqual(idsIn(readLog(file)), {requests: upTo(4), responses: upTo(4)});
});
