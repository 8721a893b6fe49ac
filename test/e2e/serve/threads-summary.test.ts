import {once} from 'node:events';
import test from 'ava';
import {runBridge} from '../../helpers/bridge.js';
import {type Place, place, startServe} from './support.js';

/** Runs a command and returns its stdout. */
const runCommand = async ({env, repo}: Place, ...args: string[]): Promise<string> =>
	(await runBridge(args, '', {env, cwd: repo})).stdout.join('\n');

const statuses = async (at: Place): Promise<{[identity: string]: string}> => {
	const entries = JSON.parse(await runCommand(at, 'threads', '--json')) as Array<{
		identity: string;
		status: string;
	}>;
	return Object.fromEntries(entries.map(({identity, status}) => [identity, status]));
};

test('bridge threads shows the sessions of a running bridge as active and of a killed one as stale [FR-13.5] [FR-3.2]', async t => {
	const at = await place(t, 'app-server');
	const client = await startServe(t, at);
	t.false((await client.codex({prompt: 'hello', identity: 'arch'})).isError);
	t.deepEqual(await statuses(at), {arch: 'active'});
	t.regex(
		await runCommand(at, 'threads', '--repo', 'widgets'),
		/^arch +default +active +idle .* widgets +main /m,
	);
	t.regex(
		await runCommand(at, 'doctor'),
		/^ok {2}Repository repo-[0-9a-f]{12}: 1 session, 1 of them active/m,
	);
	client.running.child.kill('SIGKILL');
	await once(client.running.child, 'close');
	t.deepEqual(await statuses(at), {arch: 'stale'});
	t.regex(
		await runCommand(at, 'doctor'),
		/^!! {2}Repository repo-[0-9a-f]{12}: locks of dead processes: arch$/m,
	);
});

test("two bridges in one repository respect each other's sessions and identities", async t => {
	const at = await place(t, 'app-server');
	const [one, other] = [await startServe(t, at), await startServe(t, at)];
	const first = await one.codex({prompt: 'hello', identity: 'arch'});
	const rejected = await other.codex({prompt: 'hello', identity: 'arch'});
	t.true(rejected.isError);
	t.true(rejected.text.includes(first.codexId), rejected.text);
	t.false((await other.codex({prompt: 'hello', identity: 'dev'})).isError);
	t.false((await one.reply(first.codexId, 'again')).isError);
	t.deepEqual(await statuses(at), {arch: 'active', dev: 'active'});
	t.false((await one.close(first.codexId)).isError);
	t.false((await other.codex({prompt: 'hello', identity: 'arch'})).isError);
	t.is(at.registry().length, 3);
});

test('a running bridge resumes a session of another one that exited or was killed [FR-3.2]', async t => {
	const at = await place(t, 'app-server');
	const [one, other] = [await startServe(t, at), await startServe(t, at)];
	for (const how of ['SIGTERM', 'SIGKILL'] as const) {
		const third = await startServe(t, at);
		const {codexId} = await third.codex({prompt: 'say:1', identity: how});
		const [entry] = await one.threads({identity: how});
		t.like(entry, {codex_id: codexId, status: 'active'}, 'the other bridge lists it');
		const inUse = await one.codex({codex_id: codexId, prompt: 'x'});
		t.like(inUse.error, {code: -32001, codex_id: codexId});
		t.regex(inUse.text, /of another bridge serve/);
		third.running.child.kill(how);
		await third.running.exited;
		const [ended] = await one.threads({identity: how});
		t.is(ended?.status, how === 'SIGKILL' ? 'stale' : 'closed');
		const [first, second] = await Promise.all(
			['say:2', 'show:prompts'].map(prompt => one.codex({codex_id: codexId, prompt})),
		);
		t.like(first?.structured, {content: '2', codex_id: codexId, identity: how}, first?.text);
		t.regex(String(second?.structured.content), /say:2.*show:prompts/s, 'turns run in order');
		const rejected = await other.codex({codex_id: codexId, prompt: 'x'});
		t.like(rejected.error, {code: -32001, codex_id: codexId}, rejected.text);
		t.like((await one.threads({identity: how}))[0], {status: 'active', state: 'idle'});
		t.like(await other.close(codexId), {isError: true, error: {code: -32002}});
	}
});

test('bridge summary prints the summary that a session wrote at shutdown [FR-13.6]', async t => {
	const at = await place(t, 'app-server');
	const client = await startServe(t, at);
	const {codexId} = await client.codex({prompt: 'hello', identity: 'arch'});
	client.running.child.kill('SIGTERM');
	await once(client.running.child, 'close');
	const text = await runCommand(at, 'summary', codexId);
	t.true(text.length > 0);
	t.is(await runCommand(at, 'summary', 'arch'), text);
});
