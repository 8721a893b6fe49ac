import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {ExecutionContext} from 'ava';
import {MailInbox} from '../../../lib/serve/mail/inbox.js';
import type {JsonObject} from '../../../lib/util/json.js';
import type {FakeKind} from '../../helpers/fake-codex.js';
import {readNdjson} from '../../helpers/ndjson.js';
import {type Place, place, type ServeClient} from '../serve/support.js';
import {type Delivered, parseMailPrompt} from './support.js';

/** A `Place` with a team whose members send mail. */
export type MailPlace = Place & {
	/** Sends mail like a member of the team. Resolves once it is in the inbox. */
	post(to: string, text: string, more?: JsonObject): Promise<void>;
	inboxPath(agent: string): string;
	inbox(agent: string): JsonObject[];
	/** The delivery record of an agent's mail. */
	mailRecord(agent: string): JsonObject;
	/** All prompts so far, with the process that received each. */
	record(): Array<{readonly pid: number; readonly prompt: string}>;
	prompts(): string[];
	/** The messages of the prompts, by turn. */
	deliveries(): Delivered[][];
};

const TEAM = 'default';
let count = 0;

/** Creates a `MailPlace`. `toml` has keys of the plugin table. Mail is polled every 100 ms by default. */
export async function mailPlace(t: ExecutionContext, kind: FakeKind, toml = ''): Promise<MailPlace> {
	const at = await place(t, kind);
	const claude = join(at.base, '.claude');
	const record = join(at.base, 'record.ndjson');
	const folder = join(claude, 'teams', TEAM);
	mkdirSync(join(folder, 'inboxes'), {recursive: true});
	const members = ['team-lead', 'dev-1', 'dev-2'].map(name => ({
		agentId: `${name}@${TEAM}`,
		name,
		agentType: 'general-purpose',
		model: 'm',
		joinedAt: 1,
		cwd: '/repo',
	}));
	const roster = {name: TEAM, createdAt: 1, leadAgentId: `team-lead@${TEAM}`, leadSessionId: 'x', members};
	writeFileSync(join(folder, 'config.json'), JSON.stringify(roster));
	const inboxPath = (agent: string): string => join(folder, 'inboxes', `${agent}.json`);
	const recordPath = (agent: string): string =>
		join(at.base, '.config/atm/codex-sessions', TEAM, agent, 'mail.json');
	const interval = toml.includes('mail_poll_interval_ms') ? '' : 'mail_poll_interval_ms = 100\n';
	at.configure(`[plugins.codex-mcp]\n${interval}${toml}\n`);
	const recorded = (): Array<{pid: number; prompt: string}> => (existsSync(record) ? readNdjson(record) : []);
	const prompts = (): string[] => recorded().map(({prompt}) => prompt);
	return {
		...at,
		env: {...at.env, CODEX_RECORD: record},
		record: recorded,
		prompts,
		async post(to, text, more = {}) {
			const timestamp = new Date().toISOString();
			const message = {from: 'dev-1', text, timestamp, read: false, message_id: `id-${++count}`, ...more};
			await new MailInbox(claude, {agent: to, team: TEAM}).append(message);
		},
		inboxPath,
		inbox: agent => jsonIn(inboxPath(agent)) ?? [],
		mailRecord: agent => jsonIn(recordPath(agent)) ?? {},
		deliveries: () => prompts().filter(isMail).map(parseMailPrompt),
	};
}

// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary members.
const jsonIn = (path: string): any => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined);

/** Whether a prompt delivers mail. */
export const isMail = (prompt: string): boolean => /^\d+ messages? ha(?:s|ve) arrived for you/m.test(prompt);

export async function until(condition: () => unknown): Promise<void> {
	for (let tries = 0; !(await condition()); tries++) {
		if (tries > 6000) throw new Error('The condition was not met within a minute.');
		await sleep(10);
	}
}

/** The mail counters of `codex_status`. */
export const mailFigures = async (client: ServeClient): Promise<JsonObject> =>
	(await client.status()).mail as JsonObject;

/** The bodies of messages, by turn. */
export const bodies = (deliveries: readonly Delivered[][]): string[][] =>
	deliveries.map(messages => messages.map(({body}) => body));
