/** A response. Small messages are parsed; of big ones only the id and the size are read. */
export interface CallResult {
	ok: boolean;
	size: number;
	result?: unknown;
	why?: string;
}
interface Message {
	id?: number;
	method?: string;
	result?: {isError?: boolean; content?: unknown[]};
	error?: {message?: string};
}

const BIG = 65_536;
const EDGE = 400;
const ID = /"id"\s*:\s*(\d+)/;

/** Reads a message from its chunks: the id, if it is a response, and the result. */
export const readResponse = (parts: Buffer[], size: number): [number | undefined, CallResult] =>
	size > BIG ? readBig(parts, size) : readSmall(parts, size);

// Returns the first or last bytes of a message, without joining all chunks.
const edge = (parts: Buffer[], from: 'start' | 'end'): string => {
	let text = '';
	for (let step = 0; step < parts.length && text.length < EDGE; step++) {
		const part = parts[from === 'start' ? step : parts.length - 1 - step] ?? Buffer.alloc(0);
		text =
			from === 'start'
				? text + part.toString('latin1', 0, EDGE)
				: part.toString('latin1', Math.max(0, part.length - EDGE)) + text;
	}
	return text;
};

const readBig = (parts: Buffer[], size: number): [number | undefined, CallResult] => {
	const start = edge(parts, 'start');
	const end = edge(parts, 'end');
	// Proxies put the id first or last.
	const id = ID.exec(start) ?? ID.exec(end.slice(-EDGE));
	const ok = !/"error"\s*:\s*\{|"isError"\s*:\s*true/.test(start + end.slice(-EDGE));
	return [id === null ? undefined : Number(id[1]), {ok, size, ...(ok ? {} : {why: start.slice(0, 200)})}];
};

const readSmall = (parts: Buffer[], size: number): [number | undefined, CallResult] => {
	const text = (parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts)).toString();
	let message: Message;
	try {
		message = JSON.parse(text) as Message;
	} catch {
		// Not a response: a banner or a log line on stdout.
		return [undefined, {ok: false, size}];
	}
	if (message.method !== undefined) {
		return [undefined, {ok: true, size}];
	}
	const ok = message.error === undefined && message.result !== undefined && message.result.isError !== true;
	return [message.id, {ok, size, result: message.result, ...(ok ? {} : {why: text.slice(0, 200)})}];
};
