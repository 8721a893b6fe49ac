import type {CallResult} from './response.js';

/** A client of a target. */
export interface Client {
	/** The pid of the target. */
	readonly pid: number;
	readonly startedAt: number;
	initialize(protocolVersion: string, ms: number): Promise<void>;
	request(method: string, params: unknown, ms: number): Promise<CallResult>;
	/** Makes a tools/call whose arguments are JSON text. The caller limits the time of the whole slice. */
	call(tool: string, argumentsJson: string): Promise<CallResult>;
	/** Stops the target. */
	close(): Promise<void>;
}

/** The params of initialize. */
export const initializeParams = (protocolVersion: string): unknown => ({
	protocolVersion,
	capabilities: {},
	clientInfo: {name: 'bridge-bench', version: '1.0.0'},
});

export const callText = (id: number, tool: string, argumentsJson: string): string =>
	`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${tool}","arguments":${argumentsJson}}}`;

export const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

export const withTimeout = async <T>(work: Promise<T>, ms: number, what: string): Promise<T> => {
	let timer: NodeJS.Timeout | undefined;
	const limit = new Promise<never>((_resolve, reject) => {
		timer = setTimeout(() => reject(new Error(`${what} did not finish within ${ms} ms`)), ms);
	});
	try {
		return await Promise.race([work, limit]);
	} finally {
		clearTimeout(timer);
	}
};
