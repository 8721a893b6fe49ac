import {execFileSync, spawn} from 'node:child_process';
import {
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	statSync,
	symlinkSync,
	unlinkSync,
	writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {
	bridgeBin,
	handshake,
	type Running,
	runBridge,
	server,
	startBridge,
	startReady,
} from '../../helpers/bridge.js';
import {until} from '../../helpers/program.js';
import {tempFolder} from '../../helpers/temp-folder.js';
import {place, startServe} from '../serve/support.js';

const puppet = server('puppet');
const modeOf = (file: string): number => statSync(file).mode & 0o777;

/** Runs one conversation with a log. */
const logTo = (...flags: string[]) =>
	runBridge([...flags, '--', ...puppet], `${handshake[0]}\n`, {answers: 1});

/** Gives log files a name that does not depend on the time. */
const fixedName = ['--filename-format', 'log.ndjson'];

for (const [name, flags] of [
	['--log FILE', (folder: string) => ['--log', join(folder, 'log.ndjson'), '--', ...puppet]],
	['--log @DIR', (folder: string) => ['--log', `@${folder}`, ...fixedName, '--', ...puppet]],
	['raw @DIR', (folder: string) => ['raw', '0:127.0.0.1:9', `@${folder}`, ...fixedName]],
	['raw --log FILE', (folder: string) => ['raw', '0:127.0.0.1:9', '--log', join(folder, 'log.ndjson')]],
] as const) {
	test.serial(`${name} rejects a symbolic link and does not change its target [SEC-D14]`, async t => {
		const folder = tempFolder(t);
		const precious = join(tempFolder(t), 'precious');
		writeFileSync(precious, 'mine');
		symlinkSync(precious, join(folder, 'log.ndjson'));
		const {code, stderr} = await runBridge(flags(folder));
		t.is(code, 2, stderr);
		t.regex(stderr, /The traffic log cannot be written.*log\.ndjson is a symbolic link\. Remove it/);
		t.is(readFileSync(precious, 'utf8'), 'mine');
	});

	test.serial(`${name} does not create the target of a dangling link [SEC-D14]`, async t => {
		const folder = tempFolder(t);
		const target = join(tempFolder(t), 'target');
		symlinkSync(target, join(folder, 'log.ndjson'));
		t.is((await runBridge(flags(folder))).code, 2);
		t.false(existsSync(target));
	});

	test.serial(`${name} rejects a folder in which all users can replace files [SEC-D14]`, async t => {
		const folder = join(tempFolder(t), 'shared');
		mkdirSync(folder);
		chmodSync(folder, 0o777);
		const {code, stderr} = await runBridge(flags(folder));
		t.is(code, 2, stderr);
		t.regex(
			stderr,
			/all users can replace files in .*shared \(mode 777\)\. Run chmod o-w .*shared, or name a folder that you own/,
		);
		t.deepEqual(readdirSync(folder), []);
	});
}

test.serial(
	'logs to a folder with the sticky bit, like /tmp, and changes the mode of a readable file to 0600 [SEC-D14]',
	async t => {
		const folder = join(tempFolder(t), 'tmp');
		mkdirSync(folder);
		chmodSync(folder, 0o1777);
		const file = join(folder, 'log.ndjson');
		writeFileSync(file, '');
		chmodSync(file, 0o666);
		const {code, stderr} = await logTo('--log', file);
		t.is(code, 0, stderr);
		t.is(modeOf(file), 0o600);
		t.regex(readFileSync(file, 'utf8'), /initialize/);
	},
);

test.serial('raw changes the mode of a log that others can read to 0600 at start-up [SEC-D14]', async t => {
	const folder = tempFolder(t);
	const file = join(folder, 'log.ndjson');
	writeFileSync(file, '');
	chmodSync(file, 0o644);
	const running = startBridge(['raw', '0:127.0.0.1:9', `@${folder}`, ...fixedName]);
	await running.says(/raw\.listening/);
	t.is(modeOf(file), 0o600);
	running.child.kill('SIGTERM');
	t.is((await running.exited).code, 0);
});

test.serial(
	'does not follow a link that replaces the log while bridge runs, and continues once it is removed [SEC-D14]',
	async t => {
		const folder = tempFolder(t);
		const [file, precious] = [join(folder, 'log.ndjson'), join(tempFolder(t), 'precious')];
		writeFileSync(precious, 'mine');
		const running: Running = await startReady(['--log', file, '--flush-millis', '50', '--', ...puppet]);
		t.teardown(() => running.child.kill('SIGKILL'));
		await until(() => existsSync(file) && readFileSync(file, 'utf8').includes('initialized'));
		renameSync(file, join(folder, 'old'));
		symlinkSync(precious, file);
		await running.request(1, 'ping');
		await running.says(/is a symbolic link\. Remove it/);
		t.is(readFileSync(precious, 'utf8'), 'mine');
		unlinkSync(file);
		await running.says(/The traffic log is being written again/);
		t.regex(readFileSync(file, 'utf8'), /"method":"ping"/);
		t.is(modeOf(file), 0o600);
	},
);

test.serial('logs to a pipe and to a device behind a link [SEC-D14]', async t => {
	const pipe = join(tempFolder(t), 'pipe');
	execFileSync('mkfifo', [pipe]);
	// The shell also holds the write end open, so that cat does not exit when a writer closes the pipe.
	const reader = spawn('sh', ['-c', 'exec 3<>"$1"; echo ready; exec cat <&3', 'sh', pipe]);
	t.teardown(() => reader.kill('SIGKILL'));
	let text = '';
	reader.stdout.setEncoding('utf8').on('data', chunk => {
		text += chunk;
	});
	await until(() => text.includes('ready'));
	t.is((await logTo('--log', pipe)).code, 0);
	await until(() => text.includes('"event":"close"'));
	t.is(modeOf(pipe), 0o600);
	const stderr = join(tempFolder(t), 'stderr');
	const words = [process.execPath, bridgeBin, '--log', '/dev/stderr', '--', ...puppet];
	execFileSync('sh', ['-c', 'exec "$@" 2>>"$0"', stderr, ...words], {input: `${handshake[0]}\n`});
	t.regex(readFileSync(stderr, 'utf8'), /"method":"initialize"/);
});

test.serial(
	'serve changes the mode of its audit log and registry to 0600, and rejects links in their place [SEC-D14]',
	async t => {
		const at = await place(t, 'app-server');
		const sessions = join(at.base, '.config/atm/codex-sessions');
		const [audit, registry] = [join(sessions, 'audit.jsonl'), join(sessions, 'default/registry.json')];
		mkdirSync(join(sessions, 'default'), {recursive: true});
		writeFileSync(audit, '');
		writeFileSync(registry, '{"version":1,"sessions":[]}');
		for (const file of [audit, registry]) chmodSync(file, 0o644);
		const client = await startServe(t, at);
		await client.codex({prompt: 'say:1', identity: 'a'});
		await until(() => at.audit().length > 0);
		for (const file of [audit, registry]) t.is(modeOf(file), 0o600, file);
		const precious = join(at.base, 'precious');
		writeFileSync(precious, 'mine');
		unlinkSync(audit);
		symlinkSync(precious, audit);
		await client.codex({prompt: 'say:1', identity: 'b'});
		await until(() => client.running.stderr.includes('audit.unwritten'));
		t.is(readFileSync(precious, 'utf8'), 'mine');
	},
);
