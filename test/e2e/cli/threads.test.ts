import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {sessionEntry} from '../../../fixtures/sessions/entry.js';
import {newHome} from './home.js';

const THREAD = '0199a213-81c0-7800-8aa1-bbab2a035a53';
const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

test('threads lists the sessions of all teams as a table, most recently used first [FR-13.5]', async t => {
	const {sessions, run} = newHome(t);
	sessions('red', {codex_id: 'codex:1', identity: 'old', status: 'closed', last_active: daysAgo(3)});
	sessions('blue', {
		codex_id: 'codex:2',
		identity: 'new',
		status: 'stale',
		last_active: daysAgo(0),
		branch: null,
		turns: 12,
	});
	const {code, out, stderr} = await run('threads');
	t.is(stderr, '');
	t.is(code, 0);
	const [head, first, second, rest] = out.split('\n');
	t.regex(head ?? '', /^IDENTITY +TEAM +STATUS +STATE +LAST ACTIVE +TURNS +REPO +BRANCH +TAG +CODEX ID$/);
	t.regex(first ?? '', /^new +blue +stale +idle +\d+ s ago +12 +repo +- +- +codex:2$/);
	t.regex(second ?? '', /^old +red +closed +idle +3 d ago +1 +repo +main +- +codex:1$/);
	t.is(rest, '');
	t.is((head ?? '').indexOf('TEAM'), (first ?? '').indexOf('blue'));
});

test('threads --team, --repo and --identity filter the list, and --json prints every field [FR-13.5]', async t => {
	const {sessions, run, cwd} = newHome(t);
	sessions(
		'red',
		{codex_id: 'codex:1', repo_name: 'app', repo_root: '/src/app'},
		{codex_id: 'codex:2', identity: 'dev', repo_name: 'lib', repo_root: '/src/lib'},
	);
	sessions('blue', {codex_id: 'codex:3', repo_name: null, repo_root: null});
	const ids = async (...args: string[]): Promise<string[]> =>
		JSON.parse((await run('threads', '--json', ...args)).out)
			.map(({codex_id}: {codex_id: string}) => codex_id)
			.sort();
	t.deepEqual(await ids(), ['codex:1', 'codex:2', 'codex:3']);
	t.deepEqual(await ids('--team', 'red'), ['codex:1', 'codex:2']);
	t.deepEqual(await ids('--repo', 'app'), ['codex:1']);
	t.deepEqual(await ids('--repo', '/src/lib'), ['codex:2']);
	t.deepEqual(await ids('--identity', 'dev'), ['codex:2']);
	t.deepEqual(await ids('--team', 'none'), []);
	const {out} = await run('threads', '--json', '--repo', 'app');
	t.deepEqual(JSON.parse(out), [
		sessionEntry({
			team: 'red',
			cwd,
			codex_id: 'codex:1',
			repo_name: 'app',
			repo_root: '/src/app',
			status: 'stale',
			state: 'closed',
		}),
	]);
});

test('an active session without a process is shown as stale, and the registry is not changed [FR-3.2]', async t => {
	const {sessions, run, put} = newHome(t);
	const file = sessions(
		'red',
		{codex_id: 'codex:dead', identity: 'dead'},
		{codex_id: 'codex:live', identity: 'live'},
	);
	const lock = {pid: process.pid, codex_id: 'codex:live', startedAt: new Date().toISOString()};
	put('.config/atm/codex-sessions/red/live.lock', JSON.stringify(lock));
	const before = readFileSync(file, 'utf8');
	const {out} = await run('threads');
	t.regex(out, /^live +red +active/m);
	t.regex(out, /^dead +red +stale/m);
	t.is(readFileSync(file, 'utf8'), before);
});

test('threads --prune removes old finished sessions, or those without a folder, and lists them [FR-13.5]', async t => {
	const {sessions, run, put, home} = newHome(t);
	const file = sessions(
		'red',
		{codex_id: 'codex:old', identity: 'old', thread_id: THREAD, status: 'closed', last_active: daysAgo(31)},
		{
			codex_id: 'codex:gone',
			identity: 'gone',
			status: 'stale',
			cwd: '/there/is/none',
			last_active: daysAgo(1),
		},
		{codex_id: 'codex:young', identity: 'young', status: 'interrupted', last_active: daysAgo(29)},
		{codex_id: 'codex:live', identity: 'live', last_active: daysAgo(90)},
	);
	const lock = {pid: process.pid, codex_id: 'codex:live', startedAt: new Date().toISOString()};
	put('.config/atm/codex-sessions/red/live.lock', JSON.stringify(lock));
	const summary = put(`.config/atm/codex-sessions/red/old/${THREAD}/summary.md`, 'text');
	const {code, out, stderr} = await run('threads', '--prune');
	t.is(code, 0, stderr);
	t.regex(out, /codex:old\n/);
	t.regex(out, /codex:gone\n/);
	t.regex(out, /Removed 2 sessions and 1 summary\.\n$/);
	t.deepEqual(
		JSON.parse(readFileSync(file, 'utf8')).sessions.map(({codex_id}: {codex_id: string}) => codex_id),
		['codex:young', 'codex:live'],
	);
	t.false(existsSync(summary));
	t.false(existsSync(join(home, '.config/atm/codex-sessions/red/old')));
	t.deepEqual(JSON.parse((await run('threads', '--prune', '--json')).out), []);
});

test('threads names an unreadable registry, lists the others and exits with 1', async t => {
	const {sessions, run, put} = newHome(t);
	sessions('red', {identity: 'fine'});
	const broken = put('.config/atm/codex-sessions/blue/registry.json', '{"version":');
	put('.config/atm/codex-sessions/green/registry.json', '{"version":9}');
	const {code, out, stderr} = await run('threads');
	t.is(code, 1);
	t.regex(out, /^fine +red/m);
	t.regex(stderr, /registry in .*blue cannot be read: it is not valid JSON/);
	t.regex(stderr, /registry in .*green cannot be read: it is of version 9/);
	t.is(readFileSync(broken, 'utf8'), '{"version":');
});

test('threads escapes control characters in a registry [K5]', async t => {
	const {sessions, run} = newHome(t);
	sessions('red', {branch: 'a\u001b[2J\nb', tag: '\u009b31m'});
	const {out} = await run('threads');
	t.false(/[^\P{Cc}\n]/u.test(out));
	t.is(out.split('\n').length, 3);
});

test('summary prints the summary of a session by codex id, thread id or identity [FR-13.6]', async t => {
	const {sessions, run, put} = newHome(t);
	sessions('red', {
		codex_id: 'codex:1',
		identity: 'arch',
		thread_id: 'new-thread',
		previous_thread_ids: [THREAD],
		status: 'closed',
	});
	const path = put(`.config/atm/codex-sessions/red/arch/${THREAD}/summary.md`, '# What was done\nall of it');
	for (const id of ['codex:1', THREAD, 'arch', 'new-thread']) {
		const {code, out, stderr} = await run('summary', id);
		t.is(code, 0, stderr);
		t.is(out, '# What was done\nall of it\n');
	}
	t.deepEqual(JSON.parse((await run('summary', 'arch', '--json')).out), {
		codex_id: 'codex:1',
		identity: 'arch',
		team: 'red',
		thread_id: THREAD,
		path,
		summary: '# What was done\nall of it',
	});
});

test('summary names the missing id, session, summary or team [FR-13.6]', async t => {
	const {sessions, run, put} = newHome(t);
	sessions('red', {codex_id: 'codex:1', identity: 'arch', thread_id: THREAD});
	sessions('blue', {codex_id: 'codex:2', identity: 'arch', thread_id: THREAD});
	put(`.config/atm/codex-sessions/blue/arch/${THREAD}/summary.md`, 'blue');
	const failure = async (...args: string[]) => {
		const {code, stderr} = await run('summary', ...args);
		return `${code} ${stderr}`;
	};
	t.regex(await failure(), /^2 .*bridge summary needs a session\./);
	t.regex(await failure('nobody'), /^1 .*Session nobody was not found\. bridge threads lists all sessions\./);
	t.regex(await failure('codex:1'), /^1 .*The session codex:1 \(arch\) has no summary\./);
	t.regex(
		await failure('arch'),
		/^1 .*arch exists in several teams: blue, red\. Select one with --team TEAM\./,
	);
	t.is((await run('summary', 'arch', '--team', 'blue')).out, 'blue\n');
	put('.config/atm/config.toml', '[core]\ndefault_team = "blue"');
	t.is((await run('summary', 'arch')).out, 'blue\n');
});

for (const command of ['threads', 'summary', 'install', 'doctor', 'mail', 'atm-tools'])
	test(`${command} --help prints an example and exits with 0`, async t => {
		const {code, out} = await newHome(t).run(command, '--help');
		t.is(code, 0);
		t.regex(out, new RegExp(`^bridge ${command}: `));
		t.regex(out, /Example/);
		t.regex(out, /Exit codes/);
	});

test('rejects unexpected arguments and flags and names the commands that accept them', async t => {
	const {run} = newHome(t);
	for (const [args, message] of [
		[['threads', 'extra'], /Unexpected argument "extra" for bridge threads/],
		[['doctor', '--', 'x'], /Unexpected argument "x" for bridge doctor/],
		[['gateway', '--prune'], /--prune is not valid for bridge gateway\. It is a flag of bridge threads/],
		[['--yes', '--', 'true'], /--yes is not valid for bridge -- COMMAND\. It is a flag of bridge install/],
		[['config', '--user'], /--user is not valid for bridge config/],
		[['threads', '--follow'], /--follow is not valid for bridge threads\. It is a flag of bridge mail/],
		[['mail', 'extra'], /Unexpected argument "extra" for bridge mail/],
	] as const) {
		const {code, stderr} = await run(...args);
		t.is(code, 2, stderr);
		t.regex(stderr, message);
	}
});
