import {existsSync, statSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {startBridge} from '../helpers/bridge.js';
import {until} from '../helpers/pipeline.js';
import {readLog, tempFolder} from '../helpers/temp-folder.js';
import {chat, countOf, echoServer, FAILS, HANDSHAKE, need, WORKS} from './tools.js';

/** Starts bridge under strace, which injects errors into system calls on the traffic log. */
const start = async (t: ExecutionContext, inject: string) => {
	need('strace');
	const folder = tempFolder(t);
	const file = join(folder, 'log.ndjson');
	const bridge = startBridge(['--log', file, '--flush-millis', '50', '--', ...echoServer], {
		node: 'strace',
		nodeArgs: ['-f', '-qq', '-o', join(folder, 'strace'), '-P', file, '-e', inject, process.execPath],
		// strace counts injected failures per thread.
		env: {...process.env, UV_THREADPOOL_SIZE: '1'},
	});
	t.teardown(() => bridge.child.kill('SIGKILL'));
	await bridge.shakeHands();
	return {bridge, file};
};

for (const [fault, inject, name] of [
	['is full at the first write', 'inject=write,writev,pwritev:error=ENOSPC:when=1', 'ENOSPC'],
	['fails at the first three writes', 'inject=write,writev,pwritev:error=EIO:when=1..3', 'EIO'],
	['fails at the second write', 'inject=write,writev,pwritev:error=EIO:when=2', 'EIO'],
	[
		'exceeds its quota at the second and third write',
		'inject=write,writev,pwritev:error=EDQUOT:when=2..3',
		'EDQUOT|-122',
	],
] as const)
	test.serial(`a disk that ${fault} loses neither messages nor log lines`, async t => {
		const {bridge, file} = await start(t, inject);
		await chat(bridge, 0, 3);
		await until(() => FAILS.test(bridge.stderr) || (existsSync(file) && statSync(file).size > 20_000));
		await chat(bridge, 3, 3);
		await bridge.says(FAILS);
		await bridge.says(WORKS);
		await chat(bridge, 6, 1);
		t.is(await bridge.end(), 0);
		t.regex(bridge.stderr, new RegExp(name));
		t.is(countOf(bridge, FAILS), 1);
		const lines = readLog(file);
		t.is(lines.filter(({message}) => message !== undefined).length, 14 + HANDSHAKE);
		t.like(lines.at(-1), {event: 'close'});
	});

test.serial('a log file that temporarily cannot be opened loses neither messages nor log lines', async t => {
	// The first open is bridge's own check that the log is writable.
	const {bridge, file} = await start(t, 'inject=openat:error=EMFILE:when=2..4');
	await chat(bridge, 0, 3);
	await bridge.says(FAILS);
	await chat(bridge, 3, 3);
	await bridge.says(WORKS);
	t.is(await bridge.end(), 0);
	t.is(readLog(file).filter(({message}) => message !== undefined).length, 12 + HANDSHAKE);
});
