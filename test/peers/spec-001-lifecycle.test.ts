import {readFile, writeFile} from 'node:fs/promises';
import {createServer as createHttpServer, request} from 'node:http';
import {type AddressInfo, createServer} from 'node:net';
import {hostname} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import test, {type ExecutionContext} from 'ava';
import {freePort} from '../helpers/free-port.js';
import type {Service} from './gateway.js';
import {realServers, startRealHub, until} from './hub.js';
import {startListening} from './listening.js';
import {peersFolder, peerUrl} from './peers.js';
import {processesWith} from './processes.js';

/* Spec 001: the lifecycle and the transports of servers, with real servers and the real SDK's client. */

test.serial(
	'spec 001, Startup connection: connects all enabled servers before the first response [HUB-1]',
	async t => {
		const hub = await startRealHub(t, folder => ({servers: realServers(folder)}));
		t.deepEqual(
			(await hub.run('proxy.list_servers()')).result,
			['everything', 'files', 'memory'].map(name => ({
				name,
				pack: name,
				type: 'stdio',
				enabled: true,
				connected: true,
				protocolVersion: '2025-11-25',
			})),
		);
	},
);

test.serial(
	'spec 001, Startup connection failure: logs a warning and serves the other servers [HUB-2]',
	async t => {
		const hub = await startRealHub(t, folder => ({
			expose: 'tools',
			servers: {...realServers(folder), broken: {command: join(folder, 'no-such-program')}},
		}));
		const names = await hub.tools();
		t.is(names.filter(name => name.startsWith('files__')).length, 14);
		t.is(names.filter(name => name.startsWith('memory__')).length, 9);
		const warning = () => hub.logged('proxy.connect').find(({server}) => server === 'broken');
		// The log arrives on another stream than responses, possibly after them.
		await until(() => warning() !== undefined);
		t.like(warning(), {level: 40, status: 'FAILED'});
	},
);

test.serial('spec 001, Shutdown cleanup: all servers exit with the hub [HUB-3]', async t => {
	const hub = await startRealHub(t, folder => ({servers: realServers(folder)}));
	await hub.tools();
	const {length} = await processesWith(hub.folder);
	t.true(length >= 3, `${length} processes`);
	await hub.close();
	await until(async () => (await processesWith(hub.folder)).length === 0);
	t.pass();
});

/**
 * A shell command that creates its own file, and starts the server when the file of the other one exists.
 */
const mutual = (folder: string, own: string, other: string): string =>
	`touch ${join(folder, own)}; while [ ! -e ${join(folder, other)} ]; do sleep 0.1; done; exec "$@"`;

test.serial('spec 001, Parallel connection: connects servers that wait for each other [HUB-4]', async t => {
	const hub = await startRealHub(t, folder => {
		const {memory, files} = realServers(folder);
		const waiting = (own: string, other: string, service = memory) => ({
			...service,
			command: 'sh',
			args: ['-c', mutual(folder, own, other), 'sh', service?.command ?? '', ...(service?.args ?? [])],
		});
		return {expose: 'tools', servers: {one: waiting('a', 'b'), two: waiting('b', 'a', files)}};
	});
	t.is((await hub.tools()).length, 23);
});

test.serial('spec 001, NPX command: connects a server that npx starts [HUB-23]', async t => {
	const hub = await startRealHub(t, () => ({
		servers: {
			thinking: {
				command: 'npx',
				args: ['--no-install', 'mcp-server-sequential-thinking'],
				cwd: fileURLToPath(peersFolder),
			},
		},
	}));
	const {result} = await hub.run('proxy.list_tools(server="thinking")');
	t.like(result, [{name: 'sequentialthinking'}]);
});

test.serial(
	'spec 001, Environment variables for subprocess: expands references in their values [HUB-24]',
	async t => {
		const hub = await startRealHub(t, folder => {
			const {everything} = realServers(folder);
			const env = {...everything?.env, GREETING: `$\{SPEC_GREETING} and $\{SPEC_UNSET:-more}`};
			return {servers: {everything: {...everything, env}}, env: {SPEC_GREETING: 'hello'}};
		});
		const {text} = await hub.run('everything.get_env()["GREETING"]');
		t.is(text, 'hello and more');
	},
);

/** A server that can be restarted only once the file `again` exists. */
const startsOnce = ({command = '', args = [], ...rest}: Service = {}, folder: string): Service => ({
	...rest,
	command: '/bin/sh',
	args: [
		'-c',
		`[ -e "$0/started" ] && [ ! -e "$0/again" ] && exit 3; touch "$0/started"; exec "$@"`,
		folder,
		command,
		...args,
	],
});

test.serial(
	'spec 001, Subprocess crash: a call fails with "unavailable" until the server is restarted [A-D18] [HUB-25]',
	async t => {
		const hub = await startRealHub(t, folder => ({
			servers: {memory: startsOnce(realServers(folder).memory, folder)},
		}));
		await hub.tools();
		const pids = await processesWith(hub.folder);
		const lines = await Promise.all(
			pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')),
		);
		const pid = Number(pids[lines.findIndex(line => line.includes('server-memory'))]);
		process.kill(pid, 'SIGKILL');
		await until(() => hub.logged('upstream.lost').length > 0);
		const {text, isError} = await hub.run('memory.read_graph()');
		t.true(isError);
		t.regex(text, /Server 'memory' unavailable: memory (?:was ended by SIGKILL|exited with code 3)/);
		await writeFile(join(hub.folder, 'again'), '');
		await until(() => hub.logged('proxy.connect').filter(({status}) => status === 'SUCCESS').length > 1);
		t.false((await hub.run('memory.read_graph()')).isError);
	},
);

/** Starts the everything server over HTTP behind a proxy that records a request header. */
async function observedServer(t: ExecutionContext) {
	const port = await freePort();
	const args = [
		fileURLToPath(peerUrl('@modelcontextprotocol/server-everything/dist/index.js')),
		'streamableHttp',
	];
	await startListening(
		t,
		{command: process.execPath, args, env: {PORT: String(port)}},
		new RegExp(`(${port})`),
	);
	const seen: unknown[] = [];
	const proxy = createHttpServer((incoming, outgoing) => {
		seen.push(incoming.headers['x-api-key']);
		const {method, headers, url} = incoming;
		const forwarded = request({host: '127.0.0.1', port, method, headers, path: url}, response => {
			outgoing.writeHead(response.statusCode ?? 500, response.headers);
			response.pipe(outgoing);
		});
		forwarded.on('error', () => outgoing.destroy());
		incoming.pipe(forwarded);
	}).listen(0, '127.0.0.1');
	await new Promise(resolve => proxy.once('listening', resolve));
	t.teardown(() => {
		proxy.closeAllConnections();
		proxy.close();
	});
	return {url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`, seen};
}

test.serial(
	'spec 001, HTTP with headers: sends the configured headers with each request [HUB-21]',
	async t => {
		const {url, seen} = await observedServer(t);
		const hub = await startRealHub(t, () => ({
			servers: {remote: {url, headers: {'X-Api-Key': `$\{SPEC_KEY}`}}},
			env: {SPEC_KEY: 'a-secret'},
		}));
		t.is((await hub.run('remote.echo(message="over HTTP")')).text, 'Echo: over HTTP');
		t.like((await hub.run('proxy.list_servers()')).result, [{name: 'remote', type: 'http', connected: true}]);
		t.true(seen.length > 2);
		t.deepEqual([...new Set(seen)], ['a-secret']);
	},
);

test.serial(
	'spec 001, HTTPS required: upgrades http:// to https:// for another machine [HUB-22]',
	async t => {
		const firstBytes: number[] = [];
		const server = createServer(socket => {
			socket.on('error', () => {});
			socket.once('data', chunk => {
				firstBytes.push(chunk[0] ?? 0);
				socket.destroy();
			});
		}).listen(0);
		await new Promise(resolve => server.once('listening', resolve));
		t.teardown(() => server.close());
		const {port} = server.address() as AddressInfo;
		// A name that does not look like the local machine.
		const hub = await startRealHub(t, () => ({servers: {far: {url: `http://${hostname()}:${port}/mcp`}}}));
		await hub.tools();
		t.is(firstBytes[0], 0x16, 'the first byte is that of a TLS handshake');
	},
);
