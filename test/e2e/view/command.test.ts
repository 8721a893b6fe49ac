import {once} from 'node:events';
import {appendFileSync, existsSync, readFileSync, writeFileSync} from 'node:fs';
import {request} from 'node:http';
import {type AddressInfo, createServer} from 'node:net';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {runBridge, startBridge} from '../../helpers/bridge.js';
import {program, startGateway} from '../../helpers/gateway.js';
import {peakMiB, until} from '../../helpers/program.js';
import {tempFolder} from '../../helpers/temp-folder.js';
import {back, eventLine, logFile, messageLine} from '../../view/logs.js';
import {startView} from '../../view/view.js';

const call = (id: number, text: string, line: number): string[] => [
	messageLine({id, method: 'tools/call', params: {name: 'echo', arguments: {text}}}, {line: 10 * line}),
	messageLine({id, result: {content: [{type: 'text', text}]}}, {...back, line: 10 * line + id}),
];
const session = [
	eventLine('open'),
	...call(1, 'one', 1),
	...call(2, 'a "quoted" Größe', 2),
	messageLine({id: 3, method: 'nothing'}, {line: 30}),
	messageLine({id: 3, error: {code: -32601, message: 'Method not found'}}, {...back, line: 31}),
];

test('lists messages with their latencies and shows each exactly as logged', async t => {
	const view = await startView(t, logFile(t, `${session.join('\n')}\n`));
	const {rows, total} = await view.found('', session.length);
	t.is(total, session.length);
	t.like(rows[0], {kind: 'event', method: 'open', title: 'client → files'});
	t.like(rows[1], {method: 'tools/call', title: 'echo', id: '1', latency: 1000, status: 'ok', pair: 2});
	t.like(rows[5], {method: 'nothing', status: 'error', server: 'files', isFromClient: true});
	t.like(rows[6], {method: 'nothing', title: '-32601 Method not found', status: 'error', pair: 5});
	t.is((await view.line(2)).text, session[2] ?? '');
	t.like(await view.state(), {
		rows: session.length,
		isAtEnd: true,
		methods: ['open', 'tools/call', 'nothing'],
	});
	for (const query of ['', '&show=requests', '&show=errors']) {
		const {stretches} = await view.latency(query);
		const sum = stretches.reduce((all, {count}) => all + count, 0);
		t.is(sum, query === '&show=errors' ? 1 : 3, query);
	}
});

test('filters by method, server, connection, errors and text, and exports the matches', async t => {
	const other = [
		eventLine('open', 'other'),
		messageLine({id: 1, method: 'ping'}, {conn: 'other', to: 'two'}),
	];
	const view = await startView(t, logFile(t, `${[...session, ...other].join('\n')}\n`));
	for (const [query, expected] of [
		['method=tools/call', [1, 2, 3, 4]],
		['server=files', [0, 1, 2, 3, 4, 5, 6, 7, 8]],
		['conn=other', [7, 8]],
		['show=errors', [6]],
		['show=requests', [1, 3, 5, 8]],
		['text=QUOTED', [3, 4]],
		[`text=${encodeURIComponent('"quoted" Größe')}`, [3, 4]],
		['text=client', [0, 7]],
		['text=one&show=requests', [1]],
	] as const) {
		const {rows} = await view.found(query, expected.length);
		t.deepEqual(
			rows.map(({row}) => row),
			expected,
			query,
		);
	}
	const saved = await view.fetch('/view/export?method=nothing');
	// The export includes the open event of the connection.
	t.is(await saved.text(), `${[session[0], session[5], session[6]].join('\n')}\n`);
	t.is(await (await view.fetch('/view/export?from=1&to=2')).text(), `${session.slice(0, 3).join('\n')}\n`);
});

test('shows lines as they are appended, and lines of all files of a folder', async t => {
	const file = logFile(t, `${session.slice(0, 2).join('\n')}\n`);
	const view = await startView(t, `@${file.replace(/\/[^/]*$/, '')}`);
	t.is((await view.found('', 2)).rows[1]?.status, 'open');
	appendFileSync(file, `${session.slice(2).join('\n')}\n{"time":`);
	t.is((await view.found('', session.length)).rows[1]?.status, 'ok');
	t.is((await view.state()).tailBytes, '{"time":'.length);
});

/** The status of a request with this Host header. */
const statusFor = (url: URL, host: string): Promise<number | undefined> =>
	new Promise(resolve => {
		request({port: url.port, path: '/view/rows', headers: {host}}, res => resolve(res.statusCode)).end();
	});

test('rejects requests without the token and requests for a foreign host', async t => {
	const view = await startView(t, logFile(t, `${session.join('\n')}\n`));
	const {origin} = view.url;
	for (const path of ['/view/rows', '/view/events', '/view/main.js', '/view/export'])
		t.is((await fetch(`${origin}${path}`)).status, 401, path);
	t.regex(await (await fetch(origin)).text(), /type="password"/);
	t.is((await fetch(`${origin}/?token=wrong`)).status, 401);
	t.is((await fetch(`${origin}/nothing`)).status, 404);
	t.is(await statusFor(view.url, 'evil.example'), 403);
	const page = await view.fetch('/');
	t.is(page.status, 200);
	t.regex(page.headers.get('content-security-policy') ?? '', /script-src 'self'.*require-trusted-types-for/);
	t.false(/<script(?![^>]*src=)|\son\w+=|style=/.test(await page.text()));
	t.is((await view.fetch('/view/rows', {method: 'POST'})).status, 405);
	t.is((await view.fetch('/view/..%2f..%2f..%2fpackage.json')).status, 404);
});

const nasty = '<script>alert(1)</script><img src=x onerror=alert(1)>\u001b]0;owned\u0007\u001b[2J\u202e';

test('handles a hostile log: markup and escapes in every field, a 50 MB message, a truncated last line', async t => {
	const hostile = JSON.stringify({
		time: nasty,
		ConnID: nasty,
		from: nasty,
		to: nasty,
		side: nasty,
		message: {jsonrpc: nasty, id: nasty, method: nasty, params: {name: nasty}, [nasty]: nasty},
	});
	const huge = messageLine({id: 1, result: {text: 'x'.repeat(50 * 2 ** 20)}}, back);
	const odd = ['[[[['.repeat(1000), '\0\0\0', '{"message":{"id":{}}}', '{"event":7,"data":[]}', '"'];
	const content = [hostile, huge, ...odd, messageLine({id: 2, method: 'ping'})].join('\n');
	const view = await startView(t, logFile(t, `${content}\n${huge.slice(0, 1000)}`));
	// A line of zero bytes counts as blank.
	const {rows} = await view.found('', odd.length + 2);
	t.is(rows[0]?.method, nasty);
	t.is(rows.at(-1)?.method, 'ping');
	t.is(rows[1]?.id, '1');
	const {isCut, bytes, text} = await view.line(1);
	t.true(isCut);
	t.is(bytes, huge.length);
	t.true(text.length < 4 * 2 ** 20);
	t.is((await (await view.fetch('/view/export?row=1')).text()).length, huge.length + 1);
	t.is((await view.found('text=xxxxx', 1)).total, 1);
	t.is((await view.fetch('/view/rows?from=1e99&count=-1&text=%00')).status, 400);
	t.is((await view.fetch('/view/line?row=99999')).status, 404);
	t.false(view.running.stderr.includes('\u001b'));
	t.true(peakMiB(view.running.pid) < 600);
});

test('bridge view --live shows that it is connecting until the gateway responds', async t => {
	const silent = createServer().listen(0, '127.0.0.1');
	t.teardown(() => silent.close());
	await once(silent, 'listening');
	const {port} = silent.address() as AddressInfo;
	const view = await startView(t, '--live', `http://127.0.0.1:${port}`);
	t.is((await view.state()).note, `Connecting to 127.0.0.1:${port}.`);
});

test('bridge view --live shows the live traffic of a gateway', async t => {
	const tokens = ['a-token-of-sixteen-characters'];
	const gateway = await startGateway(t, {tokens, servers: {puppet: program('puppet')}});
	const view = await startView(
		t,
		'--live',
		gateway.base.href,
		'--header',
		'X-Bridge-Token: a-token-of-sixteen-characters',
	);
	const headers = {'x-bridge-token': 'a-token-of-sixteen-characters'};
	await until(async () => (await view.state()).note === '');
	const client = await gateway.open('puppet', headers);
	await client.request(7, 'echo', {text: 'hello'});
	await until(async () => (await view.rows('method=echo')).total === 2);
	const {rows} = await view.rows('method=echo');
	t.like(rows[0], {server: 'puppet', id: '7', isFromClient: true, status: 'ok', version: '2025-11-25'});
	t.like(rows[1], {isFromClient: false, kind: 'result'});
	await gateway.stop();
	await until(async () => (await view.state()).note !== '');
	view.running.child.kill('SIGINT');
	t.is((await view.running.exited).code, 0);
});

test('the gateway serves the page at / behind its token, with live traffic while it is open', async t => {
	const gateway = await startGateway(t, {
		tokens: ['a-token-of-sixteen-characters'],
		servers: {puppet: program('puppet')},
	});
	t.regex((await gateway.fetch('/')).text, /type="password"/);
	for (const path of ['/view/rows', '/view/events', '/view/main.js'])
		t.is((await gateway.fetch(path)).status, 401, path);
	const body = new URLSearchParams({token: 'a-token-of-sixteen-characters'});
	const {headers} = await gateway.fetch('/', {method: 'POST', body, redirect: 'manual'});
	const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? '';
	const page = await gateway.fetch('/', {headers: {cookie}});
	t.regex(page.text, /<script type="module" src="\/view\/main.js">/);
	t.is((await gateway.fetch('/view/rows', {headers: {cookie}})).status, 409);
	const events = await fetch(new URL('/view/events', gateway.base), {headers: {cookie}});
	const client = await gateway.open('puppet', {'x-bridge-token': 'a-token-of-sixteen-characters'});
	await client.request(7, 'echo', {text: 'hello'});
	await until(async () => {
		const {text} = await gateway.fetch('/view/rows?count=9&method=echo', {headers: {cookie}});
		return JSON.parse(text).total === 2;
	});
	await events.body?.cancel();
	t.is(await gateway.stop(), 0);
});

test('reports one error with a remedy for input that cannot be shown [U-P1-18]', async t => {
	for (const [args, expected] of [
		[[], /bridge view needs a log/],
		[['/no/such/log'], /cannot be read/],
		[[tempFolder(t)], /There is no log file in/],
		[['/dev/stdin'], /read only once/],
		[['x', '--live', 'http://127.0.0.1:1/'], /Logs and --live exclude each other\. Use one of them\./],
		[['x', '--conn', 'y'], /--conn is not valid for bridge view/],
	] as const) {
		const {code, stderr} = await runBridge(['view', ...args]);
		t.is(code, 2);
		t.regex(stderr, expected);
	}
});

test('--open opens the page in the browser or reports why it cannot [U-P1-14]', async t => {
	const log = logFile(t, `${session.join('\n')}\n`);
	const folder = tempFolder(t);
	const opened = join(folder, 'opened');
	const env = {...process.env, PATH: folder};
	const without = startBridge(['view', log, '--open'], {env});
	t.teardown(() => without.child.kill('SIGKILL'));
	await without.says(
		/The browser could not be started: xdg-open is not installed\. Open the address above\./,
	);
	writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\necho "$1" > '${opened}'\n`, {mode: 0o755});
	const view = startBridge(['view', log, '--open'], {env});
	t.teardown(() => view.child.kill('SIGKILL'));
	await until(() => existsSync(opened) && readFileSync(opened, 'utf8').endsWith('\n'));
	await until(() => view.lines.length > 0);
	t.is(readFileSync(opened, 'utf8'), `${view.lines[0]}\n`);
});
