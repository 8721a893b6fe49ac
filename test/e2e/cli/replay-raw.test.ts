import {once} from 'node:events';
import {writeFileSync} from 'node:fs';
import {type AddressInfo, connect, createServer} from 'node:net';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {runBridge, startBridge} from '../../helpers/bridge.js';
import {newFolder} from '../../helpers/program.js';

/** A server that greets, and answers each line with its letters in reverse, in capitals. */
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

/** Talks to such a server, and returns all that it said. */
async function talk(port: number, words: readonly string[]): Promise<string> {
	const socket = connect(port, '127.0.0.1').setEncoding('latin1');
	let heard = '';
	let length = 'hello\xff\n'.length;
	socket.on('data', data => {
		heard += data;
		socket.emit('more');
	});
	for (const word of [...words, '']) {
		while (heard.length < length) await once(socket, 'more');
		socket.write(word);
		length += word.length;
	}
	socket.end();
	if (!socket.closed) await once(socket, 'close');
	return heard;
}

/** Records such a talk with `bridge raw`, and returns the log. */
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

test('bytes of a recorded client get the same bytes from the same server, and others from another', async t => {
	const log = await recordRaw(t);
	const target = async (greeting?: string): Promise<string> =>
		`tcp://127.0.0.1:${await lineServer(t, greeting)}`;
	const same = await runBridge(['replay', log, '--raw', '--url', await target()]);
	t.is(same.code, 0, same.stdout.join('\n') + same.stderr);
	t.regex(same.stdout[0] ?? '', /^✓ \w{8} same: 8 bytes sent, 15 received$/);
	const other = await runBridge(['replay', log, '--raw', '--url', await target('hullo\xff\n')]);
	t.is(other.code, 1);
	t.regex(
		other.stdout.join('\n'),
		/different from byte 1 of the answer on: .*\n {4}- ello%FF.*\n {4}\+ ullo%FF/,
	);
	const nobody = await runBridge(['replay', log, '--raw', '--url', 'tcp://127.0.0.1:1']);
	t.is(nobody.code, 1);
	t.regex(nobody.stderr, /could not be connected to/);
	const messages = await runBridge(['replay', log, '--', 'cat']);
	t.is(messages.code, 2);
	t.regex(messages.stderr, /replay them with --raw/);
});

test('bytes of a recorded server are played to whoever connects, as often as somebody does', async t => {
	const log = await recordRaw(t);
	const running = startBridge(['replay', log, '--raw', '--serve', '--listen', '127.0.0.1:0']);
	t.teardown(() => running.child.kill('SIGKILL'));
	const [line = ''] = await running.hasLines(1);
	const port = Number(/:(\d+)$/.exec(line)?.[1]);
	t.is(await talk(port, ['one\n', 'two\n']), 'hello\xff\nONE\nTWO\n');
	// Somebody who says something else is answered the same, when it is their turn.
	t.is(await talk(port, ['1\n']).then(heard => heard.slice(0, 10)), 'hello\xff\nONE');
	running.child.kill('SIGTERM');
	t.is((await running.exited).code, 0);
});

test('a log whose bytes are of nobody plays nothing', async t => {
	const log = join(await newFolder(t), 'raw.ndjson');
	writeFileSync(log, '{"time":"x","ConnID":"a","event":"open","from":"c","to":"s"}\n{"data":"x"}\nnothing\n');
	const {code, stderr} = await runBridge(['replay', log, '--raw', '--url', 'tcp://127.0.0.1:1']);
	t.is(code, 2);
	t.regex(stderr, /contains nothing to replay/);
});
