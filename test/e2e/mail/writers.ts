import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {join} from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import type {ExecutionContext} from 'ava';
import {type JsonObject, listOf, objectOf} from '../../../lib/util/json.js';
import {type Running, startReady} from '../../helpers/bridge.js';
import {teamOf} from './support.js';

const writer = fileURLToPath(new URL('../../../fixtures/mail/writer.js', import.meta.url));
const others = ['claude', 'claude', 'atm-0', 'atm-0', 'atm-1'];
const ours = ['ours-1', 'ours-2', 'ours-3'];

const toolsOf = async (t: ExecutionContext, home: string, identity: string): Promise<Running> => {
	const env = {...process.env, ATM_HOME: home, ATM_AGENT_MCP_INBOX_FORMAT: 'legacy'};
	const running = await startReady(['atm-tools', '--identity', identity, '--team', 'crew'], {env, cwd: home});
	t.teardown(() => running.child.kill('SIGKILL'));
	return running;
};

const callTool = async (running: Running, id: number, name: string, args: JsonObject): Promise<JsonObject> =>
	objectOf((await running.request(id, 'tools/call', {name, arguments: args})).result);

/** Has eight programs write `count` messages each to an inbox while a bridge reads and marks them. */
export async function eightWriters(t: ExecutionContext, count: number): Promise<void> {
	const team = teamOf(t, {names: ['team-lead', 'target', ...ours]});
	team.put('target', []);
	const inbox = team.inboxOf('target');
	// ATM 0.x leaves this lock file behind after its first write.
	const lock = inbox.replace(/\.json$/, '.lock');
	await once(spawn('flock', ['-x', lock, 'true']), 'exit');
	const foreign = others.map(async (kind, at) => {
		const args = [writer, kind, inbox, join(team.home, 'referee'), `${kind}-${at}`, String(count)];
		const child = spawn(process.execPath, args, {stdio: ['ignore', 'ignore', 'inherit']});
		t.teardown(() => child.kill('SIGKILL'));
		const [code] = await once(child, 'exit');
		t.is(code, 0, kind);
	});
	const own = ours.map(async name => {
		const running = await toolsOf(t, team.home, name);
		for (let at = 0; at < count; at++) {
			const {isError, content} = await callTool(running, at, 'atm_send', {
				to: 'target',
				message: `${name} ${at}`,
			});
			t.not(isError, true, JSON.stringify(content));
		}
	});
	let isOver = false;
	const received = new Map<string, number>();
	const reading = async (): Promise<void> => {
		const running = await toolsOf(t, team.home, 'target');
		for (let id = 0; ; id++) {
			const isLast = isOver;
			const {structuredContent} = await callTool(running, id, 'atm_read', {limit: 100});
			const messages = listOf(objectOf(structuredContent).messages).map(objectOf);
			for (const {text} of messages) received.set(String(text), (received.get(String(text)) ?? 0) + 1);
			if (isLast && messages.length === 0) break;
			if (messages.length === 0) await sleep(20);
		}
		await running.end();
	};
	const read = reading();
	await Promise.all([...foreign, ...own]);
	isOver = true;
	await read;
	assertDelivery(t, team.inbox('target'), received, count);
}

function assertDelivery(
	t: ExecutionContext,
	left: ReadonlyArray<{text: string; read: boolean; odd?: {at: number}}>,
	received: ReadonlyMap<string, number>,
	count: number,
): void {
	const names = [...others.map((kind, at) => `${kind}-${at}`), ...ours];
	const expected = names.flatMap(name => Array.from({length: count}, (_, at) => `${name} ${at}`));
	const texts = left.map(({text}) => text);
	t.is(texts.length, expected.length, 'no message is lost or duplicated on disk');
	t.is(new Set(texts).size, expected.length);
	t.deepEqual([...texts].sort(), [...expected].sort());
	t.true(
		left.every(({read}) => read),
		'all are marked read',
	);
	t.deepEqual([...received.keys()].sort(), [...expected].sort(), 'atm_read delivered each message');
	for (const name of names)
		t.deepEqual(
			texts.filter(text => text.startsWith(`${name} `)),
			expected.filter(text => text.startsWith(`${name} `)),
			'the order of a sender is preserved',
		);
	t.true(
		left.every(({odd, text}) => odd === undefined || text.endsWith(` ${odd.at}`)),
		'unknown members are preserved',
	);
}
