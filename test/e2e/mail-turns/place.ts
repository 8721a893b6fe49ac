import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {ExecutionContext} from 'ava';
import {MailInbox} from '../../../lib/serve/mail/inbox.js';
import type {JsonObject} from '../../../lib/util/json.js';
import type {FakeKind} from '../../helpers/fake-codex.js';
import {readNdjson} from '../../helpers/ndjson.js';
import {type Place, place, type ServeClient} from '../serve/support.js';
import {type Delivered, openLetters} from './support.js';

/** A place with a team in it, whose members write mail. */
export type MailPlace = Place & {
	/** Writes mail, as one of the team does. Returns when it is in the inbox. */
	post(to: string, text: string, more?: JsonObject): Promise<void>;
	inboxPath(agent: string): string;
	inbox(agent: string): JsonObject[];
	/** What is remembered of an agent's mail. */
	mailRecord(agent: string): JsonObject;
	/** What models were asked so far, and by which process. */
	record(): Array<{readonly pid: number; readonly prompt: string}>;
	prompts(): string[];
	/** The messages that were in them, turn by turn. */
	deliveries(): Delivered[][];
};

const TEAM = 'default';
let count = 0;

/** Makes such a place. `toml` are keys of the plugin's table; there is mail every 100 ms unless they say otherwise. */
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
		deliveries: () => prompts().filter(isMail).map(openLetters),
	};
}

// biome-ignore lint/suspicious/noExplicitAny: whatever stands there.
const jsonIn = (path: string): any => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined);

/** Whether a prompt brings mail. */
export const isMail = (prompt: string): boolean => /^\d+ messages? ha(?:s|ve) arrived for you/m.test(prompt);

/** Waits until something is so. */
export async function until(isSo: () => unknown): Promise<void> {
	for (let tries = 0; !(await isSo()); tries++) {
		if (tries > 6000) throw new Error('It never was so.');
		await sleep(10);
	}
}

/** The figures of mail, as `codex_status` tells them. */
export const mailFigures = async (client: ServeClient): Promise<JsonObject> =>
	(await client.status()).mail as JsonObject;

/** The bodies of messages, turn by turn. */
export const bodies = (deliveries: readonly Delivered[][]): string[][] =>
	deliveries.map(letters => letters.map(({body}) => body));
