import {fileURLToPath} from 'node:url';
import test from 'ava';
import {LineClient} from './line-client.js';
import {everything, peersFolder, throughBridge} from './peers.js';
import {newMarker, processesWith, survivorsOf} from './processes.js';
import {converse, opening} from './raw-lines.js';

test.serial('kills a server that ignores the end of its stdin within 5 seconds', async t => {
	t.timeout(60_000);
	const marker = newMarker(t);
	// Subscription updates start a timer that keeps the server alive indefinitely.
	const keepAlive =
		'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toggle-subscriber-updates"}}';
	const client = await converse(t, throughBridge(everything(marker)), [keepAlive]);
	t.true((await processesWith(marker)).length > 0);
	const start = process.hrtime.bigint();
	await client.close();
	const seconds = Number(process.hrtime.bigint() - start) / 1e9;
	// bridge waits 5 seconds; the rest is slack for a busy machine. Without bridge, the server never exits.
	t.true(seconds < 15, `exited after ${seconds} s`);
	t.deepEqual(await survivorsOf(marker), []);
});

test.serial('runs a server started by npx, and leaves no process of npx or the server', async t => {
	t.timeout(60_000);
	const marker = newMarker(t);
	const prefix = ['--prefix', fileURLToPath(peersFolder)];
	const npx = {command: 'npx', args: ['--no', ...prefix, '--', 'mcp-server-everything', 'stdio', marker]};
	const list = ['{"jsonrpc":"2.0","id":1,"method":"tools/list"}'];
	const client = await converse(t, throughBridge(npx), list);
	// npx, the server, and a shell between them in some versions of npm.
	t.true((await processesWith(marker)).length > 1);
	const through = await client.close();
	t.deepEqual(await survivorsOf(marker), []);
	const direct = await (await converse(t, everything(marker), list)).close();
	t.true(through.stdout.equals(direct.stdout));
});

test.serial('the server behind bridge exits when the client is killed', async t => {
	t.timeout(60_000);
	const marker = newMarker(t);
	const bridge = throughBridge(everything(marker));
	// This client starts bridge, and gets SIGKILL as soon as the server has responded.
	const source = `
		const [command, ...args] = process.argv.slice(1);
		const child = require('node:child_process').spawn(command, args, {stdio: ['pipe', 'pipe', 'inherit']});
		child.stdout.once('data', () => process.kill(process.pid, 'SIGKILL'));
		process.stdin.pipe(child.stdin);
	`;
	const client = new LineClient(t, {
		command: process.execPath,
		args: ['-e', source, bridge.command, ...bridge.args],
	});
	client.write(`${opening[0]}\n`);
	// bridge and the server inherit this client's stderr, so it closes when the last of them exits.
	const {signal} = await client.ended();
	t.is(signal, 'SIGKILL');
	t.deepEqual(await survivorsOf(marker), []);
});
