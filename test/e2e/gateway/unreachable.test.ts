import test, {type ExecutionContext} from 'ava';
import {opening} from '../../helpers/bridge.js';
import {freePort} from '../../helpers/free-port.js';
import {messageIn, startGateway} from '../../helpers/gateway.js';
import {startTcp, startUpstream} from '../../helpers/upstream.js';

const initialize = {id: 'mine', method: 'initialize', params: opening};

/** What the first thing is that somebody who connects there says. */
async function firstWords(t: ExecutionContext): Promise<{port: number; words: Promise<Buffer>}> {
	let heard: (words: Buffer) => void = () => {};
	const words = new Promise<Buffer>(resolve => {
		heard = resolve;
	});
	const port = await startTcp(t, socket => {
		socket.once('data', data => {
			heard(data);
			socket.destroy();
		});
	});
	return {port, words};
}

test('upstreams that cannot be reached are 502 with the id, and others are served [D1] [D3] [D7] [D14]', async t => {
	const fine = await startUpstream(t);
	const closed = await freePort();
	const garbage = await startTcp(t, socket => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
	const resets = await startTcp(t, socket => socket.resetAndDestroy());
	const silent = await startTcp(t, socket => socket.end());
	const insecure = await firstWords(t);
	const gateway = await startGateway(t, {
		servers: {
			fine: {url: fine.url},
			refused: {url: `http://127.0.0.1:${closed}/mcp`},
			nowhere: {url: 'https://nowhere.invalid/mcp', timeout: 20},
			untrusted: {url: `https://127.0.0.1:${fine.port}/mcp`},
			garbage: {url: `http://127.0.0.1:${garbage}/mcp`},
			resets: {url: `http://127.0.0.1:${resets}/mcp`},
			silent: {url: `http://127.0.0.1:${silent}/mcp`},
			// An address of this machine that does not look like one.
			upgraded: {url: `http://0.0.0.0:${insecure.port}/mcp`},
		},
	});
	const session = await gateway.open('fine');
	for (const service of ['refused', 'nowhere', 'untrusted', 'garbage', 'resets', 'silent', 'upgraded']) {
		const answer = await gateway.post(service, initialize);
		t.is(answer.status, 502, service);
		t.like(messageIn(answer), {id: 'mine', error: {code: -31001, data: {source: 'bridge'}}}, service);
		t.is(answer.headers.get('mcp-session-id'), null);
		t.is((await session.post({id: 1, method: 'ping'})).status, 200);
	}
	const [first] = await insecure.words;
	t.is(first, 0x16, 'D14 it was spoken to in TLS');
	const {services} = JSON.parse((await gateway.fetch('/status')).text);
	t.is(services.refused.state, 'failed');
	t.regex(services.refused.lastError, /the connection was refused/);
	t.is(services.fine.state, 'ready');
});
