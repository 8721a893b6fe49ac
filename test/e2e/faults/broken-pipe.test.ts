import {type ChildProcess, spawn} from 'node:child_process';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {bridgeBin, server} from '../../helpers/bridge.js';
import {newFolder, newMarker, processesWith, until} from '../../helpers/program.js';

const BUG = /This is a bug|EPIPE|\n {4}at /;
const quoted = (words: readonly string[]): string => words.map(word => `'${word}'`).join(' ');
const bridge = (...args: string[]): string => quoted([process.execPath, bridgeBin, ...args]);
const call = (id: number): string =>
	`{"jsonrpc":"2.0","id":${id},"method":"big","params":{"bytes":100000}}\n`;

type Shell = {
	readonly child: ChildProcess;
	/** Resolves with all output when the shell has exited. */
	readonly exited: Promise<{stdout: string; stderr: string}>;
};

function shell(t: ExecutionContext, script: string): Shell {
	const child = spawn('sh', ['-c', script], {stdio: 'pipe'});
	t.teardown(() => child.kill('SIGKILL'));
	const texts = {stdout: '', stderr: ''};
	for (const name of ['stdout', 'stderr'] as const)
		child[name].setEncoding('utf8').on('data', (text: string) => {
			texts[name] += text;
		});
	child.stdin.on('error', () => {});
	return {child, exited: new Promise(resolve => child.once('close', () => resolve(texts)))};
}

/** Wraps a command so that its exit code is written to a file. */
const withCode = (command: string, file: string): string => `{ ${command}; echo $? > '${file}'; }`;

test.serial(
	'`bridge -- server | head -1` exits with 0 after one line when stdin is at its end [L4]',
	async t => {
		const [marker, folder] = [newMarker(t), await newFolder(t)];
		const file = join(folder, 'code');
		const {child, exited} = shell(
			t,
			`${withCode(bridge('--', ...server('puppet', marker)), file)} | head -1 | cut -c 1-30`,
		);
		child.stdin?.end(call(1) + call(2) + call(3));
		const {stdout, stderr} = await exited;
		t.is(stdout, '{"jsonrpc":"2.0","id":1,"resul\n');
		t.notRegex(stderr, BUG);
		await until(() => processesWith(marker).length === 0);
		t.is((await readFile(file, 'utf8')).trim(), '0');
	},
);

test.serial('`bridge -- server | head -1` exits with 0 although its stdin stays open [L4]', async t => {
	const [marker, folder] = [newMarker(t), await newFolder(t)];
	const file = join(folder, 'code');
	const {child, exited} = shell(
		t,
		`${withCode(bridge('--', ...server('puppet', '--ignore-eof', marker)), file)} | head -1 | cut -c 1-30`,
	);
	for (let id = 1; id < 20; id++) child.stdin?.write(call(id));
	const {stdout, stderr} = await exited;
	t.is(stdout, '{"jsonrpc":"2.0","id":1,"resul\n');
	t.notRegex(stderr, BUG);
	t.is((await readFile(file, 'utf8')).trim(), '0');
	await until(() => processesWith(marker).length === 0);
});

test.serial('stops a flooding server behind `bridge | head -1` [L4]', async t => {
	t.timeout(20_000);
	const [marker, folder] = [newMarker(t), await newFolder(t)];
	const file = join(folder, 'code');
	const command = bridge('--', ...server('flood', String(2 ** 40), '1000', marker));
	const {exited} = shell(t, `${withCode(command, file)} | head -1`);
	const {stdout, stderr} = await exited;
	t.regex(stdout, /^\{"jsonrpc":"2\.0","method":"notifications\/message".*\}\n$/);
	t.notRegex(stderr, BUG);
	t.is((await readFile(file, 'utf8')).trim(), '0');
	await until(() => processesWith(marker).length === 0);
});

test.serial('the filter exits with 0 on endless input piped to `head -1` [L4]', async t => {
	const file = join(await newFolder(t), 'code');
	const message = '{"jsonrpc":"2.0","method":"x"}';
	const {exited} = shell(t, `yes '${message}' | ${withCode(bridge(), file)} | head -1`);
	const {stdout, stderr} = await exited;
	t.is(stdout, `${message}\n`);
	t.notRegex(stderr, BUG);
	t.is((await readFile(file, 'utf8')).trim(), '0');
});

test.serial('the filter exits with 0 when its output is closed from the start [L4]', async t => {
	const file = join(await newFolder(t), 'code');
	const {exited} = shell(t, `yes '{"jsonrpc":"2.0","method":"x"}' | ${withCode(bridge(), file)} | true`);
	const {stderr} = await exited;
	t.notRegex(stderr, BUG);
	t.is((await readFile(file, 'utf8')).trim(), '0');
});

test.serial('completes the traffic log when stdout of bridge is closed [L4]', async t => {
	const folder = await newFolder(t);
	const log = join(folder, 'traffic.ndjson');
	const {child, exited} = shell(
		t,
		`${bridge('--log', log, '--', ...server('puppet'))} | head -1 | cut -c 1-10`,
	);
	for (let id = 1; id < 5; id++) child.stdin?.write(call(id));
	await exited;
	const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
	t.regex(lines[0] ?? '', /"event":"open"/);
	t.regex(lines.at(-1) ?? '', /"event":"close"/);
});
