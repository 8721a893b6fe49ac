import {type ChildProcess, spawn} from 'node:child_process';
import {createHash, randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {readdirSync} from 'node:fs';
import type {Socket} from 'node:net';
import {join} from 'node:path';
import process from 'node:process';
import type {Readable} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {bridgeBin} from '../../helpers/bridge.js';
import {newFolder, peakMiB} from '../../helpers/program.js';
import {linesIn, sorted, startRaw} from './support.js';
import {dial, exchange, startPeer} from './tcp.js';

const SIZE = 100 * 1000 * 1000;
const BLOCK = 1_000_000;

/** Sends SIZE random bytes under backpressure and returns their hash. */
async function sendRandom(socket: Socket): Promise<string> {
	const hash = createHash('sha256');
	for (let sent = 0; sent < SIZE; sent += BLOCK) {
		const block = randomBytes(BLOCK);
		hash.update(block);
		if (!socket.write(block)) await once(socket, 'drain');
	}
	socket.end();
	return hash.digest('hex');
}

/** The hash and the size of all data of a stream. */
function hashOf(stream: Readable): Promise<{size: number; sha256: string}> {
	const hash = createHash('sha256');
	let size = 0;
	return new Promise((resolve, reject) => {
		stream.on('data', (chunk: Buffer) => {
			hash.update(chunk);
			size += chunk.length;
		});
		stream.once('end', () => resolve({size, sha256: hash.digest('hex')}));
		stream.once('error', reject);
	});
}

/** Runs `bridge decode ARGS` and hashes its output. */
async function decoded(t: ExecutionContext, ...args: readonly string[]) {
	const child: ChildProcess = spawn(process.execPath, [bridgeBin, 'decode', ...args], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	t.teardown(() => child.kill('SIGKILL'));
	const closed = once(child, 'close');
	if (!child.stdout) throw new Error('The child has no stdout.');
	const hashed = await hashOf(child.stdout);
	const [code] = await closed;
	return {code, ...hashed};
}

test.serial(
	'forwards 100 MB of random bytes each way at once, and bridge decode restores them exactly [I1]',
	async t => {
		const logs = join(await newFolder(t), 'logs');
		const received: Array<Promise<{size: number; sha256: string}>> = [];
		const sent: Array<Promise<string>> = [];
		const peer = await startPeer(t, socket => {
			received.push(hashOf(socket));
			sent.push(sendRandom(socket));
		});
		const args = [
			'--on-full',
			'wait',
			'--filename-format',
			'log.ndjson',
			`0:127.0.0.1:${peer.port}`,
			`@${logs}`,
		];
		const raw = await startRaw(t, args);
		const client = await dial(raw.port);
		const reply = hashOf(client);
		const sentByClient = await sendRandom(client);
		t.deepEqual(await reply, {size: SIZE, sha256: (await sent[0]) ?? ''});
		t.deepEqual(await received[0], {size: SIZE, sha256: sentByClient});
		client.destroy();
		t.is(await raw.stop(), 0);
		t.deepEqual(readdirSync(logs), ['log.ndjson']);
		const log = join(logs, 'log.ndjson');
		t.deepEqual(await decoded(t, log, '--from'), {code: 0, size: SIZE, sha256: sentByClient});
		t.deepEqual(await decoded(t, log, '--to'), {code: 0, size: SIZE, sha256: (await sent[0]) ?? ''});
	},
);

test.serial('serves 1,000 concurrent connections and separates them in the log', async t => {
	const logs = join(await newFolder(t), 'logs');
	const peer = await startPeer(t, socket => socket.pipe(socket));
	const raw = await startRaw(t, [`0:127.0.0.1:${peer.port}`, `@${logs}`]);
	const sockets = await Promise.all(Array.from({length: 1000}, () => dial(raw.port)));
	await peer.socket(999);
	await Promise.all(
		sockets.map(async (socket, index) => {
			const text = `connection ${index};`.repeat(10);
			const parts: Buffer[] = [];
			socket.on('data', part => parts.push(part));
			const end = once(socket, 'end');
			socket.end(text);
			await end;
			if (String(Buffer.concat(parts)) !== text)
				throw new Error(`Connection ${index} received different data.`);
		}),
	);
	t.is(await raw.stop(), 0);
	const lines = linesIn(logs);
	const idsOf = (event: string): unknown[] =>
		lines.filter(line => line.event === event).map(({ConnID}) => ConnID);
	t.is(new Set(idsOf('open')).size, 1000);
	t.is(idsOf('open').length, 1000);
	t.deepEqual([...idsOf('close')].sort(), [...idsOf('open')].sort());
	// Ids are assigned in the order of connections.
	t.deepEqual(idsOf('open'), [...idsOf('open')].sort());
	const received = new Map<unknown, string>();
	for (const {ConnID, data = '', from} of lines)
		if (ConnID !== undefined && from !== `127.0.0.1:${peer.port}`)
			received.set(ConnID, (received.get(ConnID) ?? '') + data);
	const expected = Array.from({length: 1000}, (_, index) => `connection ${index};`.repeat(10));
	t.deepEqual(sorted(received.values()), sorted(expected));
});

test.serial('closed connections leave no memory behind', async t => {
	const peer = await startPeer(t, socket => socket.pipe(socket));
	const logs = join(await newFolder(t), 'logs');
	const raw = await startRaw(t, ['--flush-millis', '50', `0:127.0.0.1:${peer.port}`, `@${logs}`]);
	const run = async (count: number): Promise<void> => {
		for (let done = 0; done < count; done += 20)
			await Promise.all(Array.from({length: 20}, () => exchange(raw.port, 'x'.repeat(10_000))));
	};
	await run(300);
	const before = peakMiB(raw.running.pid);
	await run(500);
	t.true(peakMiB(raw.running.pid) - before < 64, `${before} MiB, then ${peakMiB(raw.running.pid)}`);
});
