import {createConnection} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import fc from 'fast-check';
import {mailPlace} from '../e2e/mail-turns/place.js';
import {startRaw} from '../e2e/raw/support.js';
import {startServe} from '../e2e/serve/support.js';
import type {Running} from '../helpers/bridge.js';
import {program, startGateway} from '../helpers/gateway.js';
import {start} from '../helpers/program.js';
import {back, eventLine, logFile, messageLine} from '../view/logs.js';
import {startView} from '../view/view.js';

type Server = {
	readonly running: Running;
	readonly port: number;
	/** A valid target, to check that the server still responds. */
	readonly known: string;
	/** A header that gives access to more routes. */
	readonly header?: string;
};

const recorded = [
	eventLine('open'),
	messageLine({id: 1, method: 'ping'}, {line: 1}),
	messageLine({id: 1, result: {}}, {...back, line: 2}),
].join('\n');

const portIn = (text: string): number => Number(/:(\d+)\b/.exec(text)?.[1]);

const servers: {readonly [name: string]: (t: ExecutionContext) => Promise<Server>} = {
	async gateway(t) {
		const {running, port} = await startGateway(t, {servers: {puppet: program('puppet')}});
		return {running, port, known: '/status'};
	},
	async view(t) {
		const {running, url} = await startView(t, logFile(t, `${recorded}\n`));
		const header = `X-Bridge-Token: ${url.searchParams.get('token')}`;
		return {running, port: Number(url.port), known: '/view/rows', header};
	},
	async 'control server of raw'(t) {
		const {running, endpoint} = await startRaw(t, ['--mcp-port', '0']);
		return {running, port: portIn(endpoint), known: '/mcp'};
	},
	async 'metrics server of serve'(t) {
		const {running} = await startServe(t, await mailPlace(t, 'app-server', 'metrics_port = 0'));
		const [, url = ''] = await running.says(/"url":"(http:[^"]*)"/);
		return {running, port: portIn(url), known: '/metrics'};
	},
	async 'replay server'(t) {
		const log = logFile(t, `${recorded}\n`);
		const running = start(t, ['replay', log, '--serve', '--listen', '127.0.0.1:0']);
		const [line = ''] = await running.hasLines(1);
		return {running, port: portIn(line), known: '/status'};
	},
};

/** Sends a request with exactly this target, and resolves to the start of the response. */
const send = ({port, header}: Server, method: string, target: string, more = ''): Promise<string> =>
	new Promise(resolve => {
		const socket = createConnection(port, '127.0.0.1');
		const lines = [`${method} ${target} HTTP/1.1`, 'Host: localhost', ...(header ? [header] : [])];
		const end = (text: string): void => {
			socket.destroy();
			resolve(text);
		};
		socket.on('error', () => end(''));
		socket.on('close', () => end(''));
		socket.on('data', chunk => end(chunk.toString('latin1')));
		socket.write(`${lines.join('\r\n')}\r\n${more}\r\n`, 'latin1');
	});

const UPGRADE = [
	'Connection: Upgrade',
	'Upgrade: websocket',
	'Sec-WebSocket-Version: 13',
	'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
	'',
].join('\r\n');

const begins = [
	'/',
	'//',
	'/\\',
	'/\\[',
	'/\\\\',
	'\\',
	'*',
	'',
	'?',
	'#',
	'http://[',
	'/:',
	'/@',
	'/%',
	'/%zz',
];
const paths = [
	'/view/',
	'/view/rows?',
	'/view/line?row=',
	'/view/place?row=',
	'/view/latency?parts=',
	'/mcp',
];
const more = ['/mcp/', '/mcp?', '/mcp/puppet/message?sessionId=', '/?token=', '/metrics', '/healthz', '/../'];
const wild = fc
	.array(
		fc.oneof(fc.constantFrom(...'\\[]{}|^`%:@/?#&=.-\u0000\t\u00ff'), fc.string({unit: 'binary-ascii'})),
		{
			maxLength: 12,
		},
	)
	.map(parts => parts.join(''));
const target = fc.tuple(fc.constantFrom(...begins, ...paths, ...more), wild).map(parts => parts.join(''));

for (const [name, begin] of Object.entries(servers)) {
	test(`no request target crashes the ${name} [SEC-D13]`, async t => {
		const server = await begin(t);
		const methods = ['GET', 'POST', 'DELETE', 'HEAD'];
		await fc.assert(
			fc.asyncProperty(
				fc.array(target, {maxLength: 8}),
				fc.constantFrom(...methods),
				async (targets, method) => {
					await Promise.all(targets.map(one => send(server, method, one)));
					await Promise.all(targets.map(one => send(server, 'GET', one, UPGRADE)));
					return server.running.child.exitCode === null;
				},
			),
			{numRuns: 40},
		);
		t.regex(await send(server, 'GET', server.known), /^HTTP\/1\.1 (?:200|405) /);
		t.notRegex(server.running.stderr, /bug in bridge/);
	});

	test(`the ${name} rejects a target with a backslash [SEC-D13]`, async t => {
		const server = await begin(t);
		for (const one of ['/\\[', '/view/\\[', '/mcp\\', '/\\\\'])
			t.regex(await send(server, 'GET', one), /^HTTP\/1\.1 400 /, one);
		t.regex(await send(server, 'GET', server.known), /^HTTP\/1\.1 (?:200|405) /);
	});
}
