import type {ExecutionContext} from 'ava';
import {LineClient} from './line-client.js';
import type {Command} from './peers.js';

/* Raw sessions with server-everything, which sends one line for each of these lines. */

const client = '"protocolVersion":"2025-11-25","clientInfo":{"name":"raw","version":"0"}';

function call(id: string, name: string, args: string): string {
	return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
}

/** Requests with a deterministic one-line response. */
export const requests: readonly string[] = [
	'{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
	'{"jsonrpc":"2.0","id":"1","method":"tools/list","params":{}}',
	'{"jsonrpc":"2.0","id":0,"method":"resources/list"}',
	'{"jsonrpc":"2.0","id":-7,"method":"resources/templates/list"}',
	// An id in the server's own spelling. Another spelling, such as "\\u00e9", differs: bridge returns the
	// client's spelling, the server its own.
	'{"jsonrpc":"2.0","id":"é ☃ \\"","method":"prompts/list"}',
	// Reordered members, spaces, an escaped slash, unusual number formats, unknown members.
	' { "params" : {"uri":"demo://resource/static/document/startup.md"}, "method":"resources\\/read","id" : 2 ,"jsonrpc":"2.0"}\t',
	'{"method":"ping","id":3,"params":{"_meta":{"x":[1.0,2e5,{"y":null}]}},"jsonrpc":"2.0"}',
	call('4', 'echo', '{"message":"raw \u2028 é ☃ \u{1d11e}"}'),
	call('5', 'echo', '{"message":"escaped \\u2028 \\u0000 \\ud834\\udd1e lone \\ud800 end \\/"}'),
	call('6', 'get-sum', '{"a":0.1,"b":0.2}'),
	call('7', 'get-sum', '{"a":1e21,"b":-0}'),
	call('8', 'get-structured-content', '{"location":"New York"}'),
	call('9', 'get-tiny-image', '{}'),
	call('10', 'echo', `{"message":"${'long '.repeat(100_000)}"}`),
	// Errors that the server creates.
	call('11', 'echo', '{}'),
	call('12', 'no-such-tool', '{}'),
	'{"jsonrpc":"2.0","id":13,"method":"no/such/method","params":{"a":[1,2]}}',
	'{"jsonrpc":"2.0","id":14,"method":"resources/read","params":{"uri":"demo://nowhere"}}',
	'{"jsonrpc":"2.0","id":15,"method":"tools/call","params":{"name":7}}',
	'{"jsonrpc":"2.0","id":16,"method":"prompts/get","params":{"name":"args-prompt","arguments":{"city":"Oslo"}}}',
	'{"jsonrpc":"2.0","id":17,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"E"}}}',
	'{"jsonrpc":"2.0","id":18,"method":"logging/setLevel","params":{"level":"error"}}',
];

/**
 * The handshake. The server follows the second line with `tools/list_changed`, since the client's
 * capabilities decide on its tools.
 */
export const opening: readonly string[] = [
	`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{${client},"capabilities":{}}}`,
	'{"jsonrpc":"2.0","method":"notifications/initialized"}',
];

/** Starts and initializes a server, and sends the lines, each after the response to the previous one. */
export async function converse(
	t: ExecutionContext,
	command: Command,
	lines: readonly string[],
): Promise<LineClient> {
	const lineClient = new LineClient(t, command);
	for (const [index, line] of [...opening, ...lines].entries()) {
		lineClient.write(`${line}\n`);
		await lineClient.received(index + 1);
	}

	return lineClient;
}
