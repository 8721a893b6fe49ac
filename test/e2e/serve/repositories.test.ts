import {cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import test from 'ava';
import {repositoryStateFolder, stateFolder} from '../../../lib/serve/paths.js';
import {runBridge} from '../../helpers/bridge.js';
import {until} from '../../helpers/program.js';
import {type Place, place, startServe} from './support.js';

/* Without a team, sessions belong to the repository in which bridge serve was started. */

/** A second repository of the same user. */
function neighbor(at: Place): Place {
	const repo = join(dirname(at.repo), 'other');
	cpSync(at.repo, repo, {recursive: true});
	return {...at, repo, state: () => repositoryStateFolder(at.base, 'default', repo)};
}

test('two repositories without a team both use the identity codex and list their own sessions [S-D9]', async t => {
	const at = await place(t, 'app-server');
	const other = neighbor(at);
	const [one, two] = [await startServe(t, at), await startServe(t, other)];
	const first = await one.codex({prompt: 'say:1'});
	const second = await two.codex({prompt: 'say:2'});
	t.like(first.structured, {identity: 'codex', content: '1'});
	t.like(second.structured, {identity: 'codex', content: '2'});
	t.deepEqual(
		(await two.threads()).map(({codex_id: id}) => id),
		[second.codexId],
	);
	const third = await startServe(t, at);
	t.like((await third.codex({prompt: 'say:3'})).error, {code: -32001, codex_id: first.codexId});
	t.like((await two.reply(first.codexId, 'say:4')).error, {code: -32002});
	const listed = JSON.parse((await runBridge(['threads', '--json'], '', at)).stdout.join('\n'));
	t.is(listed.length, 2);
	const ofTeam = await runBridge(['threads', '--json', '--team', 'default'], '', {env: at.env, cwd: at.repo});
	t.is(JSON.parse(ofTeam.stdout.join('\n')).length, 2);
});

test('a named or existing team shares one set of identities across repositories [S-D9]', async t => {
	const at = await place(t, 'app-server');
	const other = neighbor(at);
	const named = {...at, env: {...at.env, ATM_TEAM: 'crew'}};
	const one = await startServe(t, named);
	const {codexId} = await one.codex({prompt: 'say:1'});
	const two = await startServe(t, {...other, env: named.env});
	t.like((await two.codex({prompt: 'say:2'})).error, {code: -32001, codex_id: codexId});
	const roster = join(at.base, '.claude/teams/default/config.json');
	mkdirSync(dirname(roster), {recursive: true});
	writeFileSync(roster, JSON.stringify({name: 'default', members: []}));
	const three = await startServe(t, at);
	const {codexId: third} = await three.codex({prompt: 'say:3'});
	const four = await startServe(t, other);
	t.like((await four.codex({prompt: 'say:4'})).error, {code: -32001, codex_id: third});
	t.true(existsSync(join(stateFolder(at.base, 'default'), 'registry.json')));
});

test('migrates sessions of an earlier version to the folder of their repository [S-D9]', async t => {
	const at = await place(t, 'mcp-server');
	const other = neighbor(at);
	const before = await startServe(t, at);
	const {codexId, structured} = await before.codex({prompt: 'say:1'});
	await before.running.end();
	const folder = stateFolder(at.base, 'default');
	renameSync(at.state(), folder);
	const registry = join(folder, 'registry.json');
	const {sessions} = JSON.parse(readFileSync(registry, 'utf8'));
	const elsewhere = {...sessions[0], codex_id: 'codex:elsewhere', repo_root: '/elsewhere', cwd: '/elsewhere'};
	writeFileSync(registry, JSON.stringify({version: 1, sessions: [...sessions, elsewhere]}));

	const ofOther = await startServe(t, other);
	t.like((await ofOther.codex({codex_id: codexId, prompt: 'say:2'})).error, {code: -32002});
	t.deepEqual(await ofOther.threads(), []);

	const client = await startServe(t, at);
	t.like((await client.threads())[0], {codex_id: codexId, identity: 'codex', status: 'closed'});
	t.true(existsSync(at.summaryPath('codex', structured.threadId)));
	const resumed = await client.codex({codex_id: codexId, prompt: 'say:3'});
	t.like(resumed.structured, {codex_id: codexId, resumed: {context: 'summary'}});
	t.deepEqual(
		JSON.parse(readFileSync(registry, 'utf8')).sessions.map((entry: {codex_id: string}) => entry.codex_id),
		['codex:elsewhere'],
	);
});

test('keeps sessions in the folder of a team while another bridge serve runs sessions there [S-D9]', async t => {
	const at = await place(t, 'app-server');
	const named = {...at, env: {...at.env, ATM_TEAM: 'default'}};
	const one = await startServe(t, named);
	const {codexId} = await one.codex({prompt: 'say:1', identity: 'one'});
	await one.close(codexId);
	const {codexId: second} = await one.codex({prompt: 'say:2', identity: 'two'});
	const two = await startServe(t, at);
	t.deepEqual(await two.threads(), []);
	await until(() => /"event":"registry\.move_deferred".*Another bridge serve uses/.test(two.running.stderr));
	t.is((await one.codex({codex_id: codexId, prompt: 'say:3'})).codexId, codexId);
	await one.running.end();
	await two.running.end();
	const three = await startServe(t, at);
	const ids = (await three.threads()).map(({codex_id: id}) => id);
	t.is(ids.length, 2);
	for (const id of [codexId, second]) t.true(ids.includes(id));
});

test('migrates sessions in subfolders with those of bridge serve [S-D9]', async t => {
	const at = await place(t, 'app-server');
	const folder = join(dirname(at.repo), 'plain');
	mkdirSync(join(folder, 'sub'), {recursive: true});
	cpSync(at.repo, join(folder, 'nested'), {recursive: true});
	const plain = {...at, repo: folder};
	const before = await startServe(t, {...plain, env: {...at.env, ATM_TEAM: 'default'}});
	const below = await before.codex({prompt: 'say:1', identity: 'below', cwd: 'sub'});
	await before.codex({prompt: 'say:2', identity: 'nested', cwd: 'nested'});
	await before.codex({prompt: 'say:3', identity: 'outside', cwd: at.repo});
	await before.running.end();
	const client = await startServe(t, plain);
	t.deepEqual(
		(await client.threads()).map(({codex_id: id}) => id),
		[below.codexId],
		'a repository below a plain folder keeps its own sessions',
	);
	const nested = await startServe(t, {...at, repo: join(folder, 'nested')});
	t.like(await nested.threads(), [{identity: 'nested'}]);
});

test('migrates a session in a nested repository with those of bridge serve [S-D9]', async t => {
	const at = await place(t, 'app-server');
	cpSync(at.repo, join(dirname(at.repo), 'inner'), {recursive: true});
	cpSync(join(dirname(at.repo), 'inner'), join(at.repo, 'inner'), {recursive: true});
	const before = await startServe(t, {...at, env: {...at.env, ATM_TEAM: 'default'}});
	const {codexId} = await before.codex({prompt: 'say:1', cwd: 'inner'});
	await before.running.end();
	const client = await startServe(t, at);
	t.like(await client.threads(), [{codex_id: codexId, repo_root: join(at.repo, 'inner')}]);
});

test('does not replace the roster entry of another bridge serve with the same identity [S-D9]', async t => {
	const at = await place(t, 'app-server');
	const [one, two] = [await startServe(t, at), await startServe(t, neighbor(at))];
	const [first, second] = [await one.codex({prompt: 'say:1'}), await two.codex({prompt: 'say:2'})];
	const roster = join(at.base, '.claude/teams/default/config.json');
	mkdirSync(join(dirname(roster), 'inboxes'), {recursive: true});
	writeFileSync(roster, JSON.stringify({name: 'default', members: []}));
	const members = () =>
		JSON.parse(readFileSync(roster, 'utf8')).members.map((member: {name: string; processId: number}) => [
			member.name,
			member.processId,
		]);
	await one.reply(first.codexId, 'say:3');
	const expected = [['codex', one.running.child.pid]];
	t.deepEqual(members(), expected);
	for (const prompt of ['say:4', 'say:5']) {
		t.is((await two.reply(second.codexId, prompt)).isError, false);
		t.deepEqual(members(), expected);
		await one.reply(first.codexId, prompt);
		t.deepEqual(members(), expected);
	}
	await until(() => two.running.stderr.includes('mail.roster.taken'));
	t.is(two.running.stderr.split('mail.roster.taken').length, 2, 'one warning');
	t.notRegex(one.running.stderr, /mail\.roster\.taken/);
	await one.close(first.codexId);
	await two.reply(second.codexId, 'say:6');
	t.deepEqual(members(), [['codex', two.running.child.pid]]);
});
