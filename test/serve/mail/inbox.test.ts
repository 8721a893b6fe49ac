import {existsSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import test from 'ava';
import {MailInbox} from '../../../lib/serve/mail/inbox.js';
import {findTeam} from '../../../lib/serve/mail/roster.js';
import {native, teamOf} from '../../e2e/mail/support.js';

const open = (claude: string, agent = 'dev-1'): MailInbox => new MailInbox(claude, {agent, team: 'crew'});

test('reads messages in the formats of all versions, each with a stable id', async t => {
	const {claude, put} = teamOf(t);
	put('dev-1', [
		native('team-lead', 'plain'),
		native('dev-2', 'seed', {message_id: 'd6b1'}),
		native('dev-2', 'later', {metadata: {atm: {messageId: '01J', sourceTeam: 'other'}}}),
		native('dev-2', 'mid 2026', {msgV: 1, msg_id: 'm-7', type: 'message'}),
		{from: 'dev-2', content: 'alias of text', timestamp: '2026-02-18T10:00:00+00:00'},
	]);
	const {messages, skipped} = await open(claude).read();
	t.deepEqual(
		messages.map(({text}) => text),
		['plain', 'seed', 'later', 'mid 2026', 'alias of text'],
	);
	t.deepEqual(
		messages.slice(1, 4).map(({id}) => id),
		['d6b1', '01J', 'm-7'],
	);
	t.regex(messages[0]?.id ?? '', /^sha-[0-9a-f]{20}$/);
	t.deepEqual((await open(claude).read()).messages, messages);
	t.is(messages[2]?.sourceTeam, 'other');
	t.is(messages[4]?.at, Date.parse('2026-02-18T10:00:00Z'));
	t.is(skipped, 0);
});

test('appends and marks messages without changing other entries', async t => {
	const {claude, put, inbox} = teamOf(t);
	put('dev-1', ['no message', native('a', 'one', {odd: {deep: [1]}}), 7, native('b', 'two')]);
	const box = open(claude);
	await box.append(native('c', 'three', {message_id: 'x'}));
	const [one, two] = await box.unread();
	await box.markRead([one?.id ?? '', 'x']);
	t.deepEqual(
		inbox('dev-1').map((each: {read?: boolean}) => each?.read),
		[undefined, true, undefined, false, true],
	);
	t.deepEqual(
		(await box.unread()).map(({id}) => id),
		[two?.id],
	);
	await box.markUnread(['x']);
	t.is((await box.unread()).length, 2);
	t.deepEqual(inbox('dev-1')[1].odd, {deep: [1]});
	t.deepEqual(readdirSync(`${claude}/teams/crew/inboxes`), ['dev-1.json']);
});

test('creates a missing inbox that only the user can read', async t => {
	const {claude, inboxOf} = teamOf(t);
	const box = open(claude);
	t.is(box.stamp(), undefined);
	await new MailInbox(claude, {agent: 'a', team: 'none'}).markRead(['x']);
	t.deepEqual(await box.unread(), []);
	t.false(existsSync(inboxOf('dev-1')));
	await box.append(native('a', 'one', {message_id: 'x'}));
	t.is(statSync(inboxOf('dev-1')).mode & 0o777, 0o600);
	const stamp = box.stamp();
	await box.markRead(['x']);
	t.not(box.stamp(), stamp);
});

for (const content of ['', '[{"from":"a","te', '{"from":"a"}', '[1,]'])
	test(`never rewrites the invalid content ${JSON.stringify(content)}`, async t => {
		const {claude, inboxOf} = teamOf(t);
		writeFileSync(inboxOf('dev-1'), content);
		const box = open(claude);
		await t.throwsAsync(box.read(), {message: /cannot be used/});
		await t.throwsAsync(box.append(native('a', 'b')), {message: /left unchanged/});
		await t.throwsAsync(box.markRead(['x']), {message: /left unchanged/});
		t.is(readFileSync(inboxOf('dev-1'), 'utf8'), content);
	});

test('reads the members of a team', async t => {
	const {claude} = teamOf(t);
	const team = await findTeam(claude, 'crew');
	t.deepEqual(
		team?.members.map(({name, isLead}) => [name, isLead]),
		[
			['team-lead', true],
			['dev-1', false],
			['dev-2', false],
		],
	);
	t.is(await findTeam(claude, 'none'), undefined);
});
