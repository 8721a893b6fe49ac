import {existsSync, readdirSync, renameSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {newFolder, until} from '../../helpers/program.js';
import {done} from './control.js';
import {type Raw, startRaw, textIn} from './support.js';
import {exchange, startEcho} from './tcp.js';

/** The path of a log folder that does not exist yet. */
const newLogs = async (t: ExecutionContext): Promise<string> => join(await newFolder(t), 'logs');

/** Starts a bridge in front of an echo that logs to a folder. */
async function startLogging(t: ExecutionContext, flushMs: string): Promise<{raw: Raw; logs: string}> {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const logs = await newLogs(t);
	const args = ['--flush-millis', flushMs, '--mcp-port', '0', `0:127.0.0.1:${echo.port}`, `@${logs}`];
	return {raw: await startRaw(t, args), logs};
}

test('buffers lines and writes nothing to the file before the flush interval [LOG_011] [SIMPLE_019]', async t => {
	const {raw, logs} = await startLogging(t, '60000');
	await exchange(raw.port, 'patience');
	t.false(textIn(logs).includes('patience'));
	await raw.stop();
	t.true(textIn(logs).includes('patience'));
});

test('buffers lines for stdout, too, except mcp-ready [LOG_008] [SIMPLE_019A]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const raw = await startRaw(t, ['--flush-millis', '60000', '--mcp-port', '0', `0:127.0.0.1:${echo.port}`]);
	await exchange(raw.port, 'patience');
	t.deepEqual(
		raw.lines.map(({event}) => event),
		['mcp-ready'],
	);
	await raw.stop();
	t.is(raw.lines.filter(({data}) => data === 'patience').length, 2);
});

test('writes lines to the file after --flush-millis while running [LOG_009] [LOG_010] [CMD_003]', async t => {
	const {raw, logs} = await startLogging(t, '100');
	await exchange(raw.port, 'soon there');
	await until(() => textIn(logs).includes('soon there'));
	t.is(raw.running.child.exitCode, null);
});

test('writes lines to the file after the default interval [LOG_009]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const logs = await newLogs(t);
	const raw = await startRaw(t, [`0:127.0.0.1:${echo.port}`, `@${logs}`]);
	await exchange(raw.port, 'there by itself');
	await until(() => textIn(logs).includes('there by itself'));
	t.is(raw.running.child.exitCode, null);
});

test('stopping a destination flushes only its own buffer [LOG_012]', async t => {
	const {raw, logs} = await startLogging(t, '60000');
	const other = await newLogs(t);
	await done(raw.endpoint, 'start-logging', {directory: other});
	await exchange(raw.port, 'both');
	await done(raw.endpoint, 'stop-logging', {directory: other});
	t.true(textIn(other).includes('both'));
	t.false(existsSync(logs) && textIn(logs).includes('both'));
	await raw.stop();
	t.true(textIn(logs).includes('both'));
});

test('closes the file between flushes and recreates it after it was moved [LOG_014]', async t => {
	const {raw, logs} = await startLogging(t, '50');
	await exchange(raw.port, 'before');
	await until(() => textIn(logs).includes('"close"'));
	const [file = ''] = readdirSync(logs);
	renameSync(join(logs, file), join(logs, 'moved'));
	await exchange(raw.port, 'after');
	await until(() => existsSync(join(logs, file)) && textIn(logs).includes('after'));
	t.regex(await readFile(join(logs, file), 'utf8'), /after/);
	t.notRegex(await readFile(join(logs, 'moved'), 'utf8'), /after/);
});

test('--flush-millis 0 writes lines at once without an idle loop', async t => {
	const {raw, logs} = await startLogging(t, '0');
	await exchange(raw.port, 'at once');
	await until(() => textIn(logs).includes('at once'));
	const before = raw.lines.length;
	await exchange(raw.port, 'again');
	await until(() => textIn(logs).includes('again'));
	t.is(raw.lines.length, before);
});
