import test from 'ava';
import {opening} from '../../helpers/bridge.js';
import {type ClientSession, program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {logged, signal, until} from '../../helpers/program.js';

const CLIENTS = 50;
const CALLS = 200;
const AT_ONCE = 4;

/** A shared service that echoes each request, so that responses can be matched to their requests. */
const echo = {...program('puppet'), shared: true};

/** Sends the calls of one client with ids that all clients use. Resolves with the number of wrong responses. */
async function callAll(session: ClientSession, client: number): Promise<number> {
	let wrong = 0;
	const ids = Array.from({length: CALLS}, (_, id) => id);
	const work = async (): Promise<void> => {
		for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
			const payload = `${client}:${id}`;
			const reply = await session.request(id, 'echo', {payload});
			if (reply.id !== id || !JSON.stringify(reply.result).includes(`"${payload}"`)) wrong++;
		}
	};
	await Promise.all(Array.from({length: AT_ONCE}, work));
	return wrong;
}

const children = async (gateway: RunningGateway): Promise<string | undefined> =>
	/^bridge_children (\d+)$/m.exec((await gateway.fetch('/metrics')).text)?.[1];

test('delivers the responses to 200 calls of 50 clients with the same ids through one shared child [A11]', async t => {
	const gateway = await startGateway(t, {servers: {echo}});
	const sessions = await Promise.all(Array.from({length: CLIENTS}, () => gateway.open('echo')));
	const wrong = await Promise.all(sessions.map(callAll));
	t.is(
		wrong.reduce((sum, count) => sum + count, 0),
		0,
	);
	t.is(await children(gateway), '1');
});

test('starts a shared child that exits at once for each initialize without a pause, and fails the handshake [U-P0-2]', async t => {
	const dies = {command: 'sh', args: ['-c', 'echo "no database" >&2; exit 3'], shared: true};
	const gateway = await startGateway(t, {servers: {dies}});
	for (let count = 1; count <= 8; count++) {
		const reply = await gateway.post('dies', {id: count, method: 'initialize', params: opening});
		t.regex(reply.text, /dies exited with code 3\. The end of its stderr: no database/);
		t.is(logged(gateway.running, 'shared.started').length, count);
	}
	const lost = logged(gateway.running, 'shared.gone').at(6);
	const next = logged(gateway.running, 'shared.started').at(7);
	const waitedMs = Date.parse(String(next?.time)) - Date.parse(String(lost?.time));
	t.true(Number(lost?.pauseMs) > 10_000);
	t.true(waitedMs < Number(lost?.pauseMs) / 2, `waited for ${waitedMs} ms`);
});

test('does not announce a restart of a shared child while the gateway drains [U-P0-2]', async t => {
	const gateway = await startGateway(t, {servers: {echo, busy: program('puppet')}});
	const [session, busy] = [await gateway.open('echo'), await gateway.open('busy')];
	const {pid} = (await session.request(1, 'pid')).result as {pid: number};
	busy.post({id: 'held', method: 'hold'}).catch(() => {});
	await until(async () => ((await busy.request(2, 'held')).result as {count: number}).count === 1);
	gateway.running.child.kill('SIGTERM');
	await gateway.running.says(/"event":"gateway\.draining"/);
	signal(pid, 'SIGKILL');
	await until(() => logged(gateway.running, 'shared.gone').length === 1);
	const [lost] = logged(gateway.running, 'shared.gone');
	t.is(lost?.pauseMs, undefined);
	t.notRegex(String(lost?.msg), /restarts/);
	gateway.running.child.kill('SIGTERM');
	t.is((await gateway.running.exited).code, 0);
	t.is(logged(gateway.running, 'shared.started').length, 1);
});
