import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {linesIn, type Raw, startRaw, textIn} from '../e2e/raw/support.js';
import {exchange, startEcho} from '../e2e/raw/tcp.js';
import {until} from '../helpers/pipeline.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {need} from './tools.js';

/** A system call in the output of strace. */
type Call = {readonly at: number; readonly name: string; readonly args: string};

/** Starts bridge under strace, which records the system calls on its log file. */
async function watched(
	t: ExecutionContext,
	flushMs: number,
	inject?: string,
): Promise<{raw: Raw; logs: string; calls: () => Call[]}> {
	need('strace');
	const folder = tempFolder(t);
	const [logs, trace] = [join(folder, 'logs'), join(folder, 'strace')];
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const file = join(logs, 'log.ndjson');
	const watch = ['-f', '-qq', '-ttt', '-o', trace, '-P', file];
	const raw = await startRaw(
		t,
		[
			'--flush-millis',
			`${flushMs}`,
			'--filename-format',
			'log.ndjson',
			`0:127.0.0.1:${echo.port}`,
			`@${logs}`,
		],
		{
			node: 'strace',
			nodeArgs: [
				...watch,
				'-e',
				'trace=openat,write,writev,pwrite64,pwritev,close',
				...(inject === undefined ? [] : ['-e', inject]),
				process.execPath,
			],
		},
	);
	const calls = (): Call[] =>
		[...readFileSync(trace, 'utf8').matchAll(/^\d+ +([\d.]+) (\w+)\((.*)$/gm)].map(
			([, at, name = '', args = '']) => ({
				at: Number(at),
				name,
				args,
			}),
		);
	return {raw, logs, calls};
}

/** Sends SIGTERM to bridge itself, since strace does not forward signals. */
async function stop({running}: Raw): Promise<number | null> {
	const [child] = readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, 'latin1').split(' ');
	process.kill(Number(child), 'SIGTERM');
	return (await running.exited).code;
}

const isWrite = ({name}: Call): boolean => /^p?write/.test(name);

test.serial(
	'a flush opens the log file, writes the buffer in one call, and closes the file [LOG_013] [LOG_014]',
	async t => {
		const {raw, logs, calls} = await watched(t, 60_000);
		for (let index = 0; index < 50; index++) await exchange(raw.port, `${index}`);
		t.is(await stop(raw), 0);
		t.true(linesIn(logs).length >= 200);
		const writes = calls().filter(isWrite);
		// An extra write may flush the first lines.
		t.true(writes.length <= 3, `${writes.length} writes`);
		const opened = calls().filter(({name, args}) => name === 'openat' && args.includes('O_WRONLY'));
		t.true(opened.length >= writes.length);
		for (const {args} of opened) {
			t.regex(args, /O_APPEND/);
			t.notRegex(args, /O_TRUNC/);
			if (args.includes('O_CREAT')) t.regex(args, /0600/);
		}
		t.is(
			calls().filter(({name}) => name === 'close').length,
			calls().filter(({name}) => name === 'openat').length,
		);
	},
);

test.serial('writes a log file at most once per --flush-millis [LOG_015]', async t => {
	const {raw, logs, calls} = await watched(t, 400);
	for (let round = 0; textIn(logs).split('"open"').length < 40; round++) {
		await exchange(raw.port, `${round}`);
		await new Promise(resolve => setTimeout(resolve, 20));
	}
	await until(() => calls().filter(isWrite).length >= 3);
	t.is(await stop(raw), 0);
	// The last write is the flush at exit, which is not delayed.
	const times = calls()
		.filter(isWrite)
		.map(({at}) => at)
		.slice(0, -1);
	for (const [index, at] of times.entries())
		if (index > 0) t.true(at - (times[index - 1] ?? 0) >= 0.3, `${times}`);
});

test.serial('writes a complete log even if that takes longer than the wait for a reader [I9]', async t => {
	// Longer than the 5 s timeout of a reader of stdout, with enough traffic for two writes.
	const {raw, logs} = await watched(t, 600_000, 'inject=write,writev,pwrite64,pwritev:delay_enter=6s');
	const size = 2_500_000;
	t.is((await exchange(raw.port, Buffer.alloc(size, 'x'))).reply.length, size);
	t.is(await stop(raw), 0);
	t.is(
		linesIn(logs).reduce((sum, {data = ''}) => sum + data.length, 0),
		2 * size,
	);
});
