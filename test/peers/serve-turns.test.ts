import {readFileSync} from 'node:fs';
import test from 'ava';
import {type JsonObject, listOf, objectOf} from '../../lib/util/json.js';
import {codexKinds} from './codex-clients.js';
import {processesWith} from './processes.js';
import {failWith, replyWith, runOutside} from './scripted-model.js';
import {loadSdk} from './sdk.js';
import {shareServe} from './serve-client.js';

/* Section 9, both real Codex programs: Proxy Core; FR-1, FR-9, approvals, model errors. */

const elicitations: JsonObject[] = [];

/** Accepts all approvals, except for commands that contain REFUSE. */
const onElicitation = (params: JsonObject): object => {
	elicitations.push(params);
	return String(params.message).includes('REFUSE') ? {action: 'decline'} : {action: 'accept', content: {}};
};

const serving = shareServe(codexKinds, () => ({onElicitation}));

const onRequest = {'approval-policy': 'on-request', sandbox: 'read-only'};

for (const kind of codexKinds) {
	test.serial(
		`${kind}: serve starts Codex and lists its tools with extended schemas (3.10) [FR-1.3] [FR-13.1] [FR-15.2] [FR-16.4]`,
		async t => {
			const {client, at} = serving(kind);
			const pids = await processesWith(at.home.folder);
			const lines = pids.map(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'));
			t.true(
				lines.some(([program = '', word]) => program.endsWith('/codex') && word === kind),
				JSON.stringify(lines),
			);
			const tools = listOf(objectOf(await client.sdk.listTools()).tools).map(objectOf);
			const names = tools.map(({name}) => String(name));
			t.deepEqual(names.slice(0, 2), ['codex', 'codex-reply']);
			for (const name of ['codex_threads', 'codex_status', 'codex_close']) t.true(names.includes(name), name);
			const properties = objectOf(objectOf(tools[0]?.inputSchema).properties);
			for (const name of ['sandbox', 'model', 'config', 'approval-policy', 'developer-instructions'])
				t.true(name in properties, `Codex's own ${name}`);
			for (const name of ['identity', 'prompt', 'agent_file', 'codex_id', 'role', 'cwd'])
				t.true(name in properties, name);
			t.like(await client.status(), {child_alive: true, backend: kind, team: 'default'});
		},
	);

	test.serial(
		`${kind}: codex returns a codex_id that codex-reply continues, and notifications name the session [FR-1.1] [FR-5.4]`,
		async t => {
			const {client, at} = serving(kind);
			const {schema} = await loadSdk();
			const notifications: JsonObject[] = [];
			client.sdk.setNotificationHandler(schema('LoggingMessageNotificationSchema'), update => {
				notifications.push(objectOf(objectOf(objectOf(update).params).data));
			});
			const progress: unknown[] = [];
			const first = await client.codex(
				{prompt: replyWith('ONE'), identity: 'arch-ctm'},
				{onprogress: update => progress.push(update)},
			);
			t.regex(first.codexId, /^codex:[0-9a-f-]{36}$/);
			t.like(first.structured, {content: 'ONE', identity: 'arch-ctm'});
			t.true(first.text.includes(`codex_id: ${first.codexId}`), first.text);
			const {threadId} = first.structured;
			const second = await client.reply(first.codexId, replyWith('TWO'));
			t.like(second.structured, {content: 'TWO', codex_id: first.codexId, threadId});
			t.deepEqual(at.model.requestWith('TWO').users.slice(-2), [replyWith('ONE'), replyWith('TWO')]);
			const byThread = await client.call('codex-reply', {threadId, prompt: replyWith('THREE')});
			t.like(byThread.structured, {content: 'THREE', codex_id: first.codexId});
			t.true(
				notifications.some(({codex_id: id, identity}) => id === first.codexId && identity === 'arch-ctm'),
			);
			t.true(progress.length > 0);
		},
	);

	test.serial(
		`${kind}: responds to all methods, also those that Codex does not implement [FR-1.1]`,
		async t => {
			const {client} = serving(kind);
			const {sdk} = client;
			await sdk.ping();
			const {schema} = await loadSdk();
			const anything = schema('EmptyResultSchema');
			const methods = [
				'resources/list',
				'resources/templates/list',
				'prompts/list',
				'tasks/list',
				'x/unknown',
			];
			const results = await Promise.allSettled(
				methods.map(method => sdk.request({method}, anything)).concat([sdk.setLoggingLevel('debug')]),
			);
			for (const [index, result] of results.entries())
				if (result.status === 'rejected')
					t.notRegex(String(result.reason), /-32001|timed out/i, methods[index]);
			t.is((await client.call('nonsense')).isError, true);
		},
	);

	test.serial(
		`${kind}: forwards an approval of Codex to the client, with the name of the session [FR-1.1]`,
		async t => {
			const {client} = serving(kind);
			const made = await client.codex({prompt: runOutside('echo DID-IT'), identity: 'builder', ...onRequest});
			t.regex(String(made.structured.content), /DID-IT/);
			t.regex(String(elicitations.at(-1)?.message), /^builder: .*echo DID-IT/);
			const refused = await client.reply(made.codexId, runOutside('echo REFUSE'));
			t.regex(String(refused.structured.content), /[Rr]ejected/);
			t.is((await client.reply(made.codexId, replyWith('ON'))).structured.content, 'ON');
		},
	);

	test.serial(`${kind}: reports a model error, and the session stays usable under its codex_id`, async t => {
		const {client} = serving(kind);
		const {codexId} = await client.codex({prompt: replyWith('ONE'), identity: 'a'});
		t.true((await client.reply(codexId, failWith(400))).isError);
		for (const text of ['R1', 'R2'])
			t.like((await client.reply(codexId, replyWith(text))).structured, {content: text, codex_id: codexId});
	});

	test.serial(
		`${kind}: audits each call and its end under one id, without secrets, and logs lines of JSON [FR-9.2] [FR-9.3] [NFR-3] [NFR-5]`,
		async t => {
			const {client, at} = serving(kind);
			const secret = 'sk-proj-CANARYcanaryCANARYcanary1234567890';
			const prompt = `${replyWith('AUDITED')}\nOPENAI_API_KEY=${secret}\n${'long '.repeat(100)}`;
			const {codexId} = await client.codex({prompt, identity: 'audited'});
			await client.reply(codexId, replyWith('2'));
			await client.codex({prompt: 'x', identity: 'audited'});
			await client.close(codexId);
			const lines = at.audit().filter(({identity}) => identity === 'audited');
			const of = (word: string) => lines.filter(line => line.event_type === word);
			t.deepEqual(
				['codex', 'codex-reply', 'refusal', 'codex_close'].map(word => of(word).length),
				[2, 2, 1, 2],
			);
			for (const word of ['codex', 'codex-reply', 'codex_close'])
				t.is(new Set(of(word).map(line => line.correlation_id)).size, 1, word);
			t.true(lines.every(line => line.event_type === 'refusal' || line.codex_id === codexId));
			t.is([...String(of('codex')[0]?.prompt_summary)].length, 200);
			t.false(JSON.stringify(lines).includes(secret) || client.stderr.includes(secret));
			const logged = client.stderr.split('\n').filter(line => line.startsWith('{'));
			t.true(
				logged.some(line => objectOf(JSON.parse(line)).event === 'serve.started'),
				client.stderr,
			);
		},
	);
}
