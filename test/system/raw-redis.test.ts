import {spawnSync} from 'node:child_process';
import {join} from 'node:path';
import test from 'ava';
import {bytesFrom, linesIn, startRaw} from '../e2e/raw/support.js';
import {dial} from '../e2e/raw/tcp.js';
import {runBridge} from '../helpers/bridge.js';
import {until} from '../helpers/pipeline.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {cli, startRedis} from './redis.js';

test.serial('redis-cli works through a rule, and bridge decode restores its traffic', async t => {
	const {port: redis} = await startRedis(t);
	const logs = join(tempFolder(t), 'logs');
	const raw = await startRaw(t, ['--filename-format', 'log', `0:127.0.0.1:${redis}`, `@${logs}`]);
	t.is(await cli(raw.port, ['SET', 'key', 'a value, 100%']), 'OK');
	t.is(await cli(raw.port, ['GET', 'key']), 'a value, 100%');
	t.is(await cli(raw.port, ['-x', 'SET', 'binary'], '\u0000é\r\n"\\'), 'OK');
	t.is(await cli(redis, ['STRLEN', 'binary']), '7');
	t.is(await raw.stop(), 0);
	const lines = linesIn(logs);
	const ids = lines.filter(({event}) => event === 'open').map(({ConnID}) => String(ConnID));
	t.is(ids.length, 3);
	const log = join(logs, 'log');
	const decode = async (...args: string[]): Promise<string> =>
		(await runBridge(['decode', log, ...args])).stdout.join('\n');
	t.regex(await decode('--conn', ids[0] ?? '', '--from'), /\r\nSET\r\n\$3\r\nkey\r\n\$13\r\na value, 100%/);
	t.regex(await decode('--conn', ids[1] ?? '', '--to'), /\$13\r\na value, 100%\r/);
	const replies = bytesFrom(lines, `127.0.0.1:${redis}`);
	t.true(String(replies).includes('+OK\r\n'));
});

test.serial('redis-benchmark runs through a rule without an error', async t => {
	const {port: redis} = await startRedis(t);
	const logs = join(tempFolder(t), 'logs');
	const raw = await startRaw(t, [`0:127.0.0.1:${redis}`, `@${logs}`]);
	const flags = [
		'-h',
		'127.0.0.1',
		'-p',
		`${raw.port}`,
		'-n',
		'20000',
		'-c',
		'50',
		'-P',
		'8',
		'-t',
		'set,get',
		'-q',
	];
	const {status, stdout, stderr} = spawnSync('redis-benchmark', flags, {encoding: 'utf8', timeout: 60_000});
	t.is(status, 0, stderr);
	t.regex(stdout, /SET: [\d.]+ requests per second/);
	t.regex(stdout, /GET: [\d.]+ requests per second/);
	t.is(await raw.stop(), 0);
	const lines = linesIn(logs);
	t.is(lines.filter(({event}) => event === 'gap').length, 0);
	t.true(lines.filter(({event}) => event === 'open').length >= 50);
});

test.serial('a Redis subscription stays open and gets published messages at once', async t => {
	const {port: redis} = await startRedis(t);
	const raw = await startRaw(t, ['--flush-millis', '50', `0:127.0.0.1:${redis}`]);
	const socket = await dial(raw.port);
	t.teardown(() => socket.destroy());
	let output = '';
	socket.on('data', chunk => {
		output += chunk;
	});
	socket.write('SUBSCRIBE news\r\n');
	await until(() => output.includes('subscribe'));
	for (const word of ['one', 'two', 'three']) {
		t.is(await cli(redis, ['PUBLISH', 'news', word]), '1');
		await until(() => output.includes(word));
	}
	await raw.line(({data}) => data?.includes('three') === true);
	t.is(raw.running.child.exitCode, null);
});
