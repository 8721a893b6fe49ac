import {mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {ownProcessIdentity} from '../../../lib/files/process-identity.js';
import {hashSessionToken} from '../../../lib/serve/sessions/session-token.js';
import {type JsonObject, listOf, objectOf} from '../../../lib/util/json.js';
import {startReady} from '../../helpers/bridge.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {until} from '../../helpers/program.js';
import {argumentsIn, type Place, place, type ServeClient, startServe} from '../serve/support.js';
import {openCrew, teamOf} from './support.js';

const VARIABLE = 'BRIDGE_SESSION_TOKEN';

type ToolsCommand = {readonly args: string[]; readonly env: Record<string, string>; readonly codexId: string};

/** Starts a Codex session and returns the configured command of its mail tools. */
async function startSession(client: ServeClient, identity: string): Promise<ToolsCommand> {
	const result = await client.codex({prompt: 'show:arguments', identity});
	const {args, env} = objectOf(objectOf(argumentsIn(result).config)['mcp_servers.atm']);
	return {
		args: listOf(args).slice(1).map(String),
		env: env as Record<string, string>,
		codexId: result.codexId,
	};
}

/** Starts mail tools like Codex, which passes only these environment variables. */
async function startTools(
	t: ExecutionContext,
	args: readonly string[],
	env: Record<string, string | undefined>,
) {
	const {PATH, HOME} = process.env;
	const running = await startReady([...args], {env: {PATH, HOME, ...env}});
	t.teardown(() => running.child.kill('SIGKILL'));
	let ids = 0;
	return async (name: string, input: JsonObject = {}, meta: JsonObject = {}) => {
		const params = {name, arguments: input, _meta: meta};
		const result = objectOf((await running.request(++ids, 'tools/call', params)).result);
		const structured = objectOf(result.structuredContent);
		return {structured, code: objectOf(structured.error).code, text: JSON.stringify(result.content)};
	};
}

const argsFor = (identity: string, team = 'crew'): string[] => [
	'atm-tools',
	'--identity',
	identity,
	'--team',
	team,
];

const mail = {to: 'dev-1', message: 'Hello'};

/** The last `refusal` entry of the audit log. */
const refusalIn = (at: Place): JsonObject => at.audit().findLast(line => line.event_type === 'refusal') ?? {};

for (const kind of fakeKinds)
	test(`${kind}: accepts the token of a Codex session for its mail tools only while the session is live [SEC-ATM-TOOLS] [FR-4.5] [FR-9.3] [S-D5] [S-D6]`, async t => {
		const at = await place(t, kind);
		const team = teamOf(t, {home: at.base});
		at.configure('[plugins.codex-mcp]\nauto_mail = false\n');
		const client = await startServe(t, at, '--team', 'crew');
		const {args, env, codexId} = await startSession(client, 'arch');
		const own = await startTools(t, args, env);
		// Codex sends the id of the calling thread.
		t.is((await own('atm_send', mail, {threadId: 'thread-1'})).structured.from, 'arch');
		t.is(team.inbox('dev-1')[0].from, 'arch');
		const names = {identity: 'arch', codex_id: codexId, thread_id: 'thread-1'};
		t.like(at.audit().at(-1), {event_type: 'atm_send', ...names});
		const {[VARIABLE]: token = '', ...others} = env;
		for (const wrong of [undefined, 'x', `${token}x`, token.slice(0, -1), `${codexId}.`]) {
			const call = await startTools(t, args, {...others, [VARIABLE]: wrong});
			t.is((await call('atm_send', mail)).code, wrong === undefined ? -32001 : -32003, String(wrong));
			t.truthy((await call('atm_read')).code, 'other identities cannot read its mail');
		}
		t.is(team.inbox('dev-1').length, 1);
		await client.close(codexId);
		t.is((await own('atm_send', mail)).code, -32003, 'the session is closed');
		await client.codex({prompt: 'say:X', codex_id: codexId});
		t.is((await own('atm_send', mail)).structured.from, 'arch', 'after resume, the same tools work again');
		client.running.child.kill('SIGKILL');
		await client.running.exited;
		t.is((await own('atm_send', mail)).code, -32003, 'the process of the session exited');
		t.is(team.inbox('dev-1').length, 2);
	});

test('audits a Codex session that claims another identity under its own, with codex_id and thread_id [SEC-ATM-TOOLS] [FR-9.1] [S-D5]', async t => {
	const {client, team, at} = await openCrew(t);
	const [{env, codexId}, other] = [await startSession(client, 'spoofer'), await startSession(client, 'arch')];
	const thread = (await client.threads()).find(({identity}) => identity === 'spoofer')?.thread_id;
	const registry = join(at.base, '.config/atm/codex-sessions/crew/registry.json');
	await until(() => readFileSync(registry, 'utf8').includes(String(thread)));
	for (const [identity, variables] of [
		['arch', env],
		['team-lead', env],
		['dev-2', env],
	] as const) {
		const call = await startTools(t, argsFor(identity), variables);
		t.is((await call('atm_send', mail)).code, -32001);
		const line = refusalIn(at);
		t.like(line, {identity: 'spoofer', codex_id: codexId, details: {claimed_identity: identity}});
	}
	const own = await startTools(t, argsFor('spoofer'), env);
	t.is((await own('atm_send', {...mail, identity: 'arch'}, {threadId: String(thread)})).code, -32001);
	t.like(refusalIn(at), {
		identity: 'spoofer',
		codex_id: codexId,
		thread_id: thread,
		details: {claimed_identity: 'arch'},
	});
	const {[VARIABLE]: _token, ...without} = env;
	const unproven = await startTools(t, argsFor('arch'), without);
	t.is((await unproven('atm_send', mail, {threadId: String(thread)})).code, -32001);
	t.like(refusalIn(at), {identity: 'spoofer', codex_id: codexId, details: {claimed_identity: 'arch'}});
	await unproven('atm_send', mail);
	t.like(refusalIn(at), {identity: undefined, codex_id: undefined, details: {claimed_identity: 'arch'}});
	// The tools of bridge serve itself audit in the same way.
	const spoof = {...mail, identity: 'arch'};
	t.is((await client.call('atm_send', {...spoof, codex_id: codexId}).result).error.code, -32001);
	t.like(refusalIn(at), {identity: 'spoofer', codex_id: codexId, details: {claimed_identity: 'arch'}});
	t.is((await client.call('atm_send', spoof, {threadId: thread}).result).error.code, -32001);
	t.like(refusalIn(at), {
		identity: 'spoofer',
		codex_id: codexId,
		thread_id: thread,
		details: {claimed_identity: 'arch'},
	});
	t.is((await client.call('atm_send', {...mail, identity: 'team-lead'}).result).error.code, -32001);
	t.like(refusalIn(at), {identity: undefined, details: {claimed_identity: 'team-lead'}});
	t.throws(() => team.inbox('dev-1'), undefined, 'nothing was sent');
	t.truthy(other.codexId);
});

test('rejects mail tools without a token for the identity of a lead, a Claude teammate or a live Codex session, in any team [SEC-ATM-TOOLS] [S-D6]', async t => {
	const {client, team, at} = await openCrew(t);
	await startSession(client, 'arch');
	const roster = team.config();
	roster.members[2].backendType = 'in-process';
	writeFileSync(team.roster, JSON.stringify(roster));
	teamOf(t, {home: at.base, team: 'others', names: ['guest']});
	const env = {ATM_HOME: at.base};
	for (const [identity, from, to] of [
		...['team-lead', 'Team-Lead', 'dev-2', 'arch', 'ARCH'].map(name => [name, 'crew', 'dev-1'] as const),
		...['team-lead', 'arch'].map(name => [name, 'others', 'dev-1@crew'] as const),
		['team-lead', 'none', 'dev-1@crew'] as const,
	]) {
		const call = await startTools(t, argsFor(identity, from), env);
		t.is((await call('atm_send', {...mail, to})).code, -32001, `${identity} of ${from}`);
		t.is((await call('atm_broadcast', {message: 'x', team: 'crew'})).code, -32001);
		t.is((await call('atm_broadcast', {message: 'x', team: 'crew', to: `x@${from}`})).code, -32007);
	}
	t.throws(() => team.inbox('dev-1'), undefined, 'nothing was sent');
	const free = await startTools(t, argsFor('dev-1'), env);
	t.is((await free('atm_send', {...mail, to: 'team-lead'})).structured.from, 'dev-1');
	// Forged lock files are not sufficient: the roster names the process of the session.
	const home = join(at.base, 'fake');
	mkdirSync(join(home, '.config/atm/codex-sessions/crew'), {recursive: true});
	const lock = readFileSync(join(at.base, '.config/atm/codex-sessions/crew/arch.lock'), 'utf8');
	const real = JSON.parse(lock);
	const forged = {
		...real,
		pid: process.pid,
		process: ownProcessIdentity(),
		token: hashSessionToken('codex:x.y'),
	};
	const fake = {HOME: home, CLAUDE_CONFIG_DIR: team.claude, [VARIABLE]: 'codex:x.y'};
	for (const name of ['arch', 'Arch']) {
		writeFileSync(join(home, `.config/atm/codex-sessions/crew/${name}.lock`), JSON.stringify(forged));
		t.truthy((await (await startTools(t, argsFor(name), fake))('atm_send', mail)).code, name);
		rmSync(join(home, `.config/atm/codex-sessions/crew/${name}.lock`));
	}
});

test('verifies the token by its hash in the roster when persist_threads is false [SEC-ATM-TOOLS]', async t => {
	const at = await place(t, 'mcp-server');
	teamOf(t, {home: at.base});
	at.configure('[plugins.codex-mcp]\npersist_threads = false\nauto_mail = false\n');
	const client = await startServe(t, at, '--team', 'crew');
	const {args, env, codexId} = await startSession(client, 'arch');
	const own = await startTools(t, args, env);
	t.is((await own('atm_send', mail)).structured.from, 'arch');
	t.like(at.audit().at(-1), {identity: 'arch', codex_id: codexId});
	const {[VARIABLE]: _token, ...without} = env;
	t.is((await (await startTools(t, args, without))('atm_send', mail)).code, -32001);
	await client.close(codexId);
	t.is((await own('atm_send', mail)).code, -32003);
});

test('writes the token of a Codex session to no file and no log of any level [SEC-ATM-TOOLS] [S-D10]', async t => {
	const at = await place(t, 'mcp-server');
	teamOf(t, {home: at.base});
	const logs = join(at.base, 'logs');
	mkdirSync(logs);
	const client = await startServe(
		t,
		at,
		'--team',
		'crew',
		'--debug',
		'--log-level',
		'trace',
		'--log',
		`@${logs}`,
	);
	const result = await client.codex({
		prompt: 'say:X',
		identity: 'arch',
		config: {model_reasoning_effort: 'low'},
	});
	t.false(result.isError, result.text);
	const lock = join(at.base, '.config/atm/codex-sessions/crew/arch.lock');
	t.is(statSync(lock).mode & 0o777, 0o600);
	const {token: hash} = JSON.parse(readFileSync(lock, 'utf8'));
	t.regex(hash, /^[0-9a-f]{64}$/);
	client.running.stdin.end();
	await client.running.exited;
	const texts = readdirSync(at.base, {recursive: true, withFileTypes: true})
		.filter(item => item.isFile())
		.map(item => readFileSync(join(item.parentPath, item.name), 'utf8'));
	const logged = texts.filter(text => text.includes(VARIABLE));
	t.true(logged.length > 0, 'the traffic log contains the call');
	t.true(client.running.stderr.includes(VARIABLE), 'the log contains it at trace');
	const shape = /codex:[0-9a-f-]{36}\.[\w-]{43}/;
	for (const text of [...texts, client.running.stderr]) t.notRegex(text, shape);
	for (const text of logged) t.regex(text, /BRIDGE_SESSION_TOKEN\\?":\\?"\[redacted\]/);
});
