// Shows the processes that the official SDK client leaves when it closes a stdio server. Linux only. `node
// test/peers/orphan.mjs COMMAND [ARGUMENT…]` runs the client below in a separate process, and watches it.
import {fork} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {readdirSync, readFileSync} from 'node:fs';
import process from 'node:process';
import {setTimeout} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {getDefaultEnvironment, StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';

/** The time for the client to exit after it has closed the connection. */
const PATIENCE_MS = 10_000;

const print = text => process.stdout.write(`${text}\n`);

async function runClient([command, ...args]) {
	const client = new Client({name: 'example', version: '1.0.0'});
	const env = {...getDefaultEnvironment(), ORPHAN_MARKER: process.env.ORPHAN_MARKER};
	await client.connect(new StdioClientTransport({command, args, env, stderr: 'ignore'}));
	const {tools} = await client.listTools();
	print(`client: connected, ${tools.length} tools`);
	// Starts a timer in the server. Most real servers have a timer, a watcher or a connection.
	await client.callTool({name: 'toggle-subscriber-updates', arguments: {}});
	const start = performance.now();
	await client.close();
	print(`client: close() took ${((performance.now() - start) / 1000).toFixed(1)} s`);
	process.disconnect();
}

function read(path) {
	try {
		return readFileSync(path, 'latin1');
	} catch {
		// The process exited in the meantime.
		return '';
	}
}

/** The processes that inherited the marker in their environment, other than the client. */
const processesWith = (marker, client) =>
	readdirSync('/proc').filter(
		name => /^\d+$/.test(name) && Number(name) !== client && read(`/proc/${name}/environ`).includes(marker),
	);

async function watchClient(args) {
	const marker = randomUUID();
	const client = fork(fileURLToPath(import.meta.url), args, {env: {...process.env, ORPHAN_MARKER: marker}});
	const exited = once(client, 'exit').then(() => 'yes');
	await once(client, 'disconnect');
	const outcome = await Promise.race([
		exited,
		setTimeout(PATIENCE_MS, `no, not within ${PATIENCE_MS / 1000} s`),
	]);
	print(`client exits: ${outcome}`);
	const left = processesWith(marker, client.pid);
	print(`processes left: ${left.length}`);
	for (const pid of left) {
		const [, parent] = /^PPid:\t(\d+)$/m.exec(read(`/proc/${pid}/status`)) ?? [];
		const words = read(`/proc/${pid}/cmdline`).split('\0').filter(Boolean);
		print(`  pid ${pid}, parent ${parent}: ${words.map(word => word.split('/').at(-1)).join(' ')}`);
		process.kill(Number(pid), 'SIGKILL');
	}
	client.kill('SIGKILL');
	process.exit();
}

if (process.send) await runClient(process.argv.slice(2));
else await watchClient(process.argv.slice(2));
