import {readFileSync, writeFileSync} from 'node:fs';
import process from 'node:process';
import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {childrenOf, startServe} from '../serve/support.js';
import {injections} from './injections.js';
import {bodies, mailFigures, mailPlace, until} from './place.js';

for (const kind of fakeKinds) {
	test(`${kind}: marks mail as read once Codex has received it, not when it was sent [FR-8.6] [FR-8.12] [H11]`, async t => {
		const at = await mailPlace(t, kind);
		const client = await startServe(t, at);
		await client.codex({prompt: 'say:1', identity: 'a'});
		const [codex = 0] = childrenOf(client.running.pid);
		process.kill(codex, 'SIGSTOP');
		await at.post('a', 'hello');
		await client.busy('a');
		t.like(at.inbox('a')[0], {read: false});
		process.kill(codex, 'SIGCONT');
		await until(() => at.inbox('a')[0]?.read === true);
		await until(() => at.deliveries().length === 1);
	});

	test(`${kind}: leaves mail unread when Codex exits before the turn starts, and redelivers it after a restart [FR-8.12] [FR-8.13] [FR-11.3]`, async t => {
		const at = await mailPlace(t, kind);
		await at.post('a', 'crash:7');
		const first = await startServe(t, at);
		await first.codex({prompt: 'say:1', identity: 'a'});
		await until(async () => (await first.status()).child_alive === false);
		await until(() => Object.keys(objectOf(at.mailRecord('a').trials)).length === 1);
		t.like(at.inbox('a')[0], {read: false});
		t.like(Object.values(objectOf(at.mailRecord('a').trials))[0], {tries: 1});
		await first.running.end();
		writeFileSync(at.inboxPath('a'), readFileSync(at.inboxPath('a'), 'utf8').replace('crash:7', 'say:fine'));
		const second = await startServe(t, at);
		await second.codex({prompt: 'say:2', identity: 'a'});
		await until(() => at.inbox('a')[0]?.read === true);
		await until(() => at.deliveries().length > 0);
		t.deepEqual(bodies(at.deliveries()), [['say:fine']]);
		await until(async () => (await mailFigures(second)).redelivered === 1);
	});

	test(`${kind}: marks mail as unread and redelivers it after SIGKILL during a turn [FR-8.13]`, async t => {
		const at = await mailPlace(t, kind);
		const first = await startServe(t, at);
		const {codexId} = await first.codex({prompt: 'say:1', identity: 'a'});
		await at.post('a', 'slow');
		await until(() => at.inbox('a')[0]?.read === true);
		await until(() => at.deliveries().length === 1);
		first.running.child.kill('SIGKILL');
		await first.running.exited;
		const second = await startServe(t, at);
		await until(() => at.inbox('a')[0]?.read === false);
		const resumed = await second.codex({codex_id: codexId, prompt: 'say:2'});
		t.false(resumed.isError, resumed.text);
		await until(() => at.deliveries().length === 2);
		await until(() => at.inbox('a')[0]?.read === true);
		t.like(await mailFigures(second), {delivered: 1, redelivered: 1});
	});

	test(`${kind}: parks mail that fails every turn after five tries and delivers other mail [H13]`, async t => {
		const at = await mailPlace(t, kind);
		const client = await startServe(t, at);
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
		const slow = client.call('codex-reply', {codex_id: codexId, prompt: 'slow'});
		await client.busy('a');
		await at.post('a', 'error:boom');
		await at.post('a', 'second');
		await at.post('a', 'say:fine', {from: 'dev-2'});
		client.cancel(slow.id);
		const {params} = await client.running.message(({params: notified}) =>
			JSON.stringify(notified ?? {}).includes('"mail_parked"'),
		);
		t.like(params, {level: 'warning', data: {identity: 'a', messages: [{from: 'dev-1'}]}});
		await until(() => at.deliveries().some(([first, second]) => first?.body === 'second' && !second));
		await until(() => at.inbox('a')[1]?.read === true);
		const [together, ...alone] = bodies(at.deliveries());
		t.deepEqual(together, ['error:boom', 'second', 'say:fine']);
		t.is(alone.filter(messages => messages.includes('error:boom')).length, 4);
		t.true(alone.every(messages => messages.length === 1));
		t.is(
			alone.findIndex(([body]) => body === 'second'),
			alone.length - 1,
			'messages of one sender stay in order',
		);
		t.like(at.inbox('a'), [{read: false}, {read: true}, {read: true}]);
		t.like(await mailFigures(client), {parked: 1, pending: 1});
	});
}

test('delivers hostile mail to the model only inside the envelope [H10] [FR-8.4]', async t => {
	const at = await mailPlace(t, 'app-server', 'max_messages = 100');
	for (const [name, text] of injections) await at.post('a', text, {from: name, summary: text.slice(0, 500)});
	const client = await startServe(t, at);
	await client.codex({prompt: 'say:1', identity: 'a'});
	await until(() => at.deliveries().length === 1);
	const [messages = []] = at.deliveries();
	t.deepEqual(
		messages.map(({header}) => header.from),
		[...injections.keys()],
	);
	await until(() => at.inbox('a').every(({read}) => read === true));
});

test('keeps mail of a truncated inbox, warns once and overwrites nothing [H9]', async t => {
	const at = await mailPlace(t, 'app-server');
	const client = await startServe(t, at);
	await client.codex({prompt: 'say:1', identity: 'a'});
	await at.post('a', 'hello');
	await until(() => at.inbox('a')[0]?.read === true);
	const complete = readFileSync(at.inboxPath('a'), 'utf8');
	writeFileSync(at.inboxPath('a'), complete.slice(0, -10));
	await client.running.says(/mail\.trouble/);
	t.is((await client.status()).child_alive, true);
	t.is(readFileSync(at.inboxPath('a'), 'utf8'), complete.slice(0, -10));
	writeFileSync(at.inboxPath('a'), complete);
	await at.post('a', 'again');
	await until(() => at.deliveries().length === 2);
	t.is(client.running.stderr.match(/mail\.trouble/g)?.length, 1);
	t.deepEqual(bodies(at.deliveries()), [['hello'], ['again']]);
});
