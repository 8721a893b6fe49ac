// The limit between HTTP and stdio: one child for all clients, no checks, only ids are rewritten. Usage:
// `node http-to-stdio.js FOLDER PORT -- SERVER ARGS…`.

import {spawn} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';

const [, port = ''] = process.argv.slice(2);
const [command = '', ...args] = process.argv.slice(process.argv.indexOf('--') + 1);
const child = spawn(command, args, {stdio: ['pipe', 'pipe', 'inherit']});
child.on('exit', code => process.exit(code ?? 1));
process.on('SIGTERM', () => {
	child.kill();
	process.exit(0);
});

const NEWLINE = 10;
const HEAD = 300;
const ID = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/;
const pending = new Map<string, {response: ServerResponse; id: string; session: string | undefined}>();
let lastId = 0;
let parts: Buffer[] = [];

/** Replaces the id of a message. Returns the new message and the old id, or undefined without an id. */
const exchangeId = (line: Buffer, to: (id: string) => string | undefined): Buffer[] | undefined => {
	const head = line.toString('latin1', 0, HEAD);
	const found = ID.exec(head);
	const id = found?.[1] === undefined ? undefined : to(found[1]);
	if (found === null || id === undefined) {
		return undefined;
	}
	const start = Buffer.from(`${head.slice(0, found.index)}"id":${id}`, 'latin1');
	return [start, line.subarray(found.index + found[0].length)];
};

const respond = (line: Buffer): void => {
	let key = '';
	const message = exchangeId(line, id => {
		key = id;
		return pending.get(id)?.id;
	});
	const waiting = pending.get(key);
	if (message === undefined || waiting === undefined) {
		return;
	}
	pending.delete(key);
	const length = message.reduce((sum, part) => sum + part.length, 0);
	const session = waiting.session === undefined ? {} : {'mcp-session-id': waiting.session};
	waiting.response.writeHead(200, {'content-type': 'application/json', 'content-length': length, ...session});
	waiting.response.write(message[0]);
	waiting.response.end(message[1]);
};

child.stdout.on('data', (chunk: Buffer) => {
	let from = 0;
	for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
		const last = chunk.subarray(from, end);
		respond(parts.length === 0 ? last : Buffer.concat([...parts, last]));
		parts = [];
		from = end + 1;
	}
	if (from < chunk.length) {
		parts.push(chunk.subarray(from));
	}
});

const forward = (body: Buffer, response: ServerResponse): void => {
	const message = exchangeId(body, id => {
		const session = body.subarray(0, HEAD).includes('"initialize"') ? randomUUID() : undefined;
		pending.set(String(++lastId), {response, id, session});
		return String(lastId);
	});
	child.stdin.cork();
	for (const part of message ?? [body]) {
		child.stdin.write(part);
	}
	child.stdin.write('\n');
	child.stdin.uncork();
	if (message === undefined) {
		response.writeHead(202, {'content-length': 0}).end();
	}
};

const server = createServer((req: IncomingMessage, res: ServerResponse) => {
	const body: Buffer[] = [];
	req.on('data', (chunk: Buffer) => body.push(chunk));
	req.on('end', () => forward(body.length === 1 && body[0] ? body[0] : Buffer.concat(body), res));
});
server.keepAliveTimeout = 120_000;
server.listen(Number(port), '127.0.0.1');
