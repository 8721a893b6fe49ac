import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmdirSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import type {ExecutionContext} from 'ava';
import type {Running} from '../helpers/bridge.js';
import {stdinMessages} from '../helpers/ndjson.js';

/** Runs a program, and throws with its stderr if it fails. */
export function run(command: string, ...args: string[]): string {
	const {status, stdout, stderr, error} = spawnSync(command, args, {encoding: 'utf8'});
	if (error) throw new Error(`${command} could not be run: ${error.message}`);
	if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`);
	return stdout.trim();
}

/** Fails the test when a required tool is missing, since it would prove nothing without it. */
export function need(tool: string, debianPackage = tool): void {
	const {error} = spawnSync(tool, ['--version'], {stdio: 'ignore'});
	if (error) throw new Error(`${tool} is missing. Install it first: apt-get install ${debianPackage}`);
}

/** Mounts a small tmpfs for a test. Requires root. */
export function smallDisk(
	t: ExecutionContext,
	size: string,
): {folder: string; remount(options: string): void} {
	if (process.getuid?.() !== 0) throw new Error('This test mounts a small disk, which requires root.');
	need('mount', 'mount');
	const folder = mkdtempSync(join(tmpdir(), 'bridge-disk-'));
	t.teardown(() => rmdirSync(folder));
	run('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder);
	t.teardown(() => run('umount', '-l', folder));
	return {folder, remount: options => void run('mount', '-o', `remount,${options}`, folder)};
}

const program = `const pending = [];
	const reply = (id, result) => process.stdout.write(JSON.stringify({jsonrpc: '2.0', id, result}) + '\\n');
	${stdinMessages}.on('data', ({id, method, params}) => {
		if (method === 'initialize') reply(id, {...params, serverInfo: {name: 'echo', version: '1'}});
		else if (method === 'hold') pending.push(id);
		else if (method === 'release') for (const each of pending.splice(0)) reply(each, {});
		else if (id !== undefined) reply(id, params ?? {});
	});`;

/** A server that echoes parameters. It delays responses to `hold` until it receives `release`. */
export const echoServer: readonly string[] = [process.execPath, '-e', program];

const payload = {text: 'x'.repeat(4000)};

/** The number of messages of the handshake in a log. */
export const HANDSHAKE = 3;

/** Sends `count` requests of about 4 kB, and resolves when each has its response. */
export async function chat(bridge: Running, first: number, count: number): Promise<void> {
	sendRequests(bridge, first, count);
	for (let id = first; id < first + count; id++) await bridge.answer(id);
}

/** Sends the requests without waiting for responses. */
export function sendRequests(bridge: Running, first: number, count: number): void {
	for (let id = first; id < first + count; id++) bridge.send({id, method: 'echo', params: payload});
}

export const countOf = ({stderr}: Running, pattern: RegExp): number =>
	stderr.match(new RegExp(pattern, 'g'))?.length ?? 0;

export const FAILS = /The traffic log cannot be written/;
export const WORKS = /The traffic log is being written again/;
