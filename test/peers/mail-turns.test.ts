import {existsSync, readFileSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {MailInbox} from '../../lib/serve/mail/inbox.js';
import {type JsonObject, objectOf} from '../../lib/util/json.js';
import {teamOf} from '../e2e/mail/support.js';
import {type Delivered, parseMailPrompt} from '../e2e/mail-turns/support.js';
import type {CodexKind} from './codex-clients.js';
import {codexKinds} from './codex-clients.js';
import {callTool, failWith, replyAndHold, replyWith} from './scripted-model.js';
import {RealClient, type ServePlace, servePlace} from './serve-client.js';

/* Mail that starts turns of both real Codex programs, as received by their model. */

type Crew = ServePlace & {
	post(to: string, text: string, more?: JsonObject): Promise<void>;
	inbox(agent: string): JsonObject[];
	/** The messages that the model received, by turn. */
	deliveries(): Delivered[][];
};

let count = 0;

/**
 * Creates a place with a team and a short mail poll interval. `settings` are variables of the
 * configuration.
 */
async function crew(t: ExecutionContext, kind: CodexKind, settings: NodeJS.ProcessEnv = {}): Promise<Crew> {
	const at = await servePlace(t, kind);
	const team = teamOf(t, {home: String(at.env.ATM_HOME)});
	const env = {...at.env, ATM_TEAM: team.team, ATM_AGENT_MCP_MAIL_POLL_INTERVAL_MS: '200', ...settings};
	return {
		...at,
		env,
		async post(to, text, more = {}) {
			const timestamp = new Date().toISOString();
			const record = {from: 'dev-1', text, timestamp, read: false, message_id: `id-${++count}`, ...more};
			await new MailInbox(team.claude, {agent: to, team: team.team}).append(record);
		},
		inbox: agent =>
			existsSync(team.inboxOf(agent)) ? JSON.parse(readFileSync(team.inboxOf(agent), 'utf8')) : [],
		deliveries: () => {
			// A turn with tool calls sends the same prompt again.
			const prompts = at.model
				.prompts()
				.filter(prompt => /^\d+ messages? ha(?:s|ve) arrived for/m.test(prompt));
			return [...new Set(prompts)].map(parseMailPrompt);
		},
	};
}

async function until(condition: () => unknown): Promise<void> {
	for (const started = performance.now(); !(await condition()); await sleep(20))
		if (performance.now() - started > 120_000) throw new Error('The condition was not met within 120 s.');
}

const isRead = (messages: readonly JsonObject[]): boolean => messages.every(({read}) => read === true);

for (const kind of codexKinds) {
	test.serial(
		`${kind}: delivers mail after a turn and while idle, in batches of ten, and marks it as read [FR-8.1] [FR-8.2] [FR-8.3] [FR-8.4] [FR-8.5] [FR-8.6] [FR-17.6]`,
		async t => {
			const at = await crew(t, kind);
			await at.post('a', replyWith('GOT IT'), {message_id: 'the-id', timestamp: '2026-11-17T10:00:00.000Z'});
			await at.post('nobody', 'For whom?');
			const client = await RealClient.start(t, at);
			const {structured} = await client.call('codex', {prompt: replyWith('ONE'), identity: 'a'});
			await until(async () => (await client.threads())[0]?.last_text === 'GOT IT');
			t.like(at.deliveries()[0]?.[0], {
				header: {from: 'dev-1', timestamp: '2026-11-17T10:00:00.000Z', message_id: 'the-id'},
				body: 'say GOT IT',
			});
			await until(() => isRead(at.inbox('a')));
			const stalled = new AbortController();
			const {signal} = stalled;
			const {codex_id: codexId} = structured;
			const running = client.call('codex-reply', {codex_id: codexId, prompt: replyAndHold('X')}, {signal});
			await client.busy('a');
			for (let n = 0; n < 15; n++) await at.post('a', n === 14 ? 'x'.repeat(5000) : `number ${n}`);
			t.false(isRead(at.inbox('a')), 'mail waits while the session is busy [FR-17.6]');
			stalled.abort();
			await t.throwsAsync(running);
			await until(() => at.deliveries().length === 3);
			t.deepEqual(
				at.deliveries().map(({length}) => length),
				[1, 10, 5],
			);
			t.regex(at.deliveries()[2]?.[4]?.cut ?? '', /904 of 5000 characters/);
			await until(() => isRead(at.inbox('a')));
			t.like(at.inbox('nobody')[0], {read: false});
			const {structured: status} = await client.call('codex_status');
			t.like(status.mail, {turns: 3, delivered: 16, redelivered: 0, parked: 0, pending: 0});
		},
	);

	test.serial(
		`${kind}: runs queued client calls before mail, mail before later calls, and leaves mail without auto_mail to atm_read [FR-8.9] [FR-8.10] [FR-8.11] [FR-8.8]`,
		async t => {
			const at = await crew(t, kind);
			const client = await RealClient.start(t, at);
			const {structured} = await client.call('codex', {prompt: replyWith('ONE'), identity: 'a'});
			await client.call('codex', {prompt: replyWith('ONE'), identity: 'b', auto_mail: false});
			await at.post('b', 'for atm_read alone');
			const {codex_id: codexId} = structured;
			const stalled = new AbortController();
			const running = client.call(
				'codex-reply',
				{codex_id: codexId, prompt: replyAndHold('X')},
				{signal: stalled.signal},
			);
			await until(() => at.model.prompts().some(prompt => prompt.endsWith('hold X')));
			await at.post('a', callTool('atm', 'atm_send', {to: 'dev-1', message: 'Got it.'}));
			const queued = client.call('codex-reply', {codex_id: codexId, prompt: replyWith('TWO')});
			stalled.abort();
			await t.throwsAsync(running);
			t.is((await queued).structured.content, 'TWO');
			await until(() => at.deliveries().length === 1);
			const after = await client.call('codex-reply', {codex_id: codexId, prompt: replyWith('THREE')});
			t.is(after.structured.content, 'THREE');
			await until(() => at.inbox('dev-1').length === 1);
			t.like(at.inbox('dev-1')[0], {from: 'a', text: 'Got it.'}, 'the agent replies with its tools');
			const kinds = at.model.prompts().map(prompt => /say (\w+)$/.exec(prompt)?.[1] ?? prompt.slice(0, 4));
			t.deepEqual([...new Set(kinds)], ['ONE', 'hold', 'TWO', '1 me', 'THREE']);
			t.like(at.inbox('b')[0], {read: false});
			t.like((await client.call('codex_status')).structured, {pending_mail_count: 1});
		},
	);

	test.serial(
		`${kind}: redelivers the mail of a turn after kill -9 of bridge [FR-8.12] [FR-8.13]`,
		async t => {
			const at = await crew(t, kind);
			const before = await RealClient.start(t, at);
			const {structured} = await before.call('codex', {prompt: replyWith('ONE'), identity: 'a'});
			await at.post('a', replyAndHold('BEGUN'));
			await until(() => at.deliveries().length === 1 && isRead(at.inbox('a')));
			process.kill(before.pid, 'SIGKILL');
			const client = await RealClient.start(t, at);
			await until(() => at.inbox('a')[0]?.read === false);
			const {codex_id: codexId} = structured;
			const resumed = await client.call('codex', {codex_id: codexId, prompt: replyWith('AGAIN')});
			t.is(resumed.structured.content, 'AGAIN', resumed.text);
			await until(() => at.deliveries().length === 2 && isRead(at.inbox('a')));
			t.deepEqual(at.deliveries()[0], at.deliveries()[1]);
			t.like(objectOf((await client.call('codex_status')).structured.mail), {delivered: 1, redelivered: 1});
		},
	);

	test.serial(
		`${kind}: parks mail after five rejections by the model, and closes on the lead's shutdown_request [H13]`,
		async t => {
			const at = await crew(t, kind, {ATM_AGENT_MCP_MAIL_POLL_INTERVAL_MS: '100'});
			const client = await RealClient.start(t, at);
			await client.call('codex', {prompt: replyWith('ONE'), identity: 'a'});
			await at.post('a', failWith(400));
			const mail = async (): Promise<JsonObject> =>
				objectOf((await client.call('codex_status')).structured.mail);
			await until(async () => (await mail()).parked === 1);
			t.is(at.deliveries().length, 5);
			t.like(at.inbox('a')[0], {read: false});
			await at.post('a', replyWith('FINE'), {from: 'dev-2'});
			await until(async () => (await client.threads())[0]?.last_text === 'FINE');
			const text = JSON.stringify({type: 'shutdown_request', requestId: 'r-1', from: 'team-lead'});
			await at.post('a', text, {from: 'team-lead'});
			await until(async () => (await client.threads())[0]?.status === 'closed');
			await until(() => at.inbox('team-lead').length === 1);
			t.like(JSON.parse(String(at.inbox('team-lead')[0]?.text)), {
				type: 'shutdown_approved',
				requestId: 'r-1',
			});
		},
	);
}
