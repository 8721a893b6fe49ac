import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {child} from '../../lib/transports/child.js';
import {CodexClient} from '../helpers/codex-client.js';
import {type CodexHome, codexes, codexHome} from './codex.js';
import {processesWith} from './processes.js';
import {refuseWith, runOutside, type ScriptedModel, sayAndHold, sayIt, startModel} from './scripted-model.js';

/* Both real Codex programs, as bridge makes them look, with a model that does as it is told. */

type Kind = keyof typeof codexes;
const kinds = Object.keys(codexes) as readonly Kind[];
const canAsk = {elicitation: {}};
const onRequest = {'approval-policy': 'on-request', sandbox: 'read-only'};

async function prepare(t: ExecutionContext): Promise<{model: ScriptedModel; home: CodexHome}> {
	t.timeout(120_000);
	const model = await startModel(t);
	return {model, home: await codexHome(t, model, {})};
}

const run = (
	t: ExecutionContext,
	kind: Kind,
	{folder, env}: CodexHome,
	capabilities = {},
): Promise<CodexClient> =>
	CodexClient.ready(t, {command: codexes[kind].launcher, cwd: folder, env}, capabilities);

async function start(t: ExecutionContext, kind: Kind, capabilities = {}) {
	const {model, home} = await prepare(t);
	const client = await run(t, kind, home, capabilities);
	return {client, model, home};
}

for (const kind of kinds) {
	test.serial(`${kind}: is found behind npm's script, and its tools are there`, async t => {
		const {client} = await start(t, kind);
		t.is(client.backend.kind, kind);
		const {result} = await client.request('tools/list');
		t.like(result, {tools: [{name: 'codex'}, {name: 'codex-reply'}]});
	});

	test.serial(`${kind}: a turn and a reply, with what the developer said in both`, async t => {
		const {client, model} = await start(t, kind);
		const made = client.make('codex', {prompt: sayIt('ONE'), 'developer-instructions': 'DEVMARK'});
		const first = await made.answer;
		t.like(first, {status: 'completed', text: 'ONE'});
		const {threadId, rolloutPath} = await client.told('notifications/io.bridge/thread', made.id);
		t.is(threadId, first.threadId);
		t.regex(String(rolloutPath), /rollout-.*\.jsonl$/);
		t.like(await client.reply(threadId, sayIt('TWO')), {status: 'completed', text: 'TWO'});
		t.true(model.given().includes('DEVMARK'));
		t.like(client.news('message'), [{text: 'ONE'}, {text: 'TWO'}]);
	});

	test.serial(`${kind}: three threads at once`, async t => {
		const {client} = await start(t, kind);
		const names = ['A', 'B', 'C'];
		const turns = await Promise.all(names.map(name => client.codex(sayIt(name))));
		t.deepEqual(
			turns.map(({text}) => text),
			names,
		);
		const again = await Promise.all(
			turns.map(({threadId, text}) => client.reply(threadId, sayIt(`${text}2`))),
		);
		t.deepEqual(
			again.map(({text}) => text),
			['A2', 'B2', 'C2'],
		);
	});

	test.serial(`${kind}: two replies to one thread run one after the other`, async t => {
		const {client} = await start(t, kind);
		const {threadId} = await client.codex(sayIt('ONE'));
		const replies = await Promise.all(['TWO', 'THREE'].map(text => client.reply(threadId, sayIt(text))));
		t.deepEqual(
			replies.map(({text}) => text),
			['TWO', 'THREE'],
		);
	});

	test.serial(
		`${kind}: cancelled in mid-turn: answered with what was said, and the next replies are right`,
		async t => {
			const {client} = await start(t, kind);
			const {threadId} = await client.codex(sayIt('ONE'));
			const made = client.make('codex-reply', {threadId, prompt: sayAndHold('BEGUN')}, {progressToken: 1});
			await client.message(
				({method, params}) => method === 'notifications/progress' && /Says/.test(JSON.stringify(params)),
			);
			client.cancel(made);
			t.like(await made.answer, {status: 'interrupted', partial: 'BEGUN'});
			for (const text of ['R1', 'R2', 'R3', 'R4', 'R5'])
				t.like(await client.reply(threadId, sayIt(text)), {status: 'completed', text});
		},
	);

	test.serial(`${kind}: cancelled before the turn started, new thread and old`, async t => {
		const {client} = await start(t, kind);
		const early = client.make('codex', {prompt: sayAndHold('NO')});
		client.cancel(early);
		const answer = await early.answer;
		t.is(answer.status, 'interrupted');
		const {threadId} = await client.codex(sayIt('ONE'));
		const reply = client.make('codex-reply', {threadId, prompt: sayAndHold('NO')});
		client.cancel(reply);
		t.is((await reply.answer).status, 'interrupted');
		for (const text of ['R1', 'R2', 'R3'])
			t.like(await client.reply(threadId, sayIt(text)), {status: 'completed', text});
		if (answer.threadId !== undefined)
			t.is((await client.reply(answer.threadId, sayIt('AGAIN'))).text, 'AGAIN');
	});

	test.serial(`${kind}: the model fails`, async t => {
		const {client} = await start(t, kind);
		const {threadId} = await client.codex(sayIt('ONE'));
		const broken = await client.reply(threadId, refuseWith(500));
		t.like(broken, {status: 'failed', isError: true, threadId: String(threadId)});
		const next = await client.reply(threadId, sayIt('TWO'));
		if (kind === 'mcp-server') t.like(next, {status: 'retired', isError: true});
		else t.like(next, {status: 'completed', text: 'TWO'});
		t.is((await client.codex(sayIt('NEW'))).text, 'NEW');
	});

	test.serial(`${kind}: a thread that is not there`, async t => {
		const {client} = await start(t, kind);
		t.is((await client.reply('01a1e1f8-2672-7211-80ef-000000000000', sayIt('X'))).status, 'unknown_thread');
		t.is((await client.reply('nonsense', sayIt('X'))).status, 'unknown_thread');
	});

	test.serial(`${kind}: policies that are no more are told of clearly`, async t => {
		const {client} = await start(t, kind);
		const {text, status} = await client.codex(sayIt('X'), {'approval-policy': 'on-failure'});
		t.is(status, 'failed');
		t.regex(text, /on-failure is no longer known/);
	});

	for (const [action, said] of [
		['accept', /DID-IT/],
		['decline', /[Rr]ejected/],
	] as const)
		test.serial(`${kind}: an approval: ${action}`, async t => {
			const {client} = await start(t, kind, canAsk);
			const made = client.make('codex', {prompt: runOutside('echo DID-IT'), ...onRequest});
			const {params, answer} = await client.question();
			t.regex(String(params.message), /echo DID-IT/);
			answer({action, content: {}});
			const turn = await made.answer;
			t.is(turn.status, 'completed');
			t.regex(turn.text, said);
			t.is((await client.reply(turn.threadId, sayIt('TWO'))).text, 'TWO');
		});

	test.serial(`${kind}: an approval: dismissed`, async t => {
		const {client} = await start(t, kind, canAsk);
		const made = client.make('codex', {prompt: runOutside('echo DID-IT'), ...onRequest});
		(await client.question()).answer({action: 'cancel'});
		const turn = await made.answer;
		t.is(turn.status, 'interrupted');
		for (const text of ['R1', 'R2']) t.is((await client.reply(turn.threadId, sayIt(text))).text, text);
	});

	test.serial(`${kind}: an approval that nobody can give is refused at once`, async t => {
		const {client} = await start(t, kind);
		const turn = await client.codex(runOutside('echo DID-IT'), onRequest);
		t.is(turn.status, 'completed');
		t.regex(turn.text, /[Rr]ejected/);
		t.true(client.news('warning').some(({message}) => /cannot be asked/.test(String(message))));
	});

	test.serial(`${kind}: cancelled while an approval is open`, async t => {
		const {client} = await start(t, kind, canAsk);
		const made = client.make('codex', {prompt: runOutside('echo DID-IT'), ...onRequest});
		const {id} = await client.question();
		client.cancel(made);
		const turn = await made.answer;
		t.is(turn.status, 'interrupted');
		t.like(await client.told('notifications/cancelled'), {requestId: id});
		for (const text of ['R1', 'R2', 'R3']) t.is((await client.reply(turn.threadId, sayIt(text))).text, text);
	});

	test.serial(
		`${kind}: the end of its input ends it, also after a cancellation, and nobody is left`,
		async t => {
			const {client, home} = await start(t, kind);
			const {threadId} = await client.codex(sayIt('ONE'));
			const made = client.make('codex-reply', {threadId, prompt: sayAndHold('BEGUN')});
			await client.told('notifications/io.bridge/turn_started', made.id);
			client.cancel(made);
			await made.answer;
			client.backend.outgoing.complete();
			await client.backend.finish();
			t.deepEqual(await processesWith(home.folder), []);
		},
	);

	test.serial(`${kind}: a kill of npm's script leaves nobody behind`, async t => {
		const {home} = await prepare(t);
		const {launcher} = codexes[kind];
		const codex = child({
			...{name: 'codex', command: launcher, args: [kind], env: home.env, cwd: home.folder},
			onStderr: () => {},
		});
		const heard = new Promise(resolve => codex.incoming.subscribe({next: resolve, error: () => {}}));
		const {Envelope} = await import('../../lib/envelope.js');
		const clientInfo = {name: 'test', version: '1'};
		const params = {clientInfo, capabilities: {}, protocolVersion: '2025-06-18'};
		codex.outgoing.next(
			Envelope.of({
				jsonrpc: '2.0',
				id: 1,
				method: 'initialize',
				params: kind === 'app-server' ? {clientInfo, capabilities: null} : params,
			}),
		);
		await heard;
		codex.kill();
		await codex.gone;
		t.deepEqual(await processesWith(home.folder), []);
	});
}

test.serial(
	'app-server: FR-6.2 another process goes on with a thread, as it was, in a sandbox that is named',
	async t => {
		const {home, model} = await prepare(t);
		const before = await run(t, 'app-server', home);
		const {threadId} = await before.codex(sayIt('ONE'), {
			'developer-instructions': 'DEVMARK',
			sandbox: 'workspace-write',
		});
		await before.backend.close();
		const after = await run(t, 'app-server', home);
		const given = {threadId, prompt: sayIt('TWO')};
		const resume = {'io.bridge/resume': {sandbox: 'workspace-write'}};
		t.like(await after.make('codex-reply', given, resume).answer, {
			status: 'completed',
			text: 'TWO',
			threadId: String(threadId),
		});
		t.true(model.given().includes('DEVMARK'));
		t.true(model.given().includes('say ONE'));
		t.true(model.given().includes('workspace-write'));
	},
);

test.serial('mcp-server: a thread of another process is not there', async t => {
	const {home} = await prepare(t);
	const before = await run(t, 'mcp-server', home);
	const {threadId} = await before.codex(sayIt('ONE'));
	await before.backend.close();
	const after = await run(t, 'mcp-server', home);
	t.is((await after.reply(threadId, sayIt('TWO'))).status, 'unknown_thread');
});

test.serial('app-server: a configuration that it cannot read is not gone on without', async t => {
	const {home, model} = await prepare(t);
	await writeFile(join(home.folder, 'config.toml'), 'this is [ no TOML');
	const client = await run(t, 'app-server', home);
	const turn = await client.codex(sayIt('ONE'));
	t.is(turn.status, 'failed');
	t.regex(turn.text, /config\.toml:1:6.*Correct the file/s);
	t.is(model.asked(), 0);
});

test.serial('mcp-server: a configuration that it cannot read is the end of it, with the reason', async t => {
	const {home} = await prepare(t);
	await writeFile(join(home.folder, 'config.toml'), 'this is [ no TOML');
	const error = await t.throwsAsync(run(t, 'mcp-server', home));
	t.regex(String((error as {sentence?: string}).sentence), /config\.toml:1:6/);
});
