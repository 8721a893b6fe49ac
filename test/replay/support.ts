import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import type {ExecutionContext} from 'ava';
import {Recording} from '../../lib/replay/recording.js';
import type {RecordedMessage} from '../../lib/traffic-log/log-contents.js';
import {type Message, type Running, server, startBridge} from '../helpers/bridge.js';
import {readNdjson} from '../helpers/ndjson.js';
import {newFolder} from '../helpers/program.js';

/** A server that sends requests, counts, and returns different results each time. */
export const asking = (...args: string[]): string[] => server('asking', ...args);

/** Uses all features of such a server, then returns. */
export async function talkTo(running: Running): Promise<void> {
	const call = (id: number, name: string, args: Message = {}, meta: Message = {}): Promise<Message> =>
		running.request(id, 'tools/call', {name, arguments: args, ...meta});
	await running.shakeHands();
	await running.request(1, 'tools/list');
	await call(2, 'echo', {message: 'hello'});
	await call(3, 'now');
	await call(4, 'count', {to: 3}, {_meta: {progressToken: 'mine'}});
	await call(5, 'login', {token: 'hunter2'});
	const opened = await call(6, 'open');
	const session = /session ([^"]+)"/.exec(JSON.stringify(opened))?.[1];
	await call(7, 'use', {session});
	const pendingCall = call(8, 'ask');
	const {id} = await running.message(({method}) => method === 'elicitation/create');
	running.send({id, result: {action: 'accept', content: {name: 'Ada'}}});
	await pendingCall;
}

/** The secret that a replay needs, since the log does not contain it. */
export const TOKEN = ['--set', '/params/arguments/token=hunter2'];

/** Records a session with such a server and returns the log. */
export async function recordAsking(t: ExecutionContext, ...flags: string[]): Promise<string> {
	const log = join(await newFolder(t), 'session.ndjson');
	const running = startBridge(['--log', log, ...flags, '--', ...asking()]);
	t.teardown(() => running.child.kill('SIGKILL'));
	await talkTo(running);
	t.is(await running.end(), 0);
	return log;
}

export type Line = Message & {readonly ConnID?: string; readonly message?: Message; readonly from?: string};

export const linesOfLog = (log: string): Line[] => readNdjson(log);

/** A log line with a message. */
export const logLine = (from: string, to: string, message: unknown, rest: Message = {}): string =>
	JSON.stringify({
		time: '2026-11-16T01:02:03.456789Z',
		ConnID: '0Ab3xYz9',
		message,
		from,
		to,
		side: 'client',
		...rest,
	});

/** Opens a log with this content. */
export async function openLog(t: ExecutionContext, content: string | Uint8Array): Promise<Recording> {
	const path = join(await newFolder(t), 'log.ndjson');
	writeFileSync(path, content);
	const recording = await Recording.open(path, [{path, isPipe: false}], undefined);
	t.teardown(() => recording.close());
	return recording;
}

/** A message as it appears in an index. */
export const recorded = (at: number, fields: Partial<RecordedMessage>): RecordedMessage => ({
	index: at,
	time: at * 1000,
	from: 'client',
	kind: 'notification',
	key: undefined,
	method: undefined,
	side: 'client',
	isByBridge: false,
	file: 0,
	start: 0,
	length: 0,
	...fields,
});
