import {once} from 'node:events';
import test from 'ava';
import {startReplicas} from '../e2e/replicas/support.js';
import type {RunningGateway} from '../helpers/gateway.js';
import {CodexAppServer, codexHome} from '../peers/codex.js';
import {fixtureCommand} from '../peers/fixtures.js';
import {callTool, startModel} from '../peers/scripted-model.js';
import {startBalancer} from './balanced.js';

const expected = /This is a simple text response for testing\./;
const callIt = callTool('demo', 'test_simple_text');

/** The number of upstream sessions at a replica. */
async function sessionsAt(gateway: RunningGateway): Promise<number> {
	return JSON.parse((await gateway.fetch('/status')).text).services.demo.sessions;
}

test('Codex continues its thread after the replica that owned its session is killed [M3]', async t => {
	t.timeout(180_000);
	const servers = {demo: fixtureCommand({mode: 'stdio', version: '2025-06-18'})};
	const replicas = await startReplicas(t, 3, {servers});
	const port = await startBalancer(t, replicas);
	const model = await startModel(t);
	const home = await codexHome(t, model, {demo: `http://127.0.0.1:${port}/mcp/demo`});
	const codex = await CodexAppServer.start(t, home);
	const thread = await codex.startThread();
	t.regex(await codex.turn(thread, callIt), expected);
	const counts = await Promise.all(replicas.map(sessionsAt));
	t.deepEqual(counts.toSorted(), [0, 0, 1]);
	const owner = replicas[counts.indexOf(1)]?.running.child;
	if (!owner) throw new Error('One of them has it.');
	owner.kill('SIGKILL');
	await once(owner, 'exit');
	t.regex(await codex.turn(thread, callIt), expected);
	t.regex(await codex.turn(thread, callIt), expected);
	t.is(await codex.close(), 0);
});
