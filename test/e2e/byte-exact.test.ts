import {spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import test, {type ExecutionContext} from 'ava';
import fc from 'fast-check';
import type {Framing} from '../../lib/wire/framing.js';
import {bridgeBin, opening, server, welcome} from '../helpers/bridge.js';
import {blank, jsonText, stringText} from '../wire/arbitraries.js';

const COUNT = 10_000;
const seed = Date.now() % 2 ** 31;

/** The random parts of a message, without its kind and id. */
const parts = fc.record({
	gap: blank,
	value: jsonText(blank),
	word: stringText,
	rotation: fc.nat({max: 3}),
	size: fc.oneof(
		{arbitrary: fc.constant(0), weight: 85},
		{arbitrary: fc.nat({max: 4000}), weight: 12},
		{arbitrary: fc.nat({max: 120_000}), weight: 3},
	),
	dice: fc.nat({max: 99}),
});
type Parts = typeof parts extends fc.Arbitrary<infer T> ? T : never;

/** Distinct ids of many JSON spellings. */
const idOf = (index: number): string => {
	const spellings = [
		`${index}`,
		`-${index}`,
		`${index}.50`,
		`${index}${'0'.repeat(20)}`,
		`"${index}"`,
		`"\\u00e9 ${index}"`,
	];
	return spellings[index % spellings.length] ?? '0';
};

/** One message as a line without a line end. One in 2500 is longer than 1 MiB. */
function serialize(
	{gap, value, word, rotation, size}: Parts,
	index: number,
	members: readonly string[],
): string {
	const inside = word.length > 2 ? word.slice(1, -1) : 'x';
	const length = index % 2500 === 2000 ? 2 ** 20 : size;
	const padding = length === 0 ? [] : [`"padding":"${inside.repeat(Math.ceil(length / inside.length))}"`];
	const all = [
		'"jsonrpc":"2.0"',
		...members.map(member => member.replace(/:@$/, () => `:${value}`)),
		...padding,
	];
	const rotated = [...all.slice(rotation), ...all.slice(0, rotation)];
	// The first line always begins with a space, which is easily lost at the start of a stream.
	const lead = index === 0 ? ' ' : gap;
	return `${lead}{${gap}${rotated.join(`${gap},${gap}`)}${gap}}${gap}`;
}

const responseTo = (id: string, {dice}: Parts): string[] => [
	`"id":${id}`,
	dice % 5 === 0 ? '"error":@' : '"result":@',
];

/** The members of a request, or of a notification if `id` is undefined. */
const callOf = ({word}: Parts, id: string | undefined): string[] => [
	...(id === undefined ? [] : [`"id" : ${id}`]),
	`"method":${word}`,
	'"params":@',
];

/** A message of the client. Ids of requests are added to `pending`. */
function fromClient(parts: Parts, index: number, pending: string[]): string {
	const isCall = parts.dice < 40 && index < COUNT * 0.7;
	if (isCall) pending.push(idOf(index));
	const isResponse = !isCall && parts.dice > 70;
	return serialize(
		parts,
		index,
		isResponse ? responseTo(idOf(index), parts) : callOf(parts, isCall ? idOf(index) : undefined),
	);
}

/** A message of the server: a response to one of `pending`, a request or a notification. Responds to all in time. */
function fromServer(parts: Parts, index: number, pending: string[]): string {
	const isResponse = parts.dice < 60 || COUNT - index <= pending.length;
	const [id] = isResponse ? pending.splice(parts.rotation % (pending.length || 1), 1) : [];
	if (id !== undefined) return serialize(parts, index, responseTo(id, parts));
	return serialize(parts, index, callOf(parts, parts.dice > 80 ? `"s${index}"` : undefined));
}

/** The messages of both sides. The n-th line of the server may respond to the first n lines of the client. */
function generateMessages(): {toServer: string[]; toClient: string[]} {
	const samples = fc.sample(parts, {numRuns: COUNT * 2, seed});
	const pending: string[] = [];
	const toServer = samples
		.slice(0, COUNT)
		.map((sample, index) => ({line: fromClient(sample, index, pending), pending: pending.splice(0)}));
	const open: string[] = [];
	const toClient = samples.slice(COUNT).map((sample, index) => {
		open.push(...(toServer[index]?.pending ?? []));
		return fromServer(sample, index, open);
	});
	return {toServer: toServer.map(({line}) => line), toClient};
}

/** The preceding handshake with unusual whitespace, and a notification of the server after it. */
const initialize = ` { "jsonrpc":"2.0" , "params": ${JSON.stringify(opening)},"id":"first","method":"initialize"\t}`;
const welcomeLine = ` {\t"id" : "first", ${welcome.slice(1)} `.replace('"id":"first",', '');
const initialized = '{"method":"notifications/initialized" ,"jsonrpc":"2.0"} ';
const notification = ' {"jsonrpc":"2.0","method":"notifications/message","params":{"n":1.0}}';

const {toServer, toClient} = generateMessages();
toServer.unshift(initialize, initialized);
toClient.unshift(welcomeLine, notification);
const TOTAL = COUNT + 2;

const sha256 = (lines: readonly string[]): string => {
	const hash = createHash('sha256');
	for (const line of lines) hash.update(`${line}\n`);
	return hash.digest('hex');
};

/** Splits bytes at random positions, also inside characters, headers and line ends. */
function* cutAtRandom(bytes: Buffer): Generator<Buffer> {
	for (let at = 0; at < bytes.length; ) {
		const size = Math.random() < 0.3 ? 1 + Math.floor(Math.random() * 40) : Math.ceil(Math.random() * 50_000);
		yield bytes.subarray(at, at + size);
		at += size;
	}
}

/** The position of the first message in a buffer, and of the next one after its frame. */
function firstMessage(
	bytes: Buffer,
	framing: Framing,
): {start: number; end: number; next: number} | undefined {
	if (framing === 'lines') {
		const end = bytes.indexOf('\n');
		return end === -1 ? undefined : {start: 0, end, next: end + 1};
	}
	const start = bytes.indexOf('\r\n\r\n') + 4;
	const header = bytes.toString('latin1', 0, Math.max(0, start));
	const end = start + Number(/^Content-Length: (\d+)\r\n\r\n$/.exec(header)?.[1] ?? Number.NaN);
	return start >= 4 && end <= bytes.length ? {start, end, next: end} : undefined;
}

/** Hashes TOTAL messages of a stream. */
async function hashMessages(stream: Readable, framing: Framing): Promise<string> {
	const hash = createHash('sha256');
	let rest: Buffer = Buffer.alloc(0);
	let count = 0;
	for await (const chunk of stream.iterator({destroyOnReturn: false})) {
		rest = Buffer.concat([rest, chunk as Buffer]);
		for (let found = firstMessage(rest, framing); found; found = firstMessage(rest, framing)) {
			hash.update(rest.subarray(found.start, found.end)).update('\n');
			rest = rest.subarray(found.next);
			count++;
		}
		if (count >= TOTAL) break;
	}
	return `${count} messages, ${rest.length} bytes more: ${hash.digest('hex')}`;
}

/** Sends `input`, whose lines are already framed, through bridge and compares the messages of both sides. */
async function compareMessages(
	t: ExecutionContext,
	framing: Framing,
	input: readonly string[],
): Promise<void> {
	const [first = '', ...rest] = input;
	const folder = await mkdtemp(join(tmpdir(), 'bridge-byte-exact-'));
	t.teardown(() => rm(folder, {recursive: true}));
	const script = join(folder, 'to-client');
	await writeFile(script, toClient.map(line => `${line}\n`).join(''));
	const bridge = spawn(
		process.execPath,
		[bridgeBin, '--log-level', 'error', '--', ...server('recorder', script)],
		{stdio: 'pipe'},
	);
	t.teardown(() => bridge.kill('SIGKILL'));
	const closed = once(bridge, 'close');
	let stderr = '';
	bridge.stderr.setEncoding('utf8').on('data', (text: string) => {
		stderr += text;
	});
	const write = (text: string): Promise<void> =>
		pipeline(Readable.from(cutAtRandom(Buffer.from(text))), bridge.stdin, {end: false});
	await write(first);
	// The client waits for the response to its initialize.
	await once(bridge.stdout, 'readable');
	const writing = write(rest.join(''));
	const received = await hashMessages(bridge.stdout, framing);
	await writing;
	bridge.stdout.resume();
	bridge.stdin.end();
	const [code] = await closed;
	t.is(received, `${TOTAL} messages, 0 bytes more: ${sha256(toClient)}`, `to the client, seed ${seed}`);
	t.is(
		stderr,
		`${JSON.stringify({lines: TOTAL, sha256: sha256(toServer)})}\n`,
		`to the server, seed ${seed}`,
	);
	t.is(code, 0);
}

test.serial(
	'forwards 10,000 lines each way byte for byte, although the input is cut at random positions [A13]',
	async t => {
		await compareMessages(
			t,
			'lines',
			toServer.map(line => `${line}\n`),
		);
	},
);

test.serial(
	'forwards 10,000 frames each way byte for byte, although the input is cut at random positions [A13]',
	async t => {
		const frames = toServer.map(body => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
		await compareMessages(t, 'content-length', frames);
	},
);
