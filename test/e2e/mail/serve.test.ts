import {existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {type JsonObject, listOf, objectOf} from '../../../lib/util/json.js';
import {type ServeClient, startServe} from '../serve/support.js';
import {call, native, openCrew, teamOf} from './support.js';

const messagesIn = ({structured}: {structured: JsonObject}): JsonObject[] =>
	listOf(structured.messages).map(objectOf);

async function allRead(inbox: () => JsonObject[]): Promise<void> {
	while (inbox().some(({read}) => read !== true)) await sleep(5);
}

test('lists the four mail tools next to the Codex and session tools [FR-4.1] [FR-8.7] [FR-15.1]', async t => {
	const {client} = await openCrew(t);
	const {result} = await client.running.request('list', 'tools/list');
	const tools = listOf(objectOf(result).tools).map(objectOf);
	const names = tools.map(({name}) => name);
	for (const name of ['atm_send', 'atm_read', 'atm_broadcast', 'atm_pending_count', 'codex', 'codex_close'])
		t.is(names.filter(each => each === name).length, 1, name);
	const inputs = (name: string): string[] =>
		Object.keys(objectOf(objectOf(tools.find(tool => tool.name === name)?.inputSchema).properties));
	t.deepEqual(inputs('atm_send'), ['to', 'message', 'summary', 'priority', 'identity', 'codex_id']);
	t.deepEqual(inputs('atm_read'), ['all', 'mark_read', 'limit', 'since', 'from', 'identity', 'codex_id']);
});

test('atm_send appends a message from the bound identity to the inbox and audits it [FR-4.2] [FR-4.5] [FR-4.6]', async t => {
	const {client, team, at} = await openCrew(t);
	const other = teamOf(t, {home: at.base, team: 'others', names: ['team-lead', 'guest']});
	const {codexId} = await client.codex({prompt: 'say:X', identity: 'arch'});
	const sent = await call(client, 'atm_send', {codex_id: codexId, to: 'dev-1', message: 'PR is ready'});
	t.is(sent.structured.sent, 'Message sent to dev-1@crew', sent.text);
	t.like(team.inbox('dev-1'), [
		{from: 'arch', text: 'PR is ready', read: false, summary: 'PR is ready'},
	] as object);
	t.is(team.inbox('dev-1')[0].message_id, sent.structured.message_id);
	t.is(team.inbox('dev-1')[0].metadata.atm.sourceTeam, 'crew');
	const across = await call(client, 'atm_send', {
		identity: 'arch',
		to: 'guest@others',
		message: 'Hello',
		summary: 'hi',
		priority: 'urgent',
	});
	t.false(across.isError, across.text);
	t.like(other.inbox('guest')[0], {
		from: 'arch',
		summary: 'hi',
		metadata: {atm: {sourceTeam: 'crew', priority: 'urgent'}},
	});
	const audited = at.audit().filter(({event_type: type}) => type === 'atm_send');
	t.like(audited[0], {
		identity: 'arch',
		codex_id: codexId,
		recipient: 'dev-1@crew',
		message_summary: 'PR is ready',
		outcome: 'completed',
		team: 'crew',
	});
	t.is(audited.length, 2);
	t.true(audited.every(({correlation_id: id}) => typeof id === 'string' && id !== ''));
});

test('rejects mail from another identity and, outside of a thread, mail without an identity [FR-4.5] [H4]', async t => {
	const {client, team, at} = await openCrew(t, '--identity', 'desk');
	const {codexId, structured} = await client.codex({prompt: 'say:X', identity: 'arch'});
	const {threadId} = structured;
	const to = {to: 'dev-1', message: 'x'};
	const assertRejected = async (code: number, args: JsonObject, meta?: JsonObject): Promise<void> => {
		const {isError, error, text} = await call(client, 'atm_send', {...to, ...args}, meta);
		t.true(isError, text);
		t.is(error.code, code, text);
	};
	await assertRejected(-32009, {});
	await assertRejected(-32009, {}, {threadId: "another client's thread"});
	await assertRejected(-32001, {identity: 'team-lead'});
	await assertRejected(-32001, {identity: 'dev-2', codex_id: codexId});
	await assertRejected(-32001, {identity: 'dev-2'}, {threadId});
	await assertRejected(-32002, {codex_id: 'codex:none'});
	t.false(existsSync(team.inboxOf('dev-1')));
	t.is((await call(client, 'atm_send', to, {threadId})).structured.from, 'arch');
	t.is((await call(client, 'atm_send', {...to, identity: 'desk'})).structured.from, 'desk');
	const refusals = at.audit().filter(({event_type: type}) => type === 'refusal');
	t.is(refusals.length, 6);
	t.like(refusals[0], {recipient: 'dev-1', details: {tool: 'atm_send', code: -32009}});
	for (const [name, args] of [
		['atm_read', {}],
		['atm_broadcast', {message: 'x'}],
		['atm_pending_count', {}],
	] as const)
		t.is((await call(client, name, args)).error.code, -32009, name);
	t.is((await call(client, 'atm_send', {...to, from: 'dev-2', identity: 'desk'})).error.code, -32007);
	await client.close(codexId);
	await assertRejected(-32003, {codex_id: codexId});
	await assertRejected(-32001, {identity: 'arch'});
});

test('atm_send matches the recipient case-insensitively [S-D20]', async t => {
	const {client, team} = await openCrew(t, '--identity', 'desk');
	for (const to of ['DEV-1', 'Dev-1@crew']) {
		const sent = await call(client, 'atm_send', {identity: 'desk', to, message: 'x'});
		t.is(sent.structured.to, 'dev-1@crew', sent.text);
	}
	t.true(existsSync(team.inboxOf('dev-1')));
	t.false(existsSync(team.inboxOf('DEV-1')));
	const near = await call(client, 'atm_send', {identity: 'desk', to: 'DEV-11', message: 'x'});
	t.regex(near.text, /Did you mean dev-1\?/);
});

test('atm_send rejects an unknown recipient, creates no inbox and lists the members', async t => {
	const {client, team} = await openCrew(t, '--identity', 'desk');
	const send = (to: string) => call(client, 'atm_send', {identity: 'desk', to, message: 'x'});
	const unknown = await send('dev-3');
	t.true(unknown.isError);
	t.regex(
		unknown.text,
		/The team crew has no member dev-3\. Its members are team-lead, dev-1, dev-2\. Did you mean dev-1\?/,
	);
	t.regex((await send('dev-1@nowhere')).text, /no team nowhere .* Existing teams: crew\./);
	t.false(existsSync(team.inboxOf('dev-3')));
	for (const to of [
		'',
		' ',
		'../../x',
		'a/b',
		'a@b@c',
		'@crew',
		'dev-1@',
		'.hidden',
		'x'.repeat(200),
		'CON',
		'a\u0000b',
	])
		t.is((await send(to)).error.code, -32007, to);
	const nul = await call(client, 'atm_send', {identity: 'desk', to: 'dev-1', message: 'a\u0000b'});
	t.regex(nul.text, /NUL/);
	const long = await call(client, 'atm_send', {
		identity: 'desk',
		to: 'dev-1',
		message: 'x'.repeat(2 ** 20 + 1),
	});
	t.regex(long.text, /1048577 bytes/);
	t.false(existsSync(team.inboxOf('dev-1')));
});

test('atm_read returns unread mail with its envelope, oldest first, and marks it read after responding [FR-4.3]', async t => {
	const {client, team} = await openCrew(t, '--identity', 'dev-1');
	const identity = 'dev-1';
	team.put(identity, [
		native('team-lead', 'old', {read: true}),
		...Array.from({length: 12}, (_, at) => native(at % 2 ? 'team-lead' : 'dev-2', `m${at}`)),
		'invalid entry',
	]);
	const count = async () => (await call(client, 'atm_pending_count', {identity})).structured.unread;
	const read = (args: JsonObject = {}) => call(client, 'atm_read', {identity, ...args});
	const textsIn = (result: {structured: JsonObject}) => messagesIn(result).map(({message}) => message);
	t.is(await count(), 12);
	t.is(await count(), 12, 'atm_pending_count marks nothing as read');
	t.deepEqual(textsIn(await read({mark_read: false, from: 'dev-2', limit: 2})), ['m0', 'm2']);
	const ten = await read();
	t.is(textsIn(ten).join(), Array.from({length: 10}, (_, at) => `m${at}`).join());
	const [first] = messagesIn(ten);
	const {timestamp} = team.inbox(identity)[1];
	t.like(first, {from: 'dev-2', message: 'm0', text: 'm0', timestamp, read: false});
	t.true(typeof first?.message_id === 'string');
	t.like(ten.structured, {unread_left: 2, skipped: 1});
	t.is(await count(), 2, 'atm_read delivers each message once');
	// The lock of another writer prevents marking mail as read.
	mkdirSync(`${team.inboxOf(identity)}.lock`);
	t.deepEqual(textsIn(await read()), ['m10', 'm11']);
	t.false(team.inbox(identity)[12].read, 'mail is marked after the response');
	rmdirSync(`${team.inboxOf(identity)}.lock`);
	await allRead(() => team.inbox(identity).filter((each: unknown) => typeof each === 'object'));
	t.is(team.inbox(identity).at(-1), 'invalid entry', 'an invalid entry is preserved');
	const all = await read({all: true, limit: 3, since: '2020-01-01T00:00:00Z'});
	t.deepEqual(textsIn(all), ['m9', 'm10', 'm11']);
	for (const args of [{limit: 0}, {limit: 'x'}, {since: 'yesterday'}, {all: 1}])
		t.is((await read(args)).error.code, -32007);
});

test('atm_broadcast reaches all members but the sender and reports failed recipients [FR-4.4]', async t => {
	const {client, team} = await openCrew(t);
	const {codexId} = await client.codex({prompt: 'say:X', identity: 'arch'});
	writeFileSync(team.inboxOf('dev-2'), '[{"cut');
	const result = await call(client, 'atm_broadcast', {codex_id: codexId, message: 'Freeze at noon'});
	t.deepEqual(result.structured.sent, ['team-lead@crew', 'dev-1@crew'], result.text);
	t.like(listOf(result.structured.failed)[0], {to: 'dev-2@crew'});
	t.is(readFileSync(team.inboxOf('dev-2'), 'utf8'), '[{"cut', 'a truncated file is not overwritten');
	t.deepEqual(team.inbox('arch'), [], 'the sender gets no copy');
	for (const name of ['team-lead', 'dev-1'])
		t.like(team.inbox(name)[0], {from: 'arch', text: 'Freeze at noon'});
	for (const name of ['team-lead', 'dev-1']) writeFileSync(team.inboxOf(name), '');
	t.true((await call(client, 'atm_broadcast', {codex_id: codexId, message: 'x'})).isError, 'all failed');
	t.regex(
		(await call(client, 'atm_broadcast', {codex_id: codexId, message: 'x', team: 'none'})).text,
		/no team none/,
	);
});

test("writes mail in the format of the recipient's inbox, unless inbox_format is set [S-13]", async t => {
	const {client, team, at} = await openCrew(t, '--identity', 'desk');
	const send = (sender: ServeClient, to: string) =>
		call(sender, 'atm_send', {identity: 'desk', to, message: 'x'});
	await send(client, 'team-lead');
	t.deepEqual(Object.keys(team.inbox('team-lead')[0]), [
		'from',
		'text',
		'timestamp',
		'read',
		'summary',
		'metadata',
	]);
	await send(client, 'dev-1');
	t.true('message_id' in team.inbox('dev-1')[0]);
	await send(client, 'dev-1');
	t.true('message_id' in team.inbox('dev-1')[1], "bridge's own messages do not determine the format");
	team.put('dev-2', [native('x', 'y', {metadata: {atm: {messageId: '01J'}}})]);
	await send(client, 'dev-2');
	t.false('message_id' in team.inbox('dev-2')[1]);
	at.configure('[plugins.codex-mcp]\ninbox_format = "legacy"\n');
	const legacy = await startServe(t, at, '--team', 'crew', '--identity', 'desk');
	await send(legacy, 'team-lead');
	t.regex(team.inbox('team-lead')[1].message_id, /^[0-9a-f-]{36}$/);
});
