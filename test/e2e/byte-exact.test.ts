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

/** What a message is made of, beside what kind it is and which id it has. */
const parts = fc.record({
	gap: blank,
	value: jsonText(blank),
	word: stringText,
	turn: fc.nat({max: 3}),
	size: fc.oneof(
		{arbitrary: fc.constant(0), weight: 85},
		{arbitrary: fc.nat({max: 4000}), weight: 12},
		{arbitrary: fc.nat({max: 120_000}), weight: 3},
	),
	dice: fc.nat({max: 99}),
});
type Parts = typeof parts extends fc.Arbitrary<infer T> ? T : never;

/** Ids of many spellings, none of which is another's. */
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

/** One message as a line without its end: every so many of them is a megabyte long. */
function spell({gap, value, word, turn, size}: Parts, index: number, members: readonly string[]): string {
	const inside = word.length > 2 ? word.slice(1, -1) : 'x';
	const length = index % 2500 === 2000 ? 2 ** 20 : size;
	const padding = length === 0 ? [] : [`"padding":"${inside.repeat(Math.ceil(length / inside.length))}"`];
	const all = [
		'"jsonrpc":"2.0"',
		...members.map(member => member.replace(/:@$/, () => `:${value}`)),
		...padding,
	];
	const turned = [...all.slice(turn), ...all.slice(0, turn)];
	// The first one always begins with a blank: at the start of a stream those are easily lost.
	const lead = index === 0 ? ' ' : gap;
	return `${lead}{${gap}${turned.join(`${gap},${gap}`)}${gap}}${gap}`;
}

const answerTo = (id: string, {dice}: Parts): string[] => [
	`"id":${id}`,
	dice % 5 === 0 ? '"error":@' : '"result":@',
];

/** A call or a notification. */
const callOf = ({word}: Parts, id: string | undefined): string[] => [
	...(id === undefined ? [] : [`"id" : ${id}`]),
	`"method":${word}`,
	'"params":@',
];

/** What the client says. The ids of its calls are put into `asked`. */
function fromClient(parts: Parts, index: number, asked: string[]): string {
	const isCall = parts.dice < 40 && index < COUNT * 0.7;
	if (isCall) asked.push(idOf(index));
	const isAnswer = !isCall && parts.dice > 70;
	return spell(
		parts,
		index,
		isAnswer ? answerTo(idOf(index), parts) : callOf(parts, isCall ? idOf(index) : undefined),
	);
}

/** What the server says: answers to what was asked so far, all of them before it ends, and things of its own. */
function fromServer(parts: Parts, index: number, asked: string[]): string {
	const isDue = parts.dice < 60 || COUNT - index <= asked.length;
	const [due] = isDue ? asked.splice(parts.turn % (asked.length || 1), 1) : [];
	if (due !== undefined) return spell(parts, index, answerTo(due, parts));
	return spell(parts, index, callOf(parts, parts.dice > 80 ? `"s${index}"` : undefined));
}

/** What two peers say to each other: the n-th message of the server may answer any up to the n-th of the client. */
function conversation(): {toServer: string[]; toClient: string[]} {
	const samples = fc.sample(parts, {numRuns: COUNT * 2, seed});
	const asked: string[] = [];
	const toServer = samples
		.slice(0, COUNT)
		.map((ours, index) => ({line: fromClient(ours, index, asked), asked: asked.splice(0)}));
	const open: string[] = [];
	const toClient = samples.slice(COUNT).map((theirs, index) => {
		open.push(...(toServer[index]?.asked ?? []));
		return fromServer(theirs, index, open);
	});
	return {toServer: toServer.map(({line}) => line), toClient};
}

/** The handshake before it, spelled as oddly; the server says something of its own after it, as it does to each line. */
const initialize = ` { "jsonrpc":"2.0" , "params": ${JSON.stringify(opening)},"id":"first","method":"initialize"\t}`;
const answer = ` {\t"id" : "first", ${welcome.slice(1)} `.replace('"id":"first",', '');
const initialized = '{"method":"notifications/initialized" ,"jsonrpc":"2.0"} ';
const remark = ' {"jsonrpc":"2.0","method":"notifications/message","params":{"n":1.0}}';

const {toServer, toClient} = conversation();
toServer.unshift(initialize, initialized);
toClient.unshift(answer, remark);
const TOTAL = COUNT + 2;

const sha256 = (lines: readonly string[]): string => {
	const hash = createHash('sha256');
	for (const line of lines) hash.update(`${line}\n`);
	return hash.digest('hex');
};

/** A stream cut at random places: inside characters, headers and line ends too. */
function* cutAtRandom(bytes: Buffer): Generator<Buffer> {
	for (let at = 0; at < bytes.length; ) {
		const size = Math.random() < 0.3 ? 1 + Math.floor(Math.random() * 40) : Math.ceil(Math.random() * 50_000);
		yield bytes.subarray(at, at + size);
		at += size;
	}
}

/** Where the first message of some bytes lies, and how many bytes it takes with its frame. */
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

/** Hashes so many messages of a stream. */
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

/** Each message of `input` is in its frame. */
async function converse(t: ExecutionContext, framing: Framing, input: readonly string[]): Promise<void> {
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
	// A client says nothing more before it has the answer.
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
	'ten thousand lines each way after a handshake, cut at random places, arrive byte for byte [A13]',
	async t => {
		await converse(
			t,
			'lines',
			toServer.map(line => `${line}\n`),
		);
	},
);

test.serial(
	'ten thousand frames each way after a handshake, cut at random places, arrive byte for byte [A13]',
	async t => {
		const frames = toServer.map(body => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
		await converse(t, 'content-length', frames);
	},
);
