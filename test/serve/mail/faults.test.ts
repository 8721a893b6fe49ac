import {execFileSync} from 'node:child_process';
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	symlinkSync,
	truncateSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {MailInbox} from '../../../lib/serve/mail/inbox.js';
import {RosterRegistration} from '../../../lib/serve/mail/roster-registration.js';
import {call, native, openCrew, teamOf} from '../../e2e/mail/support.js';
import {recordingLog} from '../sessions/support.js';

/* Damaged files of a team, concurrent writers, and leftovers of processes that have exited. */

const open = (claude: string): MailInbox => new MailInbox(claude, {agent: 'dev-1', team: 'crew'});
const long = new Date(Date.now() - 60_000);

test('neither reads nor writes a file that is not a regular file in the folder of its team [H9]', async t => {
	const {claude, inboxOf, home, folder} = teamOf(t);
	const outside = join(home, 'outside.json');
	writeFileSync(outside, '[]');
	symlinkSync(outside, inboxOf('dev-1'));
	const box = open(claude);
	await t.throwsAsync(box.read(), {code: 'ERR_MAIL_UNREADABLE', message: /it is a link/});
	await t.throwsAsync(box.append(native('a', 'b')), {code: 'ERR_MAIL_UNREADABLE'});
	t.is(readFileSync(outside, 'utf8'), '[]');
	const fifo = new MailInbox(claude, {agent: 'fifo', team: 'crew'});
	execFileSync('mkfifo', [fifo.path]);
	await t.throwsAsync(fifo.read(), {message: /it is not a regular file/});
	await t.throwsAsync(fifo.markRead(['x']), {message: /it is not a regular file/});
	const large = new MailInbox(claude, {agent: 'large', team: 'crew'});
	writeFileSync(large.path, '');
	truncateSync(large.path, 100 * 2 ** 20);
	await t.throwsAsync(large.read(), {message: /longer than/});
	renameSync(join(folder, 'inboxes'), join(home, 'elsewhere'));
	symlinkSync(join(home, 'elsewhere'), join(folder, 'inboxes'));
	await t.throwsAsync(new MailInbox(claude, {agent: 'dev-2', team: 'crew'}).append(native('a', 'b')), {
		message: /leads out/,
	});
	t.false(existsSync(join(home, 'elsewhere', 'dev-2.json')));
});

test('removes stale locks, and waits for locks of live processes [1.3]', async t => {
	const {claude, inboxOf, inbox} = teamOf(t);
	const lock = `${inboxOf('dev-1')}.lock`;
	const box = open(claude);
	mkdirSync(lock);
	utimesSync(lock, long, long);
	await box.append(native('a', 'one', {message_id: 'x'}));
	writeFileSync(lock, '{"pid": 4194303}\n');
	utimesSync(lock, long, long);
	await box.markRead(['x']);
	t.true(inbox('dev-1')[0].read);
	for (const take of [() => mkdirSync(lock), () => writeFileSync(lock, `${process.pid}`)]) {
		take();
		const marked = box.markUnread(['x']).then(() => 'done');
		t.is(await Promise.race([marked, new Promise(resolve => setTimeout(resolve, 60, 'waits'))]), 'waits');
		execFileSync('rm', ['-r', lock]);
		t.is(await marked, 'done');
		await box.markRead(['x']);
	}
	t.deepEqual(readdirSync(join(claude, 'teams/crew/inboxes')), ['dev-1.json']);
});

test('writes a message again if another program overwrites it', async t => {
	const {claude, inboxOf, inbox, put} = teamOf(t);
	put('dev-1', []);
	const other = native('b', 'other', {message_id: 'other'});
	const appended = open(claude).append(native('a', 'one', {message_id: 'x'}));
	while (!readFileSync(inboxOf('dev-1'), 'utf8').includes('"x"'))
		await new Promise(resolve => setImmediate(resolve));
	// The other program read the inbox earlier and ignores locks.
	put('dev-1', [other]);
	await appended;
	t.deepEqual(
		inbox('dev-1').map((each: {message_id: string}) => each.message_id),
		['other', 'x'],
	);
});

test('runs sessions although the roster cannot be read, and does not change it', async t => {
	const {client, team} = await openCrew(t);
	writeFileSync(team.roster, '{"name":"crew","members":[{"na');
	t.false((await client.codex({prompt: 'say:X', identity: 'arch'})).isError);
	await client.running.says(/mail\.roster/);
	t.is(readFileSync(team.roster, 'utf8'), '{"name":"crew","members":[{"na');
	const rejected = await call(client, 'atm_send', {identity: 'arch', to: 'dev-1', message: 'x'});
	t.regex(rejected.text, /config\.json cannot be used/);
});

test('adds an entry with all members that ATM needs, and changes no other entry [1.4]', async t => {
	const team = teamOf(t);
	const {log} = recordingLog();
	const registration = new RosterRegistration({claude: team.claude, team: 'crew', log});
	const text = readFileSync(team.roster, 'utf8').replace('"isActive": true', '');
	const config = JSON.parse(text);
	config.members[1] = {...config.members[1], isActive: true, extra: {kept: [1]}};
	config.members[2] = {...config.members[2], backendType: 'tmux', isActive: false};
	writeFileSync(team.roster, JSON.stringify(config, undefined, 2));
	const before = readFileSync(team.roster, 'utf8');
	const join = (identity: string) =>
		registration.join({identity, codexId: `codex:${identity}`, cwd: '/repo', model: 'some-model'});
	await t.throwsAsync(join('dev-1'), {message: /belongs to another agent/});
	await t.throwsAsync(join('dev-2'), {message: /a teammate in Claude Code/});
	await t.throwsAsync(join('team-lead'), {message: /belongs to the lead/});
	await Promise.all([join('one'), join('two'), join('one')]);
	const [one, two] = team.config().members.slice(3);
	t.deepEqual([one.name, two.name].sort(), ['one', 'two']);
	for (const key of ['agentId', 'name', 'agentType', 'model', 'cwd']) t.is(typeof one[key], 'string', key);
	t.true(Number.isSafeInteger(one.joinedAt));
	t.is(one.isActive, false);
	await Promise.all([registration.leave('one'), registration.leave('dev-1'), registration.leave('two')]);
	t.is(readFileSync(team.roster, 'utf8'), before);
	await new RosterRegistration({claude: team.claude, team: 'none', log}).join({
		identity: 'x',
		codexId: 'codex:x',
		cwd: '/',
		model: undefined,
	});
	t.false(existsSync(`${team.claude}/teams/none`), 'does not create a missing team');
});
