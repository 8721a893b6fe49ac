import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import type {JsonObject} from '../../../lib/util/json.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {startServe} from '../serve/support.js';
import {bodies, isMail, mailFigures, mailPlace, until} from './place.js';

const read = (messages: readonly JsonObject[]): unknown[] => messages.map(message => message.read);

for (const kind of fakeKinds) {
	test(`${kind}: delivers mail in an envelope in a turn of its own after the current turn, and marks it read [FR-8.1] [FR-8.4] [FR-8.6] [FR-9.2]`, async t => {
		const at = await mailPlace(t, kind, 'mail_poll_interval_ms = 3600000');
		await at.post('a', 'PR ready', {message_id: 'the-id', timestamp: '2026-11-17T10:00:00.000Z'});
		const client = await startServe(t, at);
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
		await until(() => at.deliveries().length === 1);
		t.deepEqual(at.deliveries(), [
			[
				{
					header: {from: 'dev-1', timestamp: '2026-11-17T10:00:00.000Z', message_id: 'the-id'},
					body: 'PR ready',
					cut: undefined,
				},
			],
		]);
		await until(() => read(at.inbox('a'))[0] === true);
		await until(async () => (await client.threads())[0]?.turns === 2);
		t.like((await client.threads())[0], {codex_id: codexId, state: 'idle'});
		t.like(await mailFigures(client), {turns: 1, delivered: 1, redelivered: 0, parked: 0, pending: 0});
		const turns = at.audit().filter(({details}) => (details as JsonObject | undefined)?.source === 'mail');
		t.deepEqual(
			turns.map(({event_type: event, outcome}) => [event, outcome]),
			[
				['codex-reply', 'started'],
				['codex-reply', 'completed'],
			],
		);
		t.is((await client.reply(codexId, 'say:still here')).structured.content, 'still here');
	});

	test(`${kind}: delivers a burst of 15 messages to an idle thread as 10 and 5, and truncates long ones [FR-8.2] [FR-8.5]`, async t => {
		const at = await mailPlace(t, kind, 'max_message_length = 10\nmail_poll_interval_ms = 500');
		const client = await startServe(t, at);
		await client.codex({prompt: 'say:1', identity: 'a'});
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'b'});
		const slow = client.call('codex-reply', {codex_id: codexId, prompt: 'slow'});
		await client.busy('b');
		for (let n = 0; n < 15; n++) await at.post('b', `number ${n}${'!'.repeat(n)}`);
		client.cancel(slow.id);
		await until(() => at.deliveries().length === 2);
		t.deepEqual(
			at.deliveries().map(({length}) => length),
			[10, 5],
		);
		t.like(at.deliveries()[1]?.[4], {body: 'number 14!'});
		t.regex(at.deliveries()[1]?.[4]?.cut ?? '', /13 of 23 characters/);
		await until(() => read(at.inbox('b')).every(isRead => isRead === true));
		await at.post('a', 'one for the other');
		await until(() => at.deliveries().length === 3);
		t.deepEqual(bodies(at.deliveries()).at(-1), ['one for th']);
		t.like(await mailFigures(client), {delivered: 16});
	});

	test(`${kind}: queues mail behind a busy thread and queued client calls, and client calls behind a turn of mail [FR-8.9] [FR-8.10] [FR-8.11] [FR-17.6]`, async t => {
		const at = await mailPlace(t, kind);
		const client = await startServe(t, at);
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
		const running = client.call('codex-reply', {codex_id: codexId, prompt: 'slow\nsay:2'});
		await client.busy('a');
		const release = join(at.base, 'release');
		await at.post('a', `until:${release}\nsay:MAIL`);
		await client.running.message(({params}) => (params as JsonObject | undefined)?.logger === 'mail');
		const queued = client.reply(codexId, 'say:3');
		t.deepEqual(read(at.inbox('a')), [false], 'queued mail is unread');
		client.cancel(running.id);
		t.is((await queued).structured.content, '3');
		await until(() => at.deliveries().length === 1);
		const afterMail = client.reply(codexId, 'say:4');
		t.like((await client.threads())[0], {state: 'busy'});
		writeFileSync(release, '');
		t.is((await afterMail).structured.content, '4');
		t.deepEqual(
			at.prompts().map(prompt => (isMail(prompt) ? 'mail' : prompt)),
			['say:1', 'slow\nsay:2', 'say:3', 'mail', 'say:4'],
		);
	});

	test(`${kind}: codex_close ends a turn of mail and leaves queued mail unread [FR-17.10]`, async t => {
		const at = await mailPlace(t, kind, 'max_messages = 1');
		const client = await startServe(t, at);
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
		await at.post('a', 'slow');
		await at.post('a', 'later');
		await until(() => read(at.inbox('a'))[0] === true);
		await until(() => at.deliveries().length > 0);
		t.is(at.deliveries().length, 1);
		t.like((await client.close(codexId)).structured, {closed: true, status: 'closed'});
		t.deepEqual(read(at.inbox('a')), [true, false]);
		await client.codex({prompt: 'say:2', identity: 'a'});
		await until(() => at.deliveries().length === 2);
		t.deepEqual(
			bodies(at.deliveries()),
			[['slow'], ['later']],
			'the next session with the identity receives it',
		);
	});
}

test('leaves mail to an identity without a thread unread and delivers it to no other identity [FR-8.3]', async t => {
	const at = await mailPlace(t, 'app-server');
	const client = await startServe(t, at);
	await client.codex({prompt: 'say:1', identity: 'a'});
	await at.post('unused', 'lost?');
	await at.post('a', 'found');
	await until(() => at.deliveries().length === 1);
	t.deepEqual(bodies(at.deliveries()), [['found']]);
	t.deepEqual(read(at.inbox('unused')), [false]);
	await client.codex({prompt: 'say:2', identity: 'unused'});
	await until(() => at.deliveries().length === 2);
	t.deepEqual(bodies(at.deliveries())[1], ['lost?']);
});

test('auto_mail = false leaves mail to atm_read, unless an identity or a call overrides it [FR-8.8] [FR-10.2]', async t => {
	const at = await mailPlace(
		t,
		'app-server',
		'auto_mail = false\nper_thread_auto_mail = {b = true, d = true}\nmetrics_port = 0',
	);
	const client = await startServe(t, at);
	await client.codex({prompt: 'say:1', identity: 'a'});
	await client.codex({prompt: 'say:1', identity: 'b'});
	await client.codex({prompt: 'say:1', identity: 'c', auto_mail: true});
	await client.codex({prompt: 'say:1', identity: 'd', auto_mail: false});
	for (const name of ['a', 'd', 'b', 'c']) await at.post(name, `for ${name}`);
	await until(() => at.deliveries().length === 2);
	await until(async () => (await mailFigures(client)).pending === 2);
	t.deepEqual(bodies(at.deliveries()).flat().sort(), ['for b', 'for c']);
	t.deepEqual([...read(at.inbox('a')), ...read(at.inbox('d'))], [false, false]);
	t.like(await client.status(), {pending_mail_count: 2});
	const [, url = ''] = await client.running.says(/"url":"(http:[^"]*)"/);
	const metrics = await (await fetch(url)).text();
	t.regex(metrics, /^bridge_mail_delivered_total 2$/m);
	t.regex(metrics, /^bridge_mail_pending 2$/m);
	t.is((await fetch(url.replace('metrics', ''))).status, 404);
	t.is((await fetch(url, {method: 'POST'})).status, 405);
	const notified = (name: string): Promise<unknown> =>
		client.running.message(({params}) => {
			const {logger, data} = (params ?? {}) as JsonObject;
			return logger === 'mail' && (data as JsonObject).identity === name;
		});
	await notified('a');
	await notified('d');
});

test("starts no turn for an agent's own mail or idle_notification, but includes its own mail in the next turn", async t => {
	const at = await mailPlace(t, 'app-server');
	const client = await startServe(t, at);
	await client.codex({prompt: 'say:1', identity: 'a'});
	const idle = JSON.stringify({type: 'idle_notification', from: 'dev-2', idleReason: 'available'});
	await at.post('a', 'note to myself', {from: 'a'});
	await at.post('a', idle, {from: 'dev-2'});
	await until(() => read(at.inbox('a'))[1] === true);
	t.deepEqual(at.deliveries(), []);
	await at.post('a', 'hello');
	await until(() => at.deliveries().length === 1);
	t.deepEqual(bodies(at.deliveries()), [['note to myself', 'hello']]);
	t.like(await mailFigures(client), {notices: 1, delivered: 2});
});

test('limits consecutive turns of mail until the client calls [H14]', async t => {
	const at = await mailPlace(t, 'app-server', 'max_mail_turns = 2\nmax_messages = 1');
	const client = await startServe(t, at);
	for (const text of ['1', '2', '3']) await at.post('a', text);
	const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
	await client.running.says(/mail\.streak/);
	t.deepEqual(bodies(at.deliveries()), [['1'], ['2']]);
	await client.reply(codexId, 'say:go on');
	await until(() => at.deliveries().length === 3);
	t.deepEqual(bodies(at.deliveries())[2], ['3']);
});

test('approves a shutdown_request of the lead and closes the thread; delivers that of others as mail', async t => {
	const at = await mailPlace(t, 'app-server');
	const client = await startServe(t, at);
	await client.codex({prompt: 'say:1', identity: 'a'});
	const request = JSON.stringify({
		type: 'shutdown_request',
		requestId: 'r-1',
		from: 'team-lead',
		reason: 'done',
	});
	await at.post('a', request, {from: 'dev-2'});
	await until(() => at.deliveries().length === 1);
	await at.post('a', request, {from: 'team-lead'});
	await until(async () => (await client.threads())[0]?.status === 'closed');
	await until(() => at.inbox('team-lead').length === 1);
	const [reply] = at.inbox('team-lead');
	t.like(reply, {from: 'a', read: false});
	t.like(JSON.parse(String(reply?.text)), {type: 'shutdown_approved', requestId: 'r-1', from: 'a'});
	t.deepEqual(read(at.inbox('a')), [true, true]);
	t.is(at.deliveries().length, 1);
	t.false((await client.codex({prompt: 'say:2', identity: 'a'})).isError, 'the identity is free');
});

test('notifies the client of new mail at its log level, with a warning for urgent mail, which is delivered first', async t => {
	const at = await mailPlace(t, 'app-server', 'max_messages = 1');
	const client = await startServe(t, at);
	const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
	const slow = client.call('codex-reply', {codex_id: codexId, prompt: 'slow'});
	await client.busy('a');
	const notification = (level: string) =>
		client.running.message(({params}) => {
			const {logger, level: actual} = (params ?? {}) as JsonObject;
			return logger === 'mail' && actual === level;
		});
	await at.post('a', 'when you have time');
	const {params} = await notification('info');
	t.like((params as JsonObject).data, {type: 'mail', identity: 'a', codex_id: codexId, new: 1, unread: 1});
	t.false(
		JSON.stringify(params).includes('when you have time'),
		'the notification does not contain the text',
	);
	await client.running.request('level', 'logging/setLevel', {level: 'warning'});
	await at.post('a', 'silent', {from: 'dev-2'});
	await until(async () => (await mailFigures(client)).pending === 2);
	await at.post('a', 'NOW', {from: 'dev-2', metadata: {atm: {priority: 'urgent'}}});
	const {params: urgent} = await notification('warning');
	t.like((urgent as JsonObject).data, {new: 1, unread: 3, urgent: 1});
	client.cancel(slow.id);
	await until(() => at.deliveries().length === 3);
	t.deepEqual(bodies(at.deliveries()).flat(), ['silent', 'NOW', 'when you have time']);
});
