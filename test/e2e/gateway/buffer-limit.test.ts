import test from 'ava';
import {listen} from '../../helpers/event-source.js';
import {program, startGateway} from '../../helpers/gateway.js';
import {logged, until} from '../../helpers/program.js';

const MIB = 2 ** 20;
const SESSIONS = 8;

/** Server output in base64: `count` notifications of 1 MiB, or a short one if `count` is 0. */
function output(count: number): string {
	const line = (text: string): string =>
		JSON.stringify({jsonrpc: '2.0', method: 'notifications/message', params: {level: 'info', data: text}});
	const lines = count === 0 ? [line('short')] : new Array(count).fill(line('x'.repeat(MIB)));
	return Buffer.from(`${lines.join('\n')}\n`).toString('base64');
}

test('evicts the largest buffers of sessions over limits.kept, and no others [SEC-D5]', async t => {
	const gateway = await startGateway(t, {limits: {kept: '8MiB'}, servers: {puppet: program('puppet')}});
	const small = await gateway.open('puppet');
	await small.post({method: 'raw', params: {base64: output(0)}});
	const large = [];
	for (let count = 0; count < SESSIONS; count++) {
		const session = await gateway.open('puppet');
		await session.post({method: 'raw', params: {base64: output(3)}});
		large.push(session);
	}
	await until(() => logged(gateway.running, 'gateway.buffers_full').length > 0);
	const [{bytes, buffers} = {}] = logged(gateway.running, 'gateway.buffers_full');
	t.true(Number(bytes) >= MIB && Number(buffers) >= 1, `${bytes} bytes in ${buffers} buffers`);
	t.true(logged(gateway.running, 'http.unheard').length > 0);
	for (const session of large) t.is((await session.post({id: 2, method: 'pid'})).status, 200);
	const events = await listen(gateway, 'puppet', small.headers);
	t.like(await events.message(), {params: {data: 'short'}});
	await events.stop();
});
