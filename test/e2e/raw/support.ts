import {readdirSync, readFileSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {type Message, type Running, type StartOptions, startBridge} from '../../helpers/bridge.js';
import {parseNdjson} from '../../helpers/ndjson.js';
import {type Peer, startEcho} from './tcp.js';

/** One line of a log, as far as it is the same for all kinds. */
export type Line = {
	readonly time: string;
	readonly ConnID?: string;
	readonly event?: string;
	readonly data?: string;
	readonly from?: string;
	readonly to?: string;
	readonly [key: string]: unknown;
};

export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

const PERCENT = 0x25;
const HEX = '0123456789ABCDEF';

/** The bytes that a `data` field stands for. Written anew here, so that it is no echo of what it judges. */
export function bytesOf(data: string): Buffer {
	const text = Buffer.from(data, 'latin1');
	let length = 0;
	for (let at = 0; at < text.length; at++) {
		let byte = text[at] ?? 0;
		if (byte === PERCENT) {
			const [high, low] = [HEX.indexOf(data.charAt(at + 1)), HEX.indexOf(data.charAt(at + 2))];
			if (high < 0 || low < 0) throw new Error(`This is no escape: ${data.slice(at, at + 3)}`);
			byte = 16 * high + low;
			at += 2;
		}
		text[length++] = byte;
	}
	return text.subarray(0, length);
}

/** What went one way over a connection, as its log tells. */
export const bytesFrom = (lines: readonly Line[], from: string | undefined): Buffer =>
	Buffer.concat(lines.filter(line => line.from === from).map(({data = ''}) => bytesOf(data)));

/** The text of all files in a folder, in the order of their names. */
export function textIn(folder: string): string {
	try {
		const files = readdirSync(folder).sort();
		return files.map(file => readFileSync(join(folder, file), 'latin1')).join('');
	} catch {
		// There is none yet.
		return '';
	}
}

/** The lines of all files in a folder. Each has to be whole, or this fails. */
export const linesIn = (folder: string): Line[] => parsed(textIn(folder));

export const parsed = (text: string): Line[] => parseNdjson(text);

/** A `bridge raw` that runs, with the ports that it listens on in the order of its rules. */
export class Raw {
	readonly running: Running;
	readonly ports: readonly number[];

	constructor(running: Running, ports: readonly number[]) {
		this.running = running;
		this.ports = ports;
	}

	/** The port of the first rule. */
	get port(): number {
		return this.ports[0] ?? 0;
	}

	/** All that stands on stdout so far. */
	get lines(): Line[] {
		return this.running.lines.map(line => JSON.parse(line) as Line);
	}

	/** The first line on stdout that fits, be it there already or yet to come. */
	async line(fits: (line: Line) => boolean): Promise<Line> {
		return (await this.running.message(message => fits(message as unknown as Line))) as unknown as Line;
	}

	/**
	 * The lines on stdout about the connection of this client to that port, once it is closed. To another port, there may
	 * have been one from the same address before.
	 */
	async connection(client: string, port = this.port): Promise<Line[]> {
		const {ConnID} = await this.line(
			({event, from, listen_port}) => event === 'open' && from === client && listen_port === port,
		);
		await this.line(line => line.event === 'close' && line.ConnID === ConnID);
		return this.lines.filter(line => line.ConnID === ConnID);
	}

	/** Where the control server is. */
	get endpoint(): string {
		return String(this.lines.find(({event}) => event === 'mcp-ready')?.endpoint);
	}

	/** Asks it to end, and resolves to its exit code. */
	async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
		this.running.child.kill(signal);
		return (await this.running.exited).code;
	}
}

/** The ports that bridge says it listens on, by now. */
function portsSaid({stderr}: Running): number[] {
	return [...stderr.matchAll(/^\{.*"event":"raw\.listening".*\}$/gm)].map(([line]) =>
		Number((JSON.parse(line) as Message).listen_port),
	);
}

const isRule = (word: string): boolean => /^[^-@].*:.*:/.test(word);

/** Waits until all that the words ask for is there. */
async function ready(running: Running, args: readonly string[]): Promise<Raw> {
	const rules = args.filter(isRule).length;
	if (args.includes('--mcp-port')) await running.hasLines(1);
	if (rules > 0) await running.says(new RegExp(`(?:"event":"raw\\.listening"[^]*){${rules}}\\n`));
	return new Raw(running, portsSaid(running));
}

/** Starts `bridge raw ARGS` for no longer than the test lasts, and waits until it listens. */
export async function startRaw(
	t: ExecutionContext,
	args: readonly string[],
	options?: StartOptions,
): Promise<Raw> {
	const running = startBridge(['raw', ...args], options);
	t.teardown(() => running.child.kill('SIGKILL'));
	return ready(running, args);
}

/** What the tests of a file have in common. */
export type Shared = Raw & {readonly echo: Peer; readonly folder: string};

/** One `bridge raw` for all tests of a file, in front of a server that gives back what it gets. */
export function shareRaw(argsFor: (echo: number, folder: string) => readonly string[]): () => Shared {
	let folder: string | undefined;
	let echo: Peer | undefined;
	let running: Running | undefined;
	let shared: Shared | undefined;
	test.serial.before(async () => {
		folder = await mkdtemp(join(tmpdir(), 'bridge-test-'));
		echo = await startEcho();
		const args = argsFor(echo.port, folder);
		running = startBridge(['raw', ...args]);
		shared = Object.assign(await ready(running, args), {echo, folder});
	});
	test.after.always(async () => {
		running?.child.kill('SIGKILL');
		echo?.close();
		if (folder !== undefined) await rm(folder, {recursive: true, force: true});
	});
	return () => {
		if (!shared) throw new Error('It is started before the first test.');
		return shared;
	};
}

/** Texts in an order that does not depend on where they come from. */
export const sorted = (texts: Iterable<string>): string[] => [...texts].sort((a, b) => (a < b ? -1 : 1));
