import {once} from 'node:events';
import type {Socket} from 'node:net';
import {setImmediate as turn} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {RawConnections} from '../../lib/raw/connections.js';
import {forwardConnection} from '../../lib/raw/forward-connection.js';
import {LoopDetector} from '../../lib/raw/loop-detector.js';
import {parsePortRule} from '../../lib/raw/port-rule.js';
import {PortRules} from '../../lib/raw/port-rules.js';
import type {TrafficLine} from '../../lib/traffic-log/records.js';
import {rawStages} from '../../pipelines/raw.js';
import {client, lineOf, quietLog, read, target} from '../raw/support.js';

/** A forwarded port in front of a target with this connection handler, and the recorded lines. */
async function start(t: ExecutionContext, accept: (socket: Socket) => void) {
	return startFor(t, await target(t, accept));
}

async function startFor(t: ExecutionContext, targetPort: number) {
	const lines: Array<{readonly [key: string]: unknown}> = [];
	const traffic = {isOn: true, add: (line: TrafficLine) => void lines.push(lineOf(line))};
	const log = quietLog();
	const connections = new RawConnections();
	const loops = new LoopDetector();
	const closings: Array<Promise<void>> = [];
	const ports = new PortRules({
		accept(socket, {rule, port}) {
			const connection = forwardConnection(socket, {traffic, log, loops, rule, port, stages: rawStages});
			closings.push(connections.add(connection));
		},
		onDropped: () => {},
		onTrouble: () => {},
	});
	t.teardown(async () => {
		ports.close();
		await connections.close();
	});
	const {port} = await ports.add(parsePortRule(`0:127.0.0.1:${targetPort}`));
	return {
		port,
		lines,
		connections,
		ports,
		targetName: `127.0.0.1:${targetPort}`,
		closed: () => Promise.all(closings),
	};
}

const events = (lines: ReadonlyArray<{readonly [key: string]: unknown}>): unknown[] =>
	lines.map(({event, data}) => event ?? data);

test('forwards data in both directions, and records it with its direction', async t => {
	const {port, lines, targetName, closed} = await start(t, socket => void socket.pipe(socket));
	const socket = client(t, port);
	await once(socket, 'connect');
	const name = `127.0.0.1:${socket.localPort}`;
	socket.end('hello');
	t.is(await read(socket), 'hello');
	await closed();
	const [toTarget, toClient] = [
		{from: name, to: targetName, listen_port: port},
		{from: targetName, to: name, listen_port: port},
	];
	const ConnID = lines[0]?.ConnID;
	t.regex(String(ConnID), /^[0-9A-Za-z]{8}$/);
	t.deepEqual(
		lines.map(({time: _, ...rest}) => rest),
		[
			{ConnID, event: 'open', ...toTarget},
			{ConnID, data: 'hello', ...toTarget},
			{ConnID, data: 'hello', ...toClient},
			{ConnID, event: 'close', ...toTarget},
		],
	);
	t.deepEqual(Object.keys(lines[1] ?? {}), ['time', 'ConnID', 'data', 'from', 'to', 'listen_port']);
});

test('delivers the response to a client that has closed its sending side [I2]', async t => {
	const {port} = await start(t, socket => {
		void read(socket).then(text => socket.end(`response to ${text}`));
	});
	const socket = client(t, port);
	socket.end('request');
	t.is(await read(socket), 'response to request');
});

test('delivers data to a target that has closed its sending side, and records that it closed first [I2]', async t => {
	let received: Promise<string> | undefined;
	const {port, lines, targetName, closed} = await start(t, socket => {
		received = read(socket);
		socket.end('bye');
	});
	const socket = client(t, port);
	t.is(await read(socket), 'bye');
	socket.end('x'.repeat(1000));
	await closed();
	t.is((await received)?.length, 1000);
	t.like(lines.at(-1), {event: 'close', from: targetName});
});

test('resets the target when the client resets, and records one close with the reason [I2]', async t => {
	let failed: Promise<unknown> | undefined;
	const {port, lines, closed} = await start(t, socket => {
		failed = once(socket, 'error').catch(error => error);
		socket.resume();
		socket.write('hi');
	});
	const socket = client(t, port);
	await once(socket, 'data');
	const name = `127.0.0.1:${socket.localPort}`;
	socket.resetAndDestroy();
	t.like(await failed, [{code: 'ECONNRESET'}]);
	await closed();
	t.deepEqual(events(lines), ['open', 'hi', 'close']);
	t.like(lines.at(-1), {from: name, error: `${name} reset the connection (ECONNRESET)`});
});

test('resets the client when the target resets [I2]', async t => {
	const {port, lines, targetName, closed} = await start(t, socket => {
		socket.once('data', () => socket.resetAndDestroy());
	});
	const socket = client(t, port);
	socket.write('x');
	const [error] = await once(socket, 'error').catch(reason => [reason]);
	t.like(error, {code: 'ECONNRESET'});
	await closed();
	t.like(lines.at(-1), {
		event: 'close',
		from: targetName,
		error: `${targetName} reset the connection (ECONNRESET)`,
	});
});

test('closes the client when the target is down, and keeps the rule [I3]', async t => {
	const down = await start(t, () => {});
	down.ports.remove(down.port);
	const {port, lines, closed} = await startFor(t, down.port);
	for (const round of [1, 2]) {
		t.is(await read(client(t, port)), '');
		await closed();
		t.is(lines.length, 2 * round);
	}
	t.deepEqual(events(lines), ['open', 'close', 'open', 'close']);
	t.regex(String(lines[1]?.error), /ECONNREFUSED/);
	t.not(lines[0]?.ConnID, lines[2]?.ConnID);
});

/** Event loop turns without a change. Enough, because target, bridge and client share this process. */
const STILL_TURNS = 1000;

/** Resolves to the value of a counter that no longer changes. */
async function settledValue(read: () => number): Promise<number> {
	for (let [still, before] = [0, read()]; still < STILL_TURNS || before === 0; still++) {
		await turn();
		if (read() !== before) [still, before] = [0, read()];
	}
	return read();
}

test('stops reading from the target while the client does not read [I4]', async t => {
	let written = 0;
	const {port, lines} = await start(t, socket => {
		const block = Buffer.alloc(65_536);
		const pump = (): void => {
			while (socket.write(block)) written += block.length;
			socket.once('drain', pump);
		};
		pump();
	});
	const socket = client(t, port);
	socket.pause();
	const stopped = await settledValue(() => written);
	t.true(stopped > 0 && stopped < 100e6, `${stopped} bytes`);
	t.true(lines.length > 1);
	socket.resume();
	while (written < stopped + 10e6) await turn();
});

test('accepts no connections for a removed rule, and keeps open ones [I8]', async t => {
	const {port, ports} = await start(t, socket => void socket.pipe(socket));
	const socket = client(t, port);
	await once(socket, 'connect');
	t.true(ports.remove(port));
	t.false(ports.remove(port));
	const late = client(t, port);
	const [error] = await once(late, 'error').catch(reason => [reason]);
	t.like(error, {code: 'ECONNREFUSED'});
	socket.end('still');
	t.is(await read(socket), 'still');
});

test('delivers data that was read and records each close on shutdown [I9]', async t => {
	const {port, lines, connections} = await start(t, socket => void socket.pipe(socket));
	const sockets = [client(t, port), client(t, port)];
	for (const socket of sockets) {
		socket.write('hello');
		await once(socket, 'data');
	}
	await connections.close();
	t.deepEqual(
		events(lines).filter(event => event === 'close'),
		['close', 'close'],
	);
	t.is(connections.countOf(port), 0);
});
