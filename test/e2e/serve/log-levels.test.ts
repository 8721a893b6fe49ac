import {join} from 'node:path';
import test from 'ava';
import type {JsonObject} from '../../../lib/util/json.js';
import {startBridge} from '../../helpers/bridge.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {jsonLines} from '../../helpers/ndjson.js';
import {until} from '../../helpers/program.js';
import {type Place, place, type ServeClient, startServe} from './support.js';

const entriesOf = ({running}: Pick<ServeClient, 'running'>): JsonObject[] => jsonLines(running.stderr);

const numbers = {error: 50, warn: 40, info: 30, debug: 20, trace: 10} as const;
const eventsAt = (entries: readonly JsonObject[], level: keyof typeof numbers): Set<unknown> =>
	new Set(entries.filter(entry => entry.level === numbers[level]).map(({event}) => event));

const SECRET = `sk-${'a1B2'.repeat(8)}`;
const PROMPT = `say:the plan of the prompt ${SECRET}`;

/** Causes events of all levels: a session, a conflict, a turn that times out, and the exit of bridge. */
async function runScenario(
	t: Parameters<typeof startServe>[0],
	at: Place,
	level: string,
): Promise<ServeClient> {
	const client = await startServe(t, at, '--timeout', '8', '--log-level', level);
	const {codexId} = await client.codex({prompt: PROMPT, identity: 'arch'});
	t.is((await client.codex({prompt: 'say:x', identity: 'arch'})).error.kind, 'identity_conflict');
	t.is((await client.reply(codexId, 'slow')).error.kind, 'timeout');
	await client.running.end();
	return client;
}

for (const kind of fakeKinds)
	test(`${kind}: logs sessions at info, conflicts and timeouts at warn, traffic at debug, bytes at trace [S-D10] [NFR-5]`, async t => {
		const at = await place(t, kind);
		const entries = entriesOf(await runScenario(t, at, 'trace'));
		t.deepEqual(eventsAt(entries, 'error'), new Set());
		t.deepEqual(eventsAt(entries, 'warn'), new Set(['call.rejected', 'turn.timeout']));
		for (const event of ['serve.started', 'session.started', 'session.ended'])
			t.true(eventsAt(entries, 'info').has(event), event);
		t.deepEqual(eventsAt(entries, 'trace'), new Set(['rpc.bytes']));
		for (const event of ['rpc.message', 'turn.started', 'turn.ended'])
			t.true(eventsAt(entries, 'debug').has(event), event);
		const messages = entries.map(({msg}) => msg);
		t.true(messages.includes('client to bridge: tools/call codex'));
		t.true(
			messages.includes(`bridge to codex: ${kind === 'app-server' ? 'turn/start' : 'tools/call codex'}`),
		);
		const texts = entries.filter(({event}) => event === 'rpc.bytes').map(({msg}) => String(msg));
		t.true(texts.some(text => text.includes('the plan of the prompt [redacted]')));
	});

for (const [level, events] of Object.entries({
	warn: ['call.rejected', 'turn.timeout'],
	error: [],
}))
	test(`--log-level ${level} omits the lines of lower levels [S-D10]`, async t => {
		const entries = entriesOf(await runScenario(t, await place(t, 'app-server'), level));
		t.deepEqual(
			entries.map(({event}) => event),
			events,
		);
	});

test('logs no prompt above trace and no secret at any level [S-D10]', async t => {
	const at = await place(t, 'app-server');
	const {running} = await runScenario(t, at, 'trace');
	t.false(running.stderr.includes(SECRET));
	const above = running.stderr.split('\n').filter(line => !line.startsWith('{"level":10,'));
	t.false(above.some(line => line.includes('the plan of the prompt')));
});

test('logs a session that a killed bridge left as stale at warn [S-D10]', async t => {
	const at = await place(t, 'app-server');
	const first = await startServe(t, at);
	const {codexId} = await first.codex({prompt: 'say:x', identity: 'arch'});
	first.running.child.kill('SIGKILL');
	await first.running.exited;
	const second = await startServe(t, at);
	await until(() => eventsAt(entriesOf(second), 'warn').has('session.stale'));
	t.true(second.running.stderr.includes(codexId));
});

test('does not log that Codex runs when it could not be started [S-D10] [U-P1-18]', async t => {
	const {repo, env} = await place(t, 'app-server');
	const missing = join(repo, 'no-codex');
	const running = startBridge(['serve'], {cwd: repo, env: {...env, ATM_AGENT_MCP_CODEX_BIN: missing}});
	t.teardown(() => running.child.kill('SIGKILL'));
	await until(() => eventsAt(entriesOf({running}), 'info').has('serve.started'));
	t.is(await running.end(), 1);
	const started = entriesOf({running}).find(({event}) => event === 'serve.started');
	t.is(started?.msg, 'bridge serve runs without Codex: calls of codex and codex-reply are rejected.');
	t.true(eventsAt(entriesOf({running}), 'error').has('codex.gone'));
});
