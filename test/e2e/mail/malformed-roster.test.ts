import {writeFileSync} from 'node:fs';
import test from 'ava';
import {runBridge} from '../../helpers/bridge.js';
import {place, startServe} from '../serve/support.js';
import {call, native, teamOf} from './support.js';

const malformed = [
	{name: 5},
	null,
	'dev-3',
	{},
	{name: ''},
	{name: '../x', agentId: 'x@crew'},
	['a'],
	{name: {a: 1}},
];

test('ignores malformed entries of a roster and reports them once [S-D14]', async t => {
	const at = await place(t, 'app-server');
	at.configure('[plugins.codex-mcp]\nauto_mail = false\n');
	const team = teamOf(t, {home: at.base});
	const roster = team.config();
	roster.members.unshift(...malformed);
	writeFileSync(team.roster, JSON.stringify(roster));
	const client = await startServe(t, at, '--team', 'crew');
	const {codexId, isError, text} = await client.codex({prompt: 'say:X', identity: 'arch'});
	t.false(isError, text);
	await client.codex({prompt: 'say:X', identity: 'second'});
	t.deepEqual(
		team
			.config()
			.members.slice(malformed.length)
			.map((member: {name: string}) => member.name),
		['team-lead', 'dev-1', 'dev-2', 'arch', 'second'],
	);
	t.deepEqual(team.config().members.slice(0, malformed.length), malformed);
	const sent = await call(client, 'atm_broadcast', {codex_id: codexId, message: 'Hello'});
	t.deepEqual(sent.structured, {
		from: 'arch',
		team: 'crew',
		sent: ['team-lead@crew', 'dev-1@crew', 'dev-2@crew', 'second@crew'],
		failed: [],
	});
	const unknown = await call(client, 'atm_send', {codex_id: codexId, to: '5', message: 'x'});
	t.regex(unknown.text, /Its members are team-lead, dev-1, dev-2, arch, second\./);
	t.notRegex(unknown.text, /Did you mean/);
	await client.close(codexId);
	t.false(JSON.stringify(team.config()).includes('arch'));
	await client.running.end();
	t.is(client.running.stderr.match(/mail\.roster\.malformed/g)?.length, 1, client.running.stderr);
	t.regex(client.running.stderr, /config\.json has 8 entries without a valid name/);
	t.notRegex(client.running.stderr, /"event":"(?:bug|mail\.roster)"/);
});

test('bridge mail shows the inboxes of a roster with malformed entries [S-D14]', async t => {
	const team = teamOf(t);
	writeFileSync(
		team.roster,
		JSON.stringify({...team.config(), members: [{name: 5}, ...team.config().members]}),
	);
	team.put('dev-1', [native('team-lead', 'Hello')]);
	const env = {...process.env, ATM_HOME: team.home};
	const {code, stdout, stderr} = await runBridge(['mail', '--team', 'crew'], '', {env, cwd: team.home});
	t.is(code, 0, stderr);
	t.regex(stdout.join('\n'), /crew +dev-1 +1 +1 /);
	t.regex(
		stderr,
		/^bridge: \S+config\.json has 1 entry without a valid name in its members\. bridge ignores it\. Correct or remove it\.\n$/,
	);
});
