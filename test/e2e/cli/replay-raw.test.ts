import {once} from 'node:events';
import {writeFileSync} from 'node:fs';
import {type AddressInfo, connect, createServer} from 'node:net';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {runBridge, startBridge} from '../../helpers/bridge.js';
import {newFolder} from '../../helpers/program.js';

/** Starts a server that sends a greeting and returns each line in capitals. */
async function lineServer(t: ExecutionContext, greeting = 'hello\xff\n'): Promise<number> {
	const server = createServer(socket => {
		socket.on('error', () => {});
		socket.write(Buffer.from(greeting, 'latin1'));
		socket.on('data', data => socket.write(String(data).toUpperCase()));
		socket.on('end', () => socket.end());
	});
	t.teardown(() => server.close());
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return (server.address() as AddressInfo).port;
}

/** Sends words to such a server. Returns all text that it sent. */
async function talk(port: number, words: readonly string[]): Promise<string> {
	const socket = connect(port, '127.0.0.1').setEncoding('latin1');
	let received = '';
	let length = 'hello\xff\n'.length;
	socket.on('data', data => {
		received += data;
		socket.emit('more');
	});
	for (const word of [...words, '']) {
		while (received.length < length) await once(socket, 'more');
		socket.write(word);
		length += word.length;
	}
	socket.end();
	if (!socket.closed) await once(socket, 'close');
	return received;
}

/** Records such a conversation with `bridge raw`. Returns the path of the log. */
async function recordRaw(t: ExecutionContext): Promise<string> {
	const log = join(await newFolder(t), 'raw.ndjson');
	const raw = startBridge(['raw', '--log', log, `0:127.0.0.1:${await lineServer(t)}`]);
	t.teardown(() => raw.child.kill('SIGKILL'));
	const [, port] = await raw.says(/"listen_port":(\d+)/);
	t.is(await talk(Number(port), ['one\n', 'two\n']), 'hello\xff\nONE\nTWO\n');
	raw.child.kill('SIGTERM');
	await raw.exited;
	return log;
}

test('--raw reports the same bytes from the same server and different bytes from another one', async t => {
	const log = await recordRaw(t);
	const target = async (greeting?: string): Promise<string> =>
		`tcp://127.0.0.1:${await lineServer(t, greeting)}`;
	const same = await runBridge(['replay', log, '--raw', '--url', await target()]);
	t.is(same.code, 0, same.stdout.join('\n') + same.stderr);
	t.regex(same.stdout[0] ?? '', /^✓ \w{8} same: 8 bytes sent, 15 received$/);
	const other = await runBridge(['replay', log, '--raw', '--url', await target('hullo\xff\n')]);
	t.is(other.code, 1);
	t.regex(other.stdout.join('\n'), /response differs from byte 1: .*\n {4}- ello%FF.*\n {4}\+ ullo%FF/);
	const unreachable = await runBridge(['replay', log, '--raw', '--url', 'tcp://127.0.0.1:1']);
	t.is(unreachable.code, 1);
	t.regex(unreachable.stderr, /cannot be reached/);
	const messages = await runBridge(['replay', log, '--', 'cat']);
	t.is(messages.code, 2);
	t.regex(messages.stderr, /replay them with --raw/);
});

test('--raw --serve sends the recorded bytes to each client in turn', async t => {
	const log = await recordRaw(t);
	const running = startBridge(['replay', log, '--raw', '--serve', '--listen', '127.0.0.1:0']);
	t.teardown(() => running.child.kill('SIGKILL'));
	const [line = ''] = await running.hasLines(1);
	const port = Number(/:(\d+)$/.exec(line)?.[1]);
	t.is(await talk(port, ['one\n', 'two\n']), 'hello\xff\nONE\nTWO\n');
	// A client that sends other bytes still receives the recorded response.
	t.is(await talk(port, ['1\n']).then(text => text.slice(0, 10)), 'hello\xff\nONE');
	running.child.kill('SIGTERM');
	t.is((await running.exited).code, 0);
});

test('--raw rejects a log without bytes of a connection', async t => {
	const log = join(await newFolder(t), 'raw.ndjson');
	writeFileSync(log, '{"time":"x","ConnID":"a","event":"open","from":"c","to":"s"}\n{"data":"x"}\nnothing\n');
	const {code, stderr} = await runBridge(['replay', log, '--raw', '--url', 'tcp://127.0.0.1:1']);
	t.is(code, 2);
	t.regex(stderr, /contains nothing to replay/);
});
