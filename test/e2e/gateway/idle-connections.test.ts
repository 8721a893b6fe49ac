import {once} from 'node:events';
import {Agent, request} from 'node:http';
import {createConnection, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {program, type RunningGateway, startGateway} from '../../helpers/gateway.js';

/** More connections than the gateway accepts. */
const MANY = 1100;
const tokens = ['token-of-client-a', 'token-of-client-b'];
const servers = {puppet: program('puppet')};

/** Opens connections and sends these bytes on each. Waits for the responses to complete requests. */
async function flood(t: ExecutionContext, {base}: RunningGateway, bytes: string): Promise<readonly Socket[]> {
	const sockets: Socket[] = [];
	t.teardown(() => {
		for (const socket of sockets) socket.destroy();
	});
	for (let count = 0; count < MANY; count++) {
		const socket = createConnection({port: Number(new URL(base).port), host: '127.0.0.1'});
		sockets.push(socket.on('error', () => {}));
		await once(socket, 'connect');
		socket.write(bytes);
		if (!bytes.startsWith('GET') || !bytes.endsWith('\r\n\r\n')) continue;
		await Promise.race([once(socket, 'data'), once(socket, 'close')]);
	}
	return sockets;
}

const GET = (path: string, token?: string): string =>
	`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${token === undefined ? '' : `X-Bridge-Token: ${token}\r\n`}\r\n`;

for (const [title, bytes] of [
	['that send nothing', ''],
	['that send half a head', 'GET /healthz HT'],
	['kept alive after /healthz', GET('/healthz')],
	['kept alive after a 401', GET('/status')],
	[
		'that never send the password of a login',
		'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n',
	],
	['of another client, kept alive', GET('/status', tokens[0])],
] as const)
	test.serial(
		`serves clients and keeps their connections despite too many connections ${title} [SEC-D18]`,
		async t => {
			const gateway = await startGateway(t, {tokens, servers});
			const agent = new Agent({keepAlive: true, maxSockets: 1});
			t.teardown(() => agent.destroy());
			const status = (headers: {[name: string]: string}): Promise<readonly [number, number]> =>
				new Promise((resolve, reject) => {
					const sent = request(new URL('/status', gateway.base), {agent, headers}, response => {
						const {localPort = 0} = sent.socket ?? {};
						response.resume().on('end', () => resolve([response.statusCode ?? 0, localPort]));
					});
					sent.on('error', reject).end();
				});
			const own = {'x-bridge-token': tokens[1] ?? ''};
			const before = await status(own);
			await flood(t, gateway, bytes);
			t.deepEqual(await status(own), before, 'the connection that was idle during the flood');
			t.is(before[0], 200);
			t.is((await gateway.fetch('/status', {headers: own})).status, 200, 'a new connection');
		},
	);
