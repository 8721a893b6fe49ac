import {readdirSync, readFileSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {type Message, type Running, type StartOptions, startBridge} from '../../helpers/bridge.js';
import {parseNdjson} from '../../helpers/ndjson.js';
import {type Peer, startEcho} from './tcp.js';

/** A line of a log, with the fields that tests read. */
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

/** Decodes a `data` field. Independent of the implementation in lib, so that it can verify it. */
export function bytesOf(data: string): Buffer {
	const text = Buffer.from(data, 'latin1');
	let length = 0;
	for (let at = 0; at < text.length; at++) {
		let byte = text[at] ?? 0;
		if (byte === PERCENT) {
			const [high, low] = [HEX.indexOf(data.charAt(at + 1)), HEX.indexOf(data.charAt(at + 2))];
			if (high < 0 || low < 0) throw new Error(`Not an escape: ${data.slice(at, at + 3)}`);
			byte = 16 * high + low;
			at += 2;
		}
		text[length++] = byte;
	}
	return text.subarray(0, length);
}

/** The bytes that one side sent, according to the log. */
export const bytesFrom = (lines: readonly Line[], from: string | undefined): Buffer =>
	Buffer.concat(lines.filter(line => line.from === from).map(({data = ''}) => bytesOf(data)));

/** The text of all files in a folder, by name. */
export function textIn(folder: string): string {
	try {
		const files = readdirSync(folder).sort();
		return files.map(file => readFileSync(join(folder, file), 'latin1')).join('');
	} catch {
		// The folder does not exist yet.
		return '';
	}
}

/** The lines of all files in a folder. Throws if a line is truncated. */
export const linesIn = (folder: string): Line[] => parsed(textIn(folder));

export const parsed = (text: string): Line[] => parseNdjson(text);

/** A running `bridge raw` and the ports of its rules, in order. */
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

	/** The lines on stdout so far. */
	get lines(): Line[] {
		return this.running.lines.map(line => JSON.parse(line) as Line);
	}

	/** Waits for the first line on stdout that matches, including earlier ones. */
	async line(matches: (line: Line) => boolean): Promise<Line> {
		return (await this.running.message(message => matches(message as unknown as Line))) as unknown as Line;
	}

	/**
	 * Waits until the connection from `client` is closed and returns its lines on stdout. The port is part of the
	 * key, since a client address can be reused for connections to different ports.
	 */
	async connection(client: string, port = this.port): Promise<Line[]> {
		const {ConnID} = await this.line(
			({event, from, listen_port}) => event === 'open' && from === client && listen_port === port,
		);
		await this.line(line => line.event === 'close' && line.ConnID === ConnID);
		return this.lines.filter(line => line.ConnID === ConnID);
	}

	/** The URL of the control server. */
	get endpoint(): string {
		return String(this.lines.find(({event}) => event === 'mcp-ready')?.endpoint);
	}

	/** Sends a signal, waits for the exit and returns the exit code. */
	async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
		this.running.child.kill(signal);
		return (await this.running.exited).code;
	}
}

/** The ports of all raw.listening events so far. */
function listeningPorts({stderr}: Running): number[] {
	return [...stderr.matchAll(/^\{.*"event":"raw\.listening".*\}$/gm)].map(([line]) =>
		Number((JSON.parse(line) as Message).listen_port),
	);
}

const isRule = (arg: string): boolean => /^[^-@].*:.*:/.test(arg);

/** Waits until all rules of the arguments listen, and the control server if there is one. */
async function ready(running: Running, args: readonly string[]): Promise<Raw> {
	const rules = args.filter(isRule).length;
	if (args.includes('--mcp-port')) await running.hasLines(1);
	if (rules > 0) await running.says(new RegExp(`(?:"event":"raw\\.listening"[^]*){${rules}}\\n`));
	return new Raw(running, listeningPorts(running));
}

/** Starts `bridge raw ARGS`, waits until it listens and kills it after the test. */
export async function startRaw(
	t: ExecutionContext,
	args: readonly string[],
	options?: StartOptions,
): Promise<Raw> {
	const running = startBridge(['raw', ...args], options);
	t.teardown(() => running.child.kill('SIGKILL'));
	return ready(running, args);
}

export type Shared = Raw & {readonly echo: Peer; readonly folder: string};

/** Starts one `bridge raw` in front of an echo for all tests of a file. */
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
		if (!shared) throw new Error('The shared bridge is only available in tests.');
		return shared;
	};
}

/** Sorts by UTF-16 code units. */
export const sorted = (texts: Iterable<string>): string[] => [...texts].sort((a, b) => (a < b ? -1 : 1));
