import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {type Message, opening, startBridge} from '../../helpers/bridge.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {mailPlace, until} from '../mail-turns/place.js';
import {type Place, place, ServeClient} from './support.js';

const LIMIT = ['--timeout', '8'];
const onRequest = {'approval-policy': 'on-request'};

async function startWithElicitation(
	t: Parameters<typeof place>[0],
	{env, repo}: Place,
	...args: string[]
): Promise<ServeClient> {
	const running = startBridge(['serve', '--trust', ...args], {env, cwd: repo});
	t.teardown(() => running.child.kill('SIGKILL'));
	await running.request('init', 'initialize', {...opening, capabilities: {elicitation: {}}});
	running.send({method: 'notifications/initialized'});
	return new ServeClient(running);
}

const approvalRequest = ({running}: ServeClient, word: string): Promise<Message> =>
	running.message(
		({method, params}) => method === 'elicitation/create' && String(objectOf(params).message).includes(word),
	);

/** Runs another turn until it times out, so that the limit has passed. Returns its error code. */
const waitForTimeout = async (client: ServeClient): Promise<unknown> =>
	(await client.codex({prompt: 'slow', identity: 'clock'})).error.code;

for (const kind of fakeKinds) {
	test(`${kind}: pauses the time limit of a turn while the client is prompted for an approval [S-D3]`, async t => {
		const client = await startWithElicitation(t, await place(t, kind), ...LIMIT);
		const turn = client.codex({prompt: 'approve:one', identity: 'a', ...onRequest});
		const late = client.codex({prompt: 'approve:two\nslow', identity: 'b', ...onRequest});
		const [one, two] = [await approvalRequest(client, 'one'), await approvalRequest(client, 'two')];
		t.is(await waitForTimeout(client), -32006);
		for (const {id} of [one, two]) client.running.send({id, result: {action: 'accept', content: {}}});
		t.is((await turn).structured.content, 'ran: one');
		t.like((await late).error, {code: -32006, timeout_secs: 8});
	});

	test(`${kind}: cancels and closes a turn that waits for an approval [S-D3]`, async t => {
		const client = await startWithElicitation(t, await place(t, kind), ...LIMIT);
		const turn = client.call('codex', {prompt: 'approve:one', identity: 'a', ...onRequest});
		await approvalRequest(client, 'one');
		const {codex_id: codexId} = await client.busy('a');
		t.like((await client.close(String(codexId))).structured, {closed: true});
		t.like((await turn.result).error, {code: -32003});
	});

	test(`${kind}: pauses the time limit of a turn of mail during an approval [S-D3]`, async t => {
		const at = await mailPlace(t, kind);
		const client = await startWithElicitation(t, at, ...LIMIT);
		await client.codex({prompt: 'say:1', identity: 'a', ...onRequest});
		await at.post('a', 'approve:mailed');
		const {id} = await approvalRequest(client, 'mailed');
		t.is(await waitForTimeout(client), -32006);
		t.like((await client.threads({identity: 'a'}))[0], {state: 'busy'});
		client.running.send({id, result: {action: 'accept', content: {}}});
		await until(async () => (await client.threads({identity: 'a'}))[0]?.last_text === 'ran: mailed');
	});

	test(`${kind}: declines an approval after a malformed response [S-D3]`, async t => {
		const client = await startWithElicitation(t, await place(t, kind));
		const malformed = [
			['none', {}],
			['both', {result: {action: 'accept', content: {}}, error: {code: 1, message: 'x'}}],
		] as const;
		for (const [word, members] of malformed) {
			const turn = client.codex({prompt: `approve:${word}`, identity: word, ...onRequest});
			const {id} = await approvalRequest(client, word);
			client.running.send({id, ...members});
			t.is((await turn).structured.content, `refused: ${word}`);
		}
	});
}

test('app-server: pauses the time limit for an approval of a subagent and names the session identity [S-D3]', async t => {
	const client = await startWithElicitation(t, await place(t, 'app-server'), ...LIMIT);
	const turn = client.codex({prompt: 'agent\napprove:one', identity: 'a', ...onRequest});
	const {id, params} = await approvalRequest(client, 'one');
	const {message, _meta: meta} = objectOf(params);
	t.regex(String(message), /^a: Allow Codex to run/);
	const {codex_id: codexId} = await client.busy('a');
	t.deepEqual(meta, {codex_id: codexId, identity: 'a'});
	t.is(await waitForTimeout(client), -32006);
	client.running.send({id, result: {action: 'accept', content: {}}});
	t.is((await turn).structured.content, 'ran: one');
});

test('app-server: cancels the approval requests of a subagent with its turn [S-D3]', async t => {
	const client = await startWithElicitation(t, await place(t, 'app-server'), ...LIMIT);
	const turn = client.call('codex', {prompt: 'agent\napprove:one', identity: 'a', ...onRequest});
	const {id} = await approvalRequest(client, 'one');
	const {codex_id: codexId} = await client.busy('a');
	client.cancel(turn.id);
	await client.running.message(
		({method, params}) => method === 'notifications/cancelled' && objectOf(params).requestId === id,
	);
	t.is((await client.reply(String(codexId), 'say:2')).structured.content, '2');
});
