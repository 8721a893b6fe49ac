import {existsSync, readdirSync, renameSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {newFolder, until} from '../../helpers/program.js';
import {done} from './control.js';
import {type Raw, startRaw, textIn} from './support.js';
import {exchange, startEcho} from './tcp.js';

/** A folder for a log, which is not there yet. */
const newLogs = async (t: ExecutionContext): Promise<string> => join(await newFolder(t), 'logs');

/** A bridge of its own, with a folder for its log. */
async function logging(t: ExecutionContext, flushMs: string): Promise<{raw: Raw; logs: string}> {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const logs = await newLogs(t);
	const args = ['--flush-millis', flushMs, '--mcp-port', '0', `0:127.0.0.1:${echo.port}`, `@${logs}`];
	return {raw: await startRaw(t, args), logs};
}

test('lines wait in memory: before the interval is over there is nothing in the file [LOG_011] [SIMPLE_019]', async t => {
	const {raw, logs} = await logging(t, '60000');
	await exchange(raw.port, 'patience');
	t.false(textIn(logs).includes('patience'));
	await raw.stop();
	t.true(textIn(logs).includes('patience'));
});

test('lines for stdout wait, too, and only mcp-ready does not [LOG_008] [SIMPLE_019A]', async t => {
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

test('after --flush-millis lines are in the file, while all goes on [LOG_009] [LOG_010] [CMD_003]', async t => {
	const {raw, logs} = await logging(t, '100');
	await exchange(raw.port, 'soon there');
	await until(() => textIn(logs).includes('soon there'));
	t.is(raw.running.child.exitCode, null);
});

test('without --flush-millis lines are in the file after a while [LOG_009]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const logs = await newLogs(t);
	const raw = await startRaw(t, [`0:127.0.0.1:${echo.port}`, `@${logs}`]);
	await exchange(raw.port, 'there by itself');
	await until(() => textIn(logs).includes('there by itself'));
	t.is(raw.running.child.exitCode, null);
});

test('each destination has a buffer of its own: to stop one flushes that one alone [LOG_012]', async t => {
	const {raw, logs} = await logging(t, '60000');
	const other = await newLogs(t);
	await done(raw.endpoint, 'start-logging', {directory: other});
	await exchange(raw.port, 'both');
	await done(raw.endpoint, 'stop-logging', {directory: other});
	t.true(textIn(other).includes('both'));
	t.false(existsSync(logs) && textIn(logs).includes('both'));
	await raw.stop();
	t.true(textIn(logs).includes('both'));
});

test('between flushes the file is closed: one that is moved away is made anew [LOG_014]', async t => {
	const {raw, logs} = await logging(t, '50');
	await exchange(raw.port, 'before');
	await until(() => textIn(logs).includes('"close"'));
	const [file = ''] = readdirSync(logs);
	renameSync(join(logs, file), join(logs, 'moved'));
	await exchange(raw.port, 'after');
	await until(() => existsSync(join(logs, file)) && textIn(logs).includes('after'));
	t.regex(await readFile(join(logs, file), 'utf8'), /after/);
	t.notRegex(await readFile(join(logs, 'moved'), 'utf8'), /after/);
});

test('with --flush-millis 0 lines are in the file at once, and nothing turns in circles', async t => {
	const {raw, logs} = await logging(t, '0');
	await exchange(raw.port, 'at once');
	await until(() => textIn(logs).includes('at once'));
	const before = raw.lines.length;
	await exchange(raw.port, 'again');
	await until(() => textIn(logs).includes('again'));
	t.is(raw.lines.length, before);
});
