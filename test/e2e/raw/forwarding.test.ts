import {once} from 'node:events';
import {setTimeout as sleep} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {freePort} from '../../helpers/free-port.js';
import {peakMiB, untilStill} from '../../helpers/program.js';
import {call, done} from './control.js';
import {bytesFrom, type Line, type Raw, startRaw} from './support.js';
import {dial, ending, exchange, ownAddress, type Peer, readAll, readBytes, startPeer} from './tcp.js';

const QUICK = ['--flush-millis', '20'];

/** Starts a bridge and a passive target, and opens a connection through it. Returns both of its ends. */
async function connectThrough(t: ExecutionContext) {
	const peer = await startPeer(t);
	const raw = await startRaw(t, [...QUICK, `0:127.0.0.1:${peer.port}`]);
	const client = await dial(raw.port);
	t.teardown(() => client.destroy());
	return {raw, peer, client, address: ownAddress(client), target: await peer.socket()};
}

const count = (lines: readonly Line[], event: string): number =>
	lines.filter(line => line.event === event).length;

/** Asserts one open as the first line and one close as the last. */
function assertComplete(t: ExecutionContext, lines: readonly Line[]): void {
	t.is(count(lines, 'open'), 1);
	t.is(count(lines, 'close'), 1);
	t.is(lines[0]?.event, 'open');
	t.is(lines.at(-1)?.event, 'close');
}

test('a client that has ended its side still receives the reply [I2]', async t => {
	const {raw, client, address, target} = await connectThrough(t);
	const [received, reply] = [readAll(target), readAll(client)];
	client.end('request');
	t.is(String(await received), 'request');
	target.write('first part, ');
	await sleep(20);
	target.end('second part');
	t.is(String(await reply), 'first part, second part');
	assertComplete(t, await raw.connection(address));
});

test('a target that has ended its side still receives data from the client [I2]', async t => {
	const {raw, client, address, target} = await connectThrough(t);
	const [received, reply] = [readAll(target), readAll(client)];
	target.end('hello');
	t.is(String(await reply), 'hello');
	client.write(Buffer.alloc(1000, 'a'));
	await sleep(20);
	client.end(Buffer.alloc(1000, 'b'));
	t.is(String(await received), 'a'.repeat(1000) + 'b'.repeat(1000));
	const lines = await raw.connection(address);
	assertComplete(t, lines);
	t.is(bytesFrom(lines, address).length, 2000);
});

test('forwards a reset by the target to the client [I2]', async t => {
	const {raw, client, address, target} = await connectThrough(t);
	client.write('x');
	await readBytes(target, 1);
	const ended = ending(client);
	target.resetAndDestroy();
	t.is(await ended, 'ECONNRESET');
	assertComplete(t, await raw.connection(address));
});

test('forwards a reset by the client to the target [I2]', async t => {
	const {raw, client, address, target} = await connectThrough(t);
	client.write('x');
	await readBytes(target, 1);
	const ended = ending(target);
	client.resetAndDestroy();
	t.is(await ended, 'ECONNRESET');
	assertComplete(t, await raw.connection(address));
});

test('forwards all data when both sides end at once, with one open and one close [I2]', async t => {
	const {raw, client, address, target} = await connectThrough(t);
	const [received, reply] = [readAll(target), readAll(client)];
	client.end('from here');
	target.end('from there');
	t.deepEqual([String(await received), String(await reply)], ['from here', 'from there']);
	const lines = await raw.connection(address);
	assertComplete(t, lines);
	t.is(String(bytesFrom(lines, address)), 'from here');
});

test('logs an open and a close for a connection without data [I2]', async t => {
	const {raw, client, address, target} = await connectThrough(t);
	const ended = ending(target);
	client.end();
	t.is(await ended, 'end');
	target.end();
	const lines = await raw.connection(address);
	assertComplete(t, lines);
	t.is(lines.length, 2);
});

test('logs an open and a close with an error when the target is down, and keeps the rule [I3]', async t => {
	const port = await freePort();
	const raw = await startRaw(t, [...QUICK, `0:127.0.0.1:${port}`]);
	const client = await dial(raw.port);
	const address = ownAddress(client);
	t.regex(await ending(client), /^(?:end|ECONNRESET)$/);
	client.destroy();
	const lines = await raw.connection(address);
	assertComplete(t, lines);
	t.is(lines.length, 2);
	t.regex(String(lines[1]?.error), /ECONNREFUSED/);
	await startPeer(t, socket => socket.pipe(socket), {port});
	t.is(String((await exchange(raw.port, 'now it is up')).reply), 'now it is up');
});

test('logs an open and a close with an error when the target name does not resolve [I3]', async t => {
	const raw = await startRaw(t, [...QUICK, '0:no-such-host.invalid:80']);
	const client = await dial(raw.port);
	const address = ownAddress(client);
	t.regex(await ending(client), /^(?:end|ECONNRESET)$/);
	client.destroy();
	const lines = await raw.connection(address);
	t.like(lines[0], {event: 'open', to: 'no-such-host.invalid:80'});
	t.regex(String(lines.at(-1)?.error), /no-such-host\.invalid|ENOTFOUND|EAI_AGAIN/);
});

test('forwards in order what a client sends before the target is connected [I3]', async t => {
	const peer = await startPeer(t, socket => socket.pipe(socket));
	const raw = await startRaw(t, [...QUICK, `0:localhost:${peer.port}`]);
	const text = Array.from({length: 5000}, (_, index) => `${index}\n`).join('');
	t.is(String((await exchange(raw.port, text)).reply), text);
});

/** Sends until backpressure stops the sender, then lets the other side read. Returns the buffered bytes. */
async function flood(raw: Raw, peer: Peer, isFromTarget: boolean): Promise<number> {
	const {length: before} = peer.sockets;
	const client = await dial(raw.port);
	const target = await peer.socket(before);
	const [sender, receiver] = isFromTarget ? [target, client] : [client, target];
	receiver.pause();
	const block = Buffer.alloc(2 ** 16, 'x');
	let isOver = false;
	const send = (): void => {
		while (!isOver && sender.bytesWritten < 2 ** 30 && sender.write(block));
	};
	sender.on('drain', send);
	send();
	await untilStill(() => sender.bytesWritten - sender.writableLength);
	const buffered = sender.bytesWritten - sender.writableLength;
	isOver = true;
	sender.end();
	let received = 0;
	receiver.on('data', ({length}) => {
		received += length;
	});
	receiver.resume();
	await once(receiver, 'end');
	receiver.end();
	if (received !== sender.bytesWritten)
		throw new Error(`${received} of ${sender.bytesWritten} bytes arrived.`);
	return buffered;
}

for (const isFromTarget of [true, false])
	test(`applies backpressure for a ${isFromTarget ? 'client' : 'target'} that does not read, within bounded memory [I4]`, async t => {
		const peer = await startPeer(t, () => {}, {isPaused: true});
		const raw = await startRaw(t, ['--mcp-port', '0', `0:127.0.0.1:${peer.port}`]);
		await done(raw.endpoint, 'stop-logging');
		const before = peakMiB(raw.running.pid);
		const buffered = await flood(raw, peer, isFromTarget);
		t.true(buffered < 48 * 2 ** 20, `${buffered} bytes`);
		t.true(peakMiB(raw.running.pid) - before < 48, `${peakMiB(raw.running.pid)} MiB`);
		t.truthy((await call(raw.endpoint, 'tools/none')).error);
	});

for (const [rule, host] of [
	['0:[::1]:', '::1'],
	['127.0.0.2:0:127.0.0.1:', '127.0.0.1'],
	['[::1]:0:[::1]:', '::1'],
	['localhost:0:127.0.0.1:', '127.0.0.1'],
] as const)
	test(`a rule ${rule}PORT listens and connects at its addresses`, async t => {
		const peer = await startPeer(t, socket => socket.pipe(socket), {host});
		const raw = await startRaw(t, [...QUICK, `${rule}${peer.port}`]);
		const local = /^(?:\[(.*?)\]|([^:]*)):0:/.exec(rule)?.slice(1).find(Boolean) ?? '127.0.0.1';
		const {reply, client} = await exchange(raw.port, 'x', local);
		t.is(String(reply), 'x');
		const shown = client.replace(/^::1:/, '[::1]:');
		const lines = await raw.connection(shown);
		t.like(lines[0], {event: 'open', to: `${host === '::1' ? '[::1]' : host}:${peer.port}`});
	});
