// A stand-in for the gateway with one injected fault: SOAK_FAULT=NAME node fake-gateway.js gateway --config FILE
// The soak must detect each of them.

import {spawn} from 'node:child_process';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {dirname} from 'node:path';
import process from 'node:process';
import {WebSocketServer} from 'ws';
import type {Message} from './exchange.js';

/** The number of the call that gets a wrong response. */
const FAULTY_CALL = 3;
const fault = process.env.SOAK_FAULT ?? '';
const folder = dirname(process.argv[process.argv.indexOf('--config') + 1] ?? '');
let calls = 0;

type Params = {readonly arguments: {readonly payload?: string; readonly command?: string}};

/** The text that an honest client expects. */
function textFor({arguments: {payload, command = ''}}: Params): string {
	return payload ?? String(JSON.parse(/payload=(".*")\)/.exec(command)?.[1] ?? '""'));
}

/** The responses to a message: one for a request, unless it is the faulty call. */
function responsesTo({id, method, params}: Message): Message[] {
	if (id === undefined) return [];
	const respond = (result: object, ownId = id): Message => ({jsonrpc: '2.0', id: ownId, result});
	if (method === 'initialize')
		return [respond({...(params as object), serverInfo: {name: 'fake', version: '1'}})];
	const text = textFor(params as Params);
	const right = respond({content: [{type: 'text', text}]});
	if (++calls !== FAULTY_CALL) return [right];
	if (fault === 'exit') process.exit(1);
	const faults: {readonly [name: string]: readonly Message[]} = {
		lost: [],
		twice: [right, right],
		'another result': [respond({content: [{type: 'text', text: `${text}!`}]})],
		'another id': [respond({content: [{type: 'text', text}]}, 'other')],
		error: [{jsonrpc: '2.0', id, error: {code: -31003, message: 'Busy'}}],
	};
	return [...(faults[fault] ?? [right])];
}

const streams = new Map<string, ServerResponse>();
const asEvents = (messages: readonly Message[]): string =>
	messages.map(message => `event: message\ndata: ${JSON.stringify(message)}\n\n`).join('');

async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
	let body = '';
	for await (const chunk of request.setEncoding('utf8')) body += chunk;
	const message = JSON.parse(body) as Message;
	const stream = streams.get(request.url ?? '');
	const responses = responsesTo(message);
	if (stream) stream.write(asEvents(responses));
	if (stream || message.id === undefined) response.writeHead(202).end();
	else if (responses.length > 0)
		response
			.writeHead(200, {'content-type': 'text/event-stream', 'mcp-session-id': 'fake'})
			.end(asEvents(responses));
}

const server = createServer((request, response) => {
	if (request.method === 'POST') return void post(request, response);
	const path = `/message/${streams.size}`;
	streams.set(path, response);
	response.writeHead(200, {'content-type': 'text/event-stream'}).write(`event: endpoint\ndata: ${path}\n\n`);
});
new WebSocketServer({server}).on('connection', socket => {
	socket.on('message', data => {
		for (const message of responsesTo(JSON.parse(String(data)) as Message))
			socket.send(JSON.stringify(message));
	});
});
if (fault === 'left behind') {
	const waits = 'setTimeout(() => {}, 600_000)';
	spawn(process.execPath, ['-e', waits, folder], {detached: true, stdio: 'ignore'}).unref();
}
process.on('SIGTERM', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
	process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
