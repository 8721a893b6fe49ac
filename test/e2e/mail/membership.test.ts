import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import test from 'ava';
import {type JsonObject, listOf, objectOf} from '../../../lib/util/json.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {argumentsIn, place, startServe} from '../serve/support.js';
import {openCrew, teamOf} from './support.js';

for (const kind of fakeKinds)
	test(`${kind}: configures mail tools for each Codex session, unless atm_tools is false or the caller has its own`, async t => {
		const at = await place(t, kind);
		teamOf(t, {home: at.base});
		const serverIn = (args: JsonObject): JsonObject => objectOf(objectOf(args.config)['mcp_servers.atm']);
		const client = await startServe(t, at, '--team', 'crew');
		const received = argumentsIn(await client.codex({prompt: 'show:arguments', identity: 'arch'}));
		const {args, env} = serverIn(received);
		t.deepEqual(listOf(args).slice(1), ['atm-tools', '--identity', 'arch', '--team', 'crew']);
		t.like(env, {ATM_HOME: at.base});
		const own = {mcp_servers: {other: {command: 'x'}, atm: {command: 'own'}}, model_reasoning_effort: 'low'};
		const kept = argumentsIn(await client.codex({prompt: 'show:arguments', identity: 'b', config: own}));
		t.deepEqual(kept.config, own, "the caller's own configuration takes precedence");
		at.configure('[plugins.codex-mcp]\natm_tools = false\n');
		const without = await startServe(t, at, '--team', 'crew');
		const plain = argumentsIn(await without.codex({prompt: 'show:arguments', identity: 'c'}));
		t.deepEqual(serverIn(plain), {});
	});

test('adds a Codex session to the roster while it is open, as inactive, and preserves other members [FR-7.3]', async t => {
	const {client, team, at} = await openCrew(t);
	const before = readFileSync(team.roster, 'utf8');
	const {codexId} = await client.codex({prompt: 'say:X', identity: 'arch'});
	t.like(team.config().members[3], {
		agentId: 'arch@crew',
		name: 'arch',
		agentType: 'codex',
		model: 'codex',
		isActive: false,
		cwd: at.repo,
		subscriptions: [],
		externalBackendType: 'codex',
	});
	t.deepEqual(team.inbox('arch'), []);
	writeFileSync(team.roster, before);
	await client.reply(codexId, 'say:Y');
	t.is(team.config().members.length, 4, 'an entry that others removed is added again');
	await client.close(codexId);
	t.is(readFileSync(team.roster, 'utf8'), before);
	t.deepEqual(team.inbox('arch'), [], 'the inbox stays');
	for (const identity of ['team-lead', 'DEV-1']) {
		const rejected = await client.codex({prompt: 'x', identity});
		t.is(rejected.error.code, -32001, rejected.text);
	}
	t.false(
		(await client.codex({prompt: 'say:X', identity: 'dev-1'})).isError,
		'an existing manual entry is accepted',
	);
	t.is(readFileSync(team.roster, 'utf8'), before);
	await client.codex({prompt: 'say:X', identity: 'arch'});
	client.running.child.kill('SIGKILL');
	await client.running.exited;
	const left = `${team.inboxOf('arch').replace('arch.json', '.arch.json')}.${team.config().members[3].bridgeProcess}.7.tmp`;
	writeFileSync(left, 'half');
	t.is(team.config().members[3].isActive, false);
	const next = await startServe(t, at, '--team', 'crew');
	t.is(readFileSync(team.roster, 'utf8'), before, 'the entry of the killed process is removed');
	t.false(existsSync(left));
	await next.codex({prompt: 'say:X', identity: 'arch'});
	next.running.stdin.end();
	await next.running.exited;
	t.is(readFileSync(team.roster, 'utf8'), before);
});
