import type {Answer} from './answer.js';

/** What calls a target. */
export interface Client {
	/** The target's process. */
	readonly pid: number;
	readonly startedAt: number;
	initialize(protocolVersion: string, ms: number): Promise<void>;
	request(method: string, params: unknown, ms: number): Promise<Answer>;
	/** A tools/call whose arguments are JSON text already; the caller sets the time limit, for a whole slice. */
	call(tool: string, argumentsJson: string): Promise<Answer>;
	/** Ends the target. */
	close(): Promise<void>;
}

/** What a client says of itself. */
export const initializeParams = (protocolVersion: string): unknown => ({
	protocolVersion,
	capabilities: {},
	clientInfo: {name: 'bridge-bench', version: '1.0.0'},
});

/** A tools/call as text. */
export const callText = (id: number, tool: string, argumentsJson: string): string =>
	`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${tool}","arguments":${argumentsJson}}}`;

export const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

export const withTimeout = async <T>(work: Promise<T>, ms: number, what: string): Promise<T> => {
	let timer: NodeJS.Timeout | undefined;
	const limit = new Promise<never>((_resolve, reject) => {
		timer = setTimeout(() => reject(new Error(`no end of ${what} within ${ms} ms`)), ms);
	});
	try {
		return await Promise.race([work, limit]);
	} finally {
		clearTimeout(timer);
	}
};
