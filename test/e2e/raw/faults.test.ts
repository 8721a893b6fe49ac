import {existsSync} from 'node:fs';
import {chmod, mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {logged, newFolder, until} from '../../helpers/program.js';
import {done} from './control.js';
import {linesIn, parsed, type Raw, startRaw, textIn} from './support.js';
import {dial, ending, exchange, readBytes, startEcho, startPeer} from './tcp.js';

async function startLogging(t: ExecutionContext, ...flags: string[]): Promise<{raw: Raw; logs: string}> {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const logs = join(await newFolder(t), 'logs');
	const args = ['--flush-millis', '20', '--filename-format', 'log.ndjson', ...flags];
	return {raw: await startRaw(t, [...args, `0:127.0.0.1:${echo.port}`, `@${logs}`]), logs};
}

test('forwards traffic while the log folder is missing, and resumes the log when it is back [I5]', async t => {
	const {raw, logs} = await startLogging(t);
	await exchange(raw.port, 'before');
	await until(() => textIn(logs).includes('"close"'));
	await rm(logs, {recursive: true});
	t.is(String((await exchange(raw.port, 'meanwhile')).reply), 'meanwhile');
	await until(() => /log/.test(raw.running.stderr) || existsSync(logs));
	if (!existsSync(logs)) await mkdir(logs);
	t.is(String((await exchange(raw.port, 'after')).reply), 'after');
	await until(() => textIn(logs).includes('after'));
	t.is(await raw.stop(), 0);
	const data = linesIn(logs).map(line => line.data);
	t.is(data.filter(text => text === 'meanwhile').length, 2);
	t.is(data.filter(text => text === 'after').length, 2);
});

test('forwards traffic when a folder replaces the log file, and reports the loss once [I5]', async t => {
	const {raw, logs} = await startLogging(t);
	await until(() => textIn(logs).includes('start-logging'));
	await rm(join(logs, 'log.ndjson'));
	await mkdir(join(logs, 'log.ndjson'));
	for (let index = 0; index < 5; index++)
		t.is(String((await exchange(raw.port, `${index}`)).reply), `${index}`);
	await raw.running.says(/cannot be written/);
	t.is(await raw.stop(), 0);
	t.is(raw.running.stderr.match(/cannot be written/g)?.length, 1);
	t.regex(raw.running.stderr, /EISDIR/);
	t.true(Number(logged(raw.running, 'log-error').at(-1)?.lostBytes) > 0);
});

test('an error of one destination does not affect the others [I5]', async t => {
	const {raw, logs} = await startLogging(t, '--mcp-port', '0');
	const other = join(await newFolder(t), 'other');
	await done(raw.endpoint, 'start-logging', {directory: other, filename_format: 'log.ndjson'});
	await until(() => textIn(other).includes('start-logging'));
	await rm(join(other, 'log.ndjson'));
	await mkdir(join(other, 'log.ndjson'));
	await exchange(raw.port, 'still logged');
	await raw.running.says(/cannot be written/);
	await until(() => textIn(logs).includes('still logged'));
	t.is(await raw.stop(), 0);
	t.is(linesIn(logs).filter(({data}) => data === 'still logged').length, 2);
});

test('forwards traffic after stdout was closed, and SIGTERM ends the process [I5]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const raw = await startRaw(t, ['--flush-millis', '20', `0:127.0.0.1:${echo.port}`]);
	raw.running.child.stdout?.destroy();
	for (let index = 0; index < 10; index++)
		t.is(String((await exchange(raw.port, `${index}`)).reply), `${index}`);
	await raw.running.says(/EPIPE|stdout/);
	t.is(String((await exchange(raw.port, 'still here')).reply), 'still here');
	t.is(await raw.stop(), 0);
});

test('SIGTERM under traffic truncates no line and logs an open and a close for each connection [I9]', async t => {
	const peer = await startPeer(t, socket => socket.pipe(socket));
	const logs = join(await newFolder(t), 'logs');
	const raw = await startRaw(t, [`0:127.0.0.1:${peer.port}`, `@${logs}`]);
	let received = 0;
	const sockets = await Promise.all(Array.from({length: 10}, () => dial(raw.port)));
	const endings = sockets.map(socket => {
		const send = (): void => {
			if (socket.writable && !socket.destroyed)
				socket.write(Buffer.alloc(20_000, 0x80), () => setImmediate(send));
		};
		socket.on('data', ({length}) => {
			received += length;
		});
		send();
		return ending(socket);
	});
	await until(() => received > 5_000_000);
	t.is(await raw.stop(), 0);
	await Promise.all(endings);
	for (const socket of sockets) socket.destroy();
	const lines = parsed(textIn(logs));
	t.is(lines.filter(({event}) => event === 'open').length, 10);
	t.is(lines.filter(({event}) => event === 'close').length, 10);
	const loggedBytes = lines
		.filter(({from}) => from === `127.0.0.1:${peer.port}`)
		.reduce((sum, {data = ''}) => sum + data.length / 3, 0);
	t.true(loggedBytes >= received, `${loggedBytes} bytes are in the log, ${received} arrived`);
});

test('exits although a connection does not end [I9]', async t => {
	const peer = await startPeer(t, () => {}, {isPaused: true});
	const raw = await startRaw(t, ['--flush-millis', '20', `0:127.0.0.1:${peer.port}`]);
	const socket = await dial(raw.port);
	socket.pause();
	socket.write(Buffer.alloc(10_000_000));
	await peer.socket();
	t.is(await raw.stop(), 0);
	socket.destroy();
});

test('a rule whose target is down does not affect the other rule [I3]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const raw = await startRaw(t, ['--flush-millis', '20', '0:127.0.0.1:1', `0:127.0.0.1:${echo.port}`]);
	const [dead = 0, alive = 0] = raw.ports;
	for (let index = 0; index < 20; index++) {
		const socket = await dial(dead);
		await ending(socket);
		socket.destroy();
		const other = await dial(alive);
		other.write('x');
		t.is(String(await readBytes(other, 1)), 'x');
		other.destroy();
	}
});

test('rejects an unwritable log folder at startup [I5]', async t => {
	const folder = await newFolder(t);
	const logs = join(folder, 'logs');
	if (process.getuid?.() === 0) {
		// Root ignores the mode of the folder, so a file takes the place of the log folder.
		await writeFile(logs, '');
	} else {
		await chmod(folder, 0o500);
	}
	const {runBridge} = await import('../../helpers/bridge.js');
	const {code, stderr, stdout} = await runBridge(['raw', '0:127.0.0.1:9', `@${logs}`]);
	t.is(code, 2);
	t.deepEqual(stdout, []);
	t.true(stderr.includes(logs));
});
