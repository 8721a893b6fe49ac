// A small MCP server for the benchmark, on stdio, or on HTTP with a port: `node echo-server.js FOLDER
// [PORT]`. FOLDER is unused: it marks the processes of the bench.

import {randomUUID} from 'node:crypto';
import {createServer, type ServerResponse} from 'node:http';
import {responseTo} from './echo.js';

const NEWLINE = 10;

const onStdio = (): void => {
	let parts: Buffer[] = [];
	const takeLine = (end: Buffer): void => {
		const line = parts.length === 0 ? end.toString() : Buffer.concat([...parts, end]).toString();
		parts = [];
		const reply = line.length > 1 ? responseTo(line) : undefined;
		if (reply !== undefined) {
			process.stdout.write(reply);
		}
	};
	process.stdin.on('data', (chunk: Buffer) => {
		let from = 0;
		for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
			takeLine(chunk.subarray(from, end));
			from = end + 1;
		}
		if (from < chunk.length) {
			parts.push(chunk.subarray(from));
		}
	});
	process.stdin.on('end', () => process.exit(0));
};

const reply = (text: string, response: ServerResponse): void => {
	const line = responseTo(text);
	if (line === undefined) {
		response.writeHead(202, {'content-length': 0}).end();
		return;
	}
	const body = Buffer.from(line.slice(0, -1));
	const session = text.slice(0, 300).includes('"initialize"') ? {'mcp-session-id': randomUUID()} : {};
	response.writeHead(200, {'content-type': 'application/json', 'content-length': body.length, ...session});
	response.end(body);
};

const onHttp = (port: number): void => {
	const server = createServer((req, res) => {
		if (req.method !== 'POST') {
			res.writeHead(req.method === 'DELETE' ? 200 : 405, {'content-length': 0}).end();
			return;
		}
		const parts: Buffer[] = [];
		req.on('data', (chunk: Buffer) => parts.push(chunk));
		req.on('end', () => reply(Buffer.concat(parts).toString(), res));
	});
	server.keepAliveTimeout = 120_000;
	server.listen(port, '127.0.0.1');
	process.on('SIGTERM', () => process.exit(0));
};

const [, port] = process.argv.slice(2);
if (port === undefined) {
	onStdio();
} else {
	onHttp(Number(port));
}
