// The responses of the benchmark's server. It does as little as possible, so that the proxy dominates the
// measurement. Tools: echo (payload → the same text) and blob (bytes → a text of that size).

interface Request {
	id?: number | string;
	method?: string;
	params?: {name?: string; arguments?: {payload?: string; bytes?: number}; protocolVersion?: string};
}

const BIG = 65_536;
const MAX_BLOB = 64_000_000;
const SAMPLE_LINE = 'A tool said "yes" to line 42, then cost = 12.5% of the day; that was all.\\n';

const tool = (name: string, property: string, type: string): unknown => ({
	name,
	description: `Benchmark tool ${name}`,
	inputSchema: {type: 'object', properties: {[property]: {type}}, required: [property]},
});
const TOOLS = JSON.stringify({tools: [tool('echo', 'payload', 'string'), tool('blob', 'bytes', 'number')]});

// Blobs are cached as JSON text by size, since the work of a real server is not measured.
const blobs = new Map<number, string>();
const blobJson = (bytes: number): string => {
	const size = Math.min(Math.max(0, bytes), MAX_BLOB);
	let text = blobs.get(size);
	if (text === undefined) {
		const quoted = SAMPLE_LINE.replaceAll('"', '\\"');
		text = `"${quoted.repeat(Math.ceil(size / quoted.length))}"`;
		blobs.set(size, text);
	}
	return text;
};

const response = (id: unknown, resultJson: string): string =>
	`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultJson}}\n`;
const errorResponse = (id: unknown, code: number, message: string): string =>
	`${JSON.stringify({jsonrpc: '2.0', id, error: {code, message}})}\n`;
const textResult = (textJson: string): string => `{"content":[{"type":"text","text":${textJson}}]}`;

// Reads only the id and the payload of a big echo call, so that parsing does not hide the cost of the proxy.
const bigEcho = (line: string): string | undefined => {
	const start = line.indexOf('"payload":"') + '"payload":'.length;
	const end = line.lastIndexOf('"}');
	const id = /"id":("[^"]*"|\d+)/.exec(line.slice(0, 300)) ?? /"id":("[^"]*"|\d+)/.exec(line.slice(-300));
	const idText = id?.[1];
	if (idText === undefined || start < 11 || end < start) {
		return undefined;
	}
	return response(JSON.parse(idText), textResult(line.slice(start, end + 1)));
};

const callTool = (message: Request): string => {
	const args = message.params?.arguments;
	switch (message.params?.name) {
		case 'echo':
			return response(message.id, textResult(JSON.stringify(args?.payload ?? '')));
		case 'blob':
			return response(message.id, textResult(blobJson(args?.bytes ?? 0)));
		default:
			return errorResponse(message.id, -32_602, 'Unknown tool');
	}
};

/** The response to a message as a line, or undefined for notifications. */
export const responseTo = (line: string): string | undefined => {
	const fast = line.length > BIG ? bigEcho(line) : undefined;
	if (fast !== undefined) {
		return fast;
	}
	const message = JSON.parse(line) as Request;
	if (message.id === undefined || message.method === undefined) {
		return undefined;
	}
	switch (message.method) {
		case 'initialize':
			return response(
				message.id,
				JSON.stringify({
					protocolVersion: message.params?.protocolVersion ?? '2025-06-18',
					capabilities: {tools: {}},
					serverInfo: {name: 'bench-echo', version: '1.0.0'},
				}),
			);
		case 'tools/call':
			return callTool(message);
		case 'tools/list':
			return response(message.id, TOOLS);
		case 'ping':
			return response(message.id, '{}');
		default:
			return errorResponse(message.id, -32_601, 'Method not found');
	}
};
