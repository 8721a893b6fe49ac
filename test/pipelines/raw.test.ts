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

/** A forwarded port in front of a target that does `accept`, with the lines that were logged. */
async function start(t: ExecutionContext, accept: (socket: Socket) => void) {
	return startFor(t, await target(t, accept));
}

async function startFor(t: ExecutionContext, targetPort: number) {
	const lines: Array<{readonly [key: string]: unknown}> = [];
	const traffic = {isOn: true, add: (line: TrafficLine) => void lines.push(lineOf(line))};
	const log = quietLog();
	const connections = new RawConnections();
	const loops = new LoopDetector();
	const overs: Array<Promise<void>> = [];
	const ports = new PortRules({
		accept(socket, {rule, port}) {
			const connection = forwardConnection(socket, {traffic, log, loops, rule, port, stages: rawStages});
			overs.push(connections.add(connection));
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
		over: () => Promise.all(overs),
	};
}

const events = (lines: ReadonlyArray<{readonly [key: string]: unknown}>): unknown[] =>
	lines.map(({event, data}) => event ?? data);

test('what one side says the other hears, and all of it is logged with its direction', async t => {
	const {port, lines, targetName, over} = await start(t, socket => void socket.pipe(socket));
	const socket = client(t, port);
	await once(socket, 'connect');
	const name = `127.0.0.1:${socket.localPort}`;
	socket.end('hello');
	t.is(await read(socket), 'hello');
	await over();
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

test('a client that has said all still hears the answer [I2]', async t => {
	const {port} = await start(t, socket => {
		void read(socket).then(text => socket.end(`answer to ${text}`));
	});
	const socket = client(t, port);
	socket.end('question');
	t.is(await read(socket), 'answer to question');
});

test('a target that has said all still hears the client, and is the one that closed first [I2]', async t => {
	let heard: Promise<string> | undefined;
	const {port, lines, targetName, over} = await start(t, socket => {
		heard = read(socket);
		socket.end('bye');
	});
	const socket = client(t, port);
	t.is(await read(socket), 'bye');
	socket.end('x'.repeat(1000));
	await over();
	t.is((await heard)?.length, 1000);
	t.like(lines.at(-1), {event: 'close', from: targetName});
});

test('a client that resets the connection is a reset to the target, with one close that says so [I2]', async t => {
	let failed: Promise<unknown> | undefined;
	const {port, lines, over} = await start(t, socket => {
		failed = once(socket, 'error').catch(error => error);
		socket.resume();
		socket.write('hi');
	});
	const socket = client(t, port);
	await once(socket, 'data');
	const name = `127.0.0.1:${socket.localPort}`;
	socket.resetAndDestroy();
	t.like(await failed, [{code: 'ECONNRESET'}]);
	await over();
	t.deepEqual(events(lines), ['open', 'hi', 'close']);
	t.like(lines.at(-1), {from: name, error: `${name} reset the connection (ECONNRESET)`});
});

test('a target that resets the connection is a reset to the client [I2]', async t => {
	const {port, lines, targetName, over} = await start(t, socket => {
		socket.once('data', () => socket.resetAndDestroy());
	});
	const socket = client(t, port);
	socket.write('x');
	const [error] = await once(socket, 'error').catch(reason => [reason]);
	t.like(error, {code: 'ECONNRESET'});
	await over();
	t.like(lines.at(-1), {
		event: 'close',
		from: targetName,
		error: `${targetName} reset the connection (ECONNRESET)`,
	});
});

test('a target that is down closes the client, and the rule lives [I3]', async t => {
	const gone = await start(t, () => {});
	gone.ports.remove(gone.port);
	const {port, lines, over} = await startFor(t, gone.port);
	for (const round of [1, 2]) {
		t.is(await read(client(t, port)), '');
		await over();
		t.is(lines.length, 2 * round);
	}
	t.deepEqual(events(lines), ['open', 'close', 'open', 'close']);
	t.regex(String(lines[1]?.error), /ECONNREFUSED/);
	t.not(lines[0]?.ConnID, lines[2]?.ConnID);
});

/** All that has come is read before a turn is over, and target, bridge and client are in this process. */
const STILL_TURNS = 1000;

/** What a number has come to when nothing is added to it any more. */
async function standsStill(read: () => number): Promise<number> {
	for (let [still, before] = [0, read()]; still < STILL_TURNS || before === 0; still++) {
		await turn();
		if (read() !== before) [still, before] = [0, read()];
	}
	return read();
}

test('a client that does not read stops the target [I4]', async t => {
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
	const stopped = await standsStill(() => written);
	t.true(stopped > 0 && stopped < 100e6, `${stopped} bytes`);
	t.true(lines.length > 1);
	socket.resume();
	while (written < stopped + 10e6) await turn();
});

test('a port whose rule is removed takes no more connections, and those that are open go on [I8]', async t => {
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

test('at the end all is delivered that was read, and each connection has its close [I9]', async t => {
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
