import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {type JsonObject, listOf, objectOf} from '../../../lib/util/json.js';
import {runBridge, startBridge, startReady} from '../../helpers/bridge.js';
import {readNdjson} from '../../helpers/ndjson.js';
import {native, teamOf} from './support.js';

const envOf = (home: string): NodeJS.ProcessEnv => ({...process.env, ATM_HOME: home});

async function tools(t: ExecutionContext, team: ReturnType<typeof teamOf>, identity: string) {
	const command = ['atm-tools', '--identity', identity, '--team', team.team];
	const running = await startReady(command, {env: envOf(team.home), cwd: team.home});
	t.teardown(() => running.child.kill('SIGKILL'));
	let ids = 0;
	return {
		running,
		async call(name: string, args: JsonObject = {}, meta: JsonObject = {}): Promise<JsonObject> {
			const params = {name, arguments: args, _meta: meta};
			return objectOf((await running.request(++ids, 'tools/call', params)).result);
		},
	};
}

test('bridge atm-tools sends and reads only as the identity it is bound to [FR-4.5] [FR-4.6]', async t => {
	const team = teamOf(t);
	team.put('dev-1', [native('team-lead', 'Begin', {message_id: 'x'})]);
	const {running, call} = await tools(t, team, 'dev-1');
	const listed = listOf(objectOf((await running.request('l', 'tools/list')).result).tools).map(objectOf);
	t.deepEqual(
		listed.map(({name}) => name),
		['atm_send', 'atm_read', 'atm_broadcast', 'atm_pending_count'],
	);
	for (const {inputSchema} of listed) t.false('identity' in objectOf(objectOf(inputSchema).properties));
	t.like((await call('atm_pending_count')).structuredContent, {identity: 'dev-1', unread: 1});
	t.like((await call('atm_read')).structuredContent, {messages: [{message: 'Begin', message_id: 'x'}]});
	t.like((await call('atm_send', {to: 'dev-2', message: 'Done'}, {threadId: 'th-1'})).structuredContent, {
		from: 'dev-1',
	});
	t.like(team.inbox('dev-2')[0], {from: 'dev-1', text: 'Done'});
	t.deepEqual(objectOf((await call('atm_broadcast', {message: 'All done'})).structuredContent).sent, [
		'team-lead@crew',
		'dev-2@crew',
	]);
	t.true((await call('atm_send', {to: 'dev-2', message: 'x', identity: 'team-lead'})).isError);
	t.like(await running.request('u', 'tools/call', {name: 'other'}), {error: {code: -32602}});
	running.stdin.end();
	t.is((await running.exited).code, 0);
	t.true(team.inbox('dev-1')[0].read, 'delivered mail is marked read before exit');
	const lines = readNdjson<JsonObject>(`${team.home}/.config/atm/codex-sessions/audit.jsonl`);
	t.deepEqual(
		lines.map(({event_type: type}) => type),
		['atm_pending_count', 'atm_read', 'atm_send', 'atm_broadcast', 'refusal'],
	);
	t.like(lines[2], {identity: 'dev-1', recipient: 'dev-2@crew', thread_id: 'th-1'});
});

test('bridge atm-tools requires an identity', async t => {
	const {code, stderr} = await runBridge(['atm-tools'], '', {env: envOf(teamOf(t).home)});
	t.is(code, 2);
	t.regex(stderr, /--identity NAME/);
});

test('bridge mail shows inboxes and their messages without changing them', async t => {
	const team = teamOf(t);
	team.put('dev-1', [
		native('team-lead', 'One\nline \u001b[31mred', {read: true}),
		native('dev-2', 'Two', {metadata: {atm: {messageId: '01J', sourceTeam: 'others', priority: 'urgent'}}}),
	]);
	team.put('ghost', [native('dev-2', 'Lost')]);
	const before = readFileSync(team.inboxOf('dev-1'), 'utf8');
	const env = envOf(team.home);
	const run = (...args: string[]) =>
		runBridge(['mail', ...args], '', {env, cwd: team.home}).then(({stdout, ...rest}) => ({
			...rest,
			stdout: stdout.map(line => `${line}\n`).join(''),
		}));
	const {code, stdout} = await run();
	t.is(code, 0);
	t.regex(stdout, /TEAM +AGENT +UNREAD +TOTAL +LAST +FROM +NOTE\n/);
	t.regex(stdout, /crew +dev-1 +1 +2 +\d+ d ago +dev-2\n/);
	t.regex(stdout, /crew +ghost +1 +1 .* not on the team\n/);
	const one = await run('--identity', 'dev-1', '--team', 'crew');
	t.regex(one.stdout, /team-lead → dev-1@crew\n {2}One\n {2}line \\x1b\[31mred\n\n/);
	t.regex(one.stdout, /dev-2@others → dev-1@crew {2}\(unread, urgent\)\n {2}Two\n/);
	const listed = JSON.parse((await run('--identity', 'dev-1', '--json')).stdout);
	t.like(listed[1], {to: 'dev-1', from: 'dev-2', message_id: '01J', read: false, urgent: true});
	t.is(readFileSync(team.inboxOf('dev-1'), 'utf8'), before);
	const unknown = await run('--identity', 'stranger');
	t.is(unknown.code, 2);
	t.regex(unknown.stderr, /stranger has no inbox\. Existing inboxes: team-lead, dev-1, dev-2, ghost\./);
	t.is((await run('--team', 'none')).code, 2);
	writeFileSync(team.inboxOf('dev-2'), '[');
	const truncated = await run('--team', 'crew');
	t.is(truncated.code, 1);
	t.regex(truncated.stdout, /dev-2 +\? .*cannot be used/);
	t.false(existsSync(team.inboxOf('team-lead')));
});

test('bridge mail --follow prints new mail and exits on SIGTERM', async t => {
	const team = teamOf(t);
	const old = native('team-lead', 'Before');
	team.put('dev-1', [old]);
	const running = startBridge(['mail', '--follow', '--identity', 'dev-1'], {
		env: envOf(team.home),
		cwd: team.home,
	});
	t.teardown(() => running.child.kill('SIGKILL'));
	await running.says(/Waiting for mail in 1 inboxes/);
	team.put('dev-1', [old, native('dev-2', 'After')]);
	t.is((await running.hasLines(2))[1], '  After');
	t.false(running.lines.join('\n').includes('Before'), 'prints only new mail');
	running.child.kill('SIGTERM');
	t.is((await running.exited).code, 0);
});
