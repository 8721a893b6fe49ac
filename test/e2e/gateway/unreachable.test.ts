import test, {type ExecutionContext} from 'ava';
import {opening} from '../../helpers/bridge.js';
import {freePort} from '../../helpers/free-port.js';
import {messageIn, startGateway} from '../../helpers/gateway.js';
import {startTcp, startUpstream} from '../../helpers/upstream.js';

const initialize = {id: 'mine', method: 'initialize', params: opening};

/** Listens on a port. Resolves `firstBytes` with the first data of a connection. */
async function startRecorder(t: ExecutionContext): Promise<{port: number; firstBytes: Promise<Buffer>}> {
	let resolveFirst: (bytes: Buffer) => void = () => {};
	const firstBytes = new Promise<Buffer>(resolve => {
		resolveFirst = resolve;
	});
	const port = await startTcp(t, socket => {
		socket.once('data', data => {
			resolveFirst(data);
			socket.destroy();
		});
	});
	return {port, firstBytes};
}

test('replies with 502 and the id for unreachable upstreams, and serves others [D1] [D3] [D7] [D14]', async t => {
	const fine = await startUpstream(t);
	const closed = await freePort();
	const garbage = await startTcp(t, socket => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
	const resets = await startTcp(t, socket => socket.resetAndDestroy());
	const silent = await startTcp(t, socket => socket.end());
	const insecure = await startRecorder(t);
	const gateway = await startGateway(t, {
		servers: {
			fine: {url: fine.url},
			refused: {url: `http://127.0.0.1:${closed}/mcp`},
			nowhere: {url: 'https://nowhere.invalid/mcp', timeout: 20},
			untrusted: {url: `https://127.0.0.1:${fine.port}/mcp`},
			garbage: {url: `http://127.0.0.1:${garbage}/mcp`},
			resets: {url: `http://127.0.0.1:${resets}/mcp`},
			silent: {url: `http://127.0.0.1:${silent}/mcp`},
			// A local address that is not a loopback address.
			upgraded: {url: `http://0.0.0.0:${insecure.port}/mcp`},
		},
	});
	const session = await gateway.open('fine');
	for (const service of ['refused', 'nowhere', 'untrusted', 'garbage', 'resets', 'silent', 'upgraded']) {
		const reply = await gateway.post(service, initialize);
		t.is(reply.status, 502, service);
		t.like(messageIn(reply), {id: 'mine', error: {code: -31001, data: {source: 'bridge'}}}, service);
		t.is(reply.headers.get('mcp-session-id'), null);
		t.is((await session.post({id: 1, method: 'ping'})).status, 200);
	}
	const [first] = await insecure.firstBytes;
	t.is(first, 0x16, 'D14 the connection uses TLS');
	const {services} = JSON.parse((await gateway.fetch('/status')).text);
	t.is(services.refused.state, 'failed');
	t.regex(services.refused.lastError, /the connection was refused/);
	t.is(services.fine.state, 'ready');
});
