import test from 'ava';
import {program, startGateway} from '../helpers/gateway.js';

test('L8 /healthz and /readyz say that it lives and that it takes requests', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	for (const path of ['/healthz', '/readyz']) {
		const {status, text} = await gateway.fetch(path);
		t.is(status, 200);
		t.notThrows(() => JSON.parse(text));
	}
	t.is(await gateway.stop(), 0);
});

test('a session with a child is begun, used and listed in /status', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const session = await gateway.open('puppet');
	t.deepEqual((await session.request(1, 'echo', {a: 1})).result, {a: 1});
	const {services} = JSON.parse((await gateway.fetch('/status')).text);
	t.is(services.puppet.sessions, 1);
});
