// The limit between stdio and HTTP: posts each line, and writes each response as a line. Usage: `node
// stdio-to-http.js FOLDER URL`.

import {Agent, type IncomingMessage, request} from 'node:http';

const [, url = ''] = process.argv.slice(2);
const {hostname: host, port, pathname: path} = new URL(url);
const agent = new Agent({keepAlive: true, maxSockets: 128});
const NEWLINE = 10;
let session: string | undefined;
let parts: Buffer[] = [];

const handleResponse = (response: IncomingMessage): void => {
	const body: Buffer[] = [];
	session ??= response.headers['mcp-session-id'] as string | undefined;
	response.on('data', (chunk: Buffer) => body.push(chunk));
	response.on('end', () => {
		if (body.length > 0) {
			process.stdout.write(Buffer.concat([...body, Buffer.from('\n')]));
		}
	});
};

const post = (line: Buffer): void => {
	const headers = {
		'content-type': 'application/json',
		accept: 'application/json, text/event-stream',
		'content-length': line.length,
		...(session === undefined ? {} : {'mcp-session-id': session}),
	};
	request({host, port, path, method: 'POST', headers, agent}, handleResponse).end(line);
};

process.stdin.on('data', (chunk: Buffer) => {
	let from = 0;
	for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
		const last = chunk.subarray(from, end);
		post(parts.length === 0 ? last : Buffer.concat([...parts, last]));
		parts = [];
		from = end + 1;
	}
	if (from < chunk.length) {
		parts.push(chunk.subarray(from));
	}
});
process.stdin.on('end', () => process.exit(0));
