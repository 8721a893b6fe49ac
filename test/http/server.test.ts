import {once} from 'node:events';
import type {RequestListener} from 'node:http';
import {createConnection, type Socket} from 'node:net';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import type {UpgradeListener} from '../../lib/http/handlers.js';
import {rejectUpgrade} from '../../lib/http/http-error.js';
import {addressOf, type HttpServerOptions, listenHttp} from '../../lib/http/server.js';
import {until} from '../helpers/program.js';

const onBug = (error: unknown): void => {
	throw error;
};

const respondToAll: RequestListener = (req, res) => {
	req.resume().on('end', () => res.end('done'));
};

async function start(t: ExecutionContext, options: Partial<HttpServerOptions> = {}) {
	const server = await listenHttp({host: '127.0.0.1', port: 0, handle: respondToAll, onBug, ...options});
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	return {server, port: addressOf(server).port};
}

/** A connection. `closed` resolves to everything that was received. */
function connectTo(
	t: ExecutionContext,
	port: number,
	bytes: string,
): {socket: Socket; closed: Promise<string>} {
	const socket = createConnection(port, '127.0.0.1');
	t.teardown(() => socket.destroy());
	let text = '';
	socket
		.on('error', () => {})
		.on('data', chunk => {
			text += chunk;
		});
	socket.write(bytes);
	return {socket, closed: new Promise(resolve => socket.once('close', () => resolve(text)))};
}

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

test.serial('responds with 408 to an incomplete head [B9]', async t => {
	const {port} = await start(t, {headersTimeoutMs: 100, requestTimeoutMs: 60_000});
	const {closed} = connectTo(t, port, 'GET / HTTP/1.1\r\nHost: local');
	t.regex(await closed, /^HTTP\/1\.1 408 /);
});

test.serial('gives no more time to a head that arrives byte by byte [B9]', async t => {
	const {port} = await start(t, {headersTimeoutMs: 200, requestTimeoutMs: 60_000});
	const {socket, closed} = connectTo(t, port, 'GET / HTTP/1.1\r\nX: ');
	const drip = setInterval(() => socket.write('a'), 20);
	t.teardown(() => clearInterval(drip));
	t.regex(await closed, /^HTTP\/1\.1 408 /);
});

test.serial('responds with 408 to an incomplete body [B9]', async t => {
	const {port} = await start(t, {headersTimeoutMs: 100, requestTimeoutMs: 300});
	const {closed} = connectTo(t, port, 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc');
	t.regex(await closed, /^HTTP\/1\.1 408 /);
});

test.serial('closes a connection without any data [B9]', async t => {
	const {port} = await start(t, {headersTimeoutMs: 100, requestTimeoutMs: 300});
	const {closed} = connectTo(t, port, '');
	await t.notThrowsAsync(closed);
});

test.serial('applies no timeout to a complete request [B9]', async t => {
	const slow: RequestListener = (_, res) => setTimeout(() => res.end('late'), 3500);
	const {port} = await start(t, {handle: slow, headersTimeoutMs: 1000, requestTimeoutMs: 1500});
	t.regex(await connectTo(t, port, GET).closed, /^HTTP\/1\.1 200 (?:.|\s)*late$/);
});

test.serial('responds to other clients while 200 heads are incomplete [B9]', async t => {
	const {server, port} = await start(t);
	for (let count = 0; count < 200; count++) connectTo(t, port, 'GET / HTTP/1.1\r\nX: ');
	const count = (): Promise<number> =>
		new Promise((resolve, reject) =>
			server.getConnections((error, found) => (error ? reject(error) : resolve(found))),
		);
	let connected = 0;
	await until(() => {
		void count().then(found => {
			connected = found;
		});
		return connected >= 200;
	});
	t.regex(await connectTo(t, port, GET).closed, /^HTTP\/1\.1 200 /);
});

/** A server with this many connections, all with an open request. `reported` contains its calls of onDropped. */
async function startFull(t: ExecutionContext, maxConnections: number) {
	const [reported, waiting]: [number[], Array<() => void>] = [[], []];
	const handle: RequestListener = (req, res) => {
		if (req.url === '/wait') waiting.push(() => res.end('done'));
		else res.end('done');
	};
	const {port} = await start(t, {maxConnections, handle, onDropped: limit => reported.push(limit)});
	const wait = GET.replace('/', '/wait');
	const open = Array.from({length: maxConnections}, () => connectTo(t, port, wait));
	await until(() => waiting.length === maxConnections);
	const respond = (): void => {
		for (const end of waiting) end();
	};
	return {port, reported, open, respond};
}

test.serial(
	'closes and reports connections over the limit, and accepts new ones when others end [B15]',
	async t => {
		const {port, reported, open, respond} = await startFull(t, 2);
		t.is(await connectTo(t, port, GET).closed, '');
		t.deepEqual(reported, [2]);
		respond();
		for (const {closed} of open) t.regex(await closed, /^HTTP\/1\.1 200 /);
		t.regex(await connectTo(t, port, GET).closed, /^HTTP\/1\.1 200 /);
	},
);

test.serial('reports a flood of connections once, and not for each connection [B15]', async t => {
	const {port, reported} = await startFull(t, 1);
	await Promise.all(Array.from({length: 50}, () => connectTo(t, port, GET).closed));
	t.is(reported.length, 1);
});

for (const [state, bytes] of [
	['without data', ''],
	['with a partial head', 'GET / HT'],
	['kept alive after a response', GET.replace('Connection: close\r\n', '')],
] as const)
	test.serial(
		`a new connection replaces the one that has been idle for the longest time, ${state} [SEC-D18]`,
		async t => {
			const {port} = await start(t, {maxConnections: 2});
			const idle: Array<ReturnType<typeof connectTo>> = [];
			for (let count = 0; count < 2; count++) {
				const connection = connectTo(t, port, bytes);
				idle.push(connection);
				await once(connection.socket, bytes.length > 10 ? 'data' : 'connect');
			}
			t.regex(await connectTo(t, port, GET).closed, /^HTTP\/1\.1 200 /);
			await idle[0]?.closed;
			t.false(idle[1]?.socket.destroyed);
		},
	);

for (const [kind, line] of [
	['an upgrade', 'GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket'],
	['CONNECT', 'CONNECT example.com:443 HTTP/1.1'],
] as const)
	test.serial(`closes the connection of a client after rejecting ${kind} [SEC-D15]`, async t => {
		const upgrade: UpgradeListener = (_req, socket) =>
			rejectUpgrade(socket, {status: 404, message: 'Not Found'});
		const {server, port} = await start(t, {upgrade});
		const socket = createConnection({port, host: '127.0.0.1', allowHalfOpen: true}).on('error', () => {});
		t.teardown(() => socket.destroy());
		socket.write(`${line}\r\nHost: localhost\r\n\r\n`);
		t.regex(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 40[45] /);
		const connections = (): Promise<number> =>
			new Promise(resolve => server.getConnections((_error, count) => resolve(count)));
		await until(async () => (await connections()) === 0);
		t.false(socket.destroyed);
	});

test.serial(
	'reports a port that is in use in one sentence, with the process that listens on it [L7]',
	async t => {
		const {port} = await start(t);
		const error = await t.throwsAsync(listenHttp({host: '127.0.0.1', port, handle: respondToAll, onBug}));
		const [, listener] =
			/^Cannot listen on \S+: the port is already in use by .+ \(process (\d+)\)\.$/.exec(
				error?.message ?? '',
			) ?? [];
		t.is(Number(listener), process.pid, error?.message);
	},
);
