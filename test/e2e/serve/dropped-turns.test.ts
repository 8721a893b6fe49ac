import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {argumentsIn, place, startServe} from './support.js';

/* Codex ignores calls that it cannot parse. bridge repairs or rejects them, so that no session hangs. */

const nested = (levels: number): unknown => {
	let value: unknown = 1;
	for (let level = 0; level < levels; level++) value = {a: value};
	return value;
};

for (const kind of fakeKinds) {
	test(`${kind}: replaces lone surrogates in prompts and instructions, and runs the turn [S-D1]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const started = await client.codex({
			prompt: 'show:arguments\n\ud83d',
			identity: 'a',
			'developer-instructions': 'half \ud800',
			config: {'key \udc00': ['\ud800']},
			tag: 'tag \ud800',
		});
		const received = JSON.stringify(argumentsIn(started));
		for (const text of ['half \ufffd', 'key \ufffd', '["\ufffd"]']) t.true(received.includes(text), received);
		t.like((await client.threads())[0], {tag: 'tag \ufffd'});
		const replied = await client.reply(started.codexId, 'say:half \ud83d, whole \ud83d\ude00');
		t.is(replied.structured.content, 'half \ufffd, whole \ud83d\ude00');
	});

	test(`${kind}: rejects arguments that are nested too deeply by name [S-D1]`, async t => {
		const client = await startServe(t, await place(t, kind));
		for (const args of [{config: nested(140)}, {config: JSON.stringify(nested(140))}, {model: nested(140)}]) {
			const {error} = await client.codex({prompt: 'say:1', ...args});
			t.like(error, {code: -32007});
			t.regex(String(error.message), /^(config|model) is nested deeper than 100 levels/);
		}
		t.is((await client.codex({prompt: 'say:1', config: {a: nested(90)}})).structured.content, '1');
	});

	test(`${kind}: the next turn, close and resume work after a turn that Codex drops [S-D1]`, async t => {
		const client = await startServe(t, await place(t, kind), '--timeout', '8');
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
		t.like((await client.reply(codexId, 'drop')).error, {code: -32006, codex_id: codexId});
		t.is((await client.reply(codexId, 'say:2')).structured.content, '2');
		t.like((await client.close(codexId)).structured, {status: 'closed'});
		const resumed = await client.codex({codex_id: codexId, prompt: 'say:3'});
		t.true(String(resumed.structured.content).includes('3'), resumed.text);
		const first = await client.codex({prompt: 'drop', identity: 'b'});
		t.like(first.error, {code: -32006});
		// codex app-server creates the thread before the turn, so the session exists.
		const hasThread = kind === 'app-server';
		t.is('codex_id' in first.error, hasThread);
		const id = hasThread ? {codex_id: first.error.codex_id} : {};
		t.is((await client.codex({prompt: 'say:4', identity: 'b', ...id})).structured.content, '4');
	});

	test(`${kind}: SIGTERM ends a session without waiting for a turn that Codex dropped [S-D1]`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at);
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
		const dropped = client.call('codex-reply', {codex_id: codexId, prompt: 'drop'});
		await client.busy('a');
		client.running.child.kill('SIGTERM');
		t.like((await dropped.result).error, {code: -32003, codex_id: codexId});
		t.is((await client.running.exited).code, 0);
		// A summary turn would wait for the busy thread until its timeout of ten seconds.
		t.false(at.audit().some(({details}) => objectOf(details).source === 'summary'));
		t.like(at.registry()[0], {codex_id: codexId, status: 'interrupted'});
	});

	test(`${kind}: moves a session to a new thread when its turn does not end [S-D1]`, async t => {
		const at = await place(t, kind);
		const release = join(at.base, 'release');
		const client = await startServe(t, at, '--timeout', '60');
		const {codexId, structured} = await client.codex({prompt: 'say:1', identity: 'a'});
		const stuck = client.call('codex-reply', {codex_id: codexId, prompt: `stubborn\nuntil:${release}`});
		await client.busy('a');
		client.cancel(stuck.id);
		const next = await client.reply(codexId, 'say:2');
		t.like(next.structured, {content: '2', resumed: {previous_thread_id: structured.threadId}});
		writeFileSync(release, '');
		t.is((await client.reply(codexId, 'say:3')).structured.content, '3');
	});
}
