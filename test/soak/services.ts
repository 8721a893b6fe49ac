import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {programPath} from '../../bench/paths.js';

/** Tokens of the gateway: hostile clients are another principal than honest ones. */
export const HONEST_TOKEN = 'token-of-the-honest-clients';
export const HOSTILE_TOKEN = 'token-of-the-hostile-clients';

/** How clients connect. */
export const TRANSPORTS = ['http', 'sse', 'ws', 'modern'] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** The upstreams of honest clients, with their share of 45. `hub` is all of them at /mcp. */
const SHARES = {remote: 15, shared: 13, own: 5, 'dies-shared': 6, 'dies-own': 2, hub: 4} as const;
export type ServiceName = keyof typeof SHARES;

const SLOTS = Object.entries(SHARES).flatMap(([name, count]) =>
	Array<ServiceName>(count).fill(name as ServiceName),
);
/** Coprime to the number of slots, so that few clients use many upstreams. */
const STRIDE = 7;

/** The transport and the upstream of an honest client. */
export function roleOf(client: number): {readonly transport: Transport; readonly service: ServiceName} {
	const slot = Math.floor(client / TRANSPORTS.length) * STRIDE;
	return {
		transport: TRANSPORTS[client % TRANSPORTS.length] ?? 'http',
		service: SLOTS[slot % SLOTS.length] ?? 'remote',
	};
}

/** Whether the processes of this upstream exit at random. */
export const isMortal = (service: ServiceName): boolean => service.startsWith('dies-');

/**
 * An MCP server in a few lines of shell. It starts fast enough for a storm of sessions with a process each. The id may be
 * anywhere in the message. The doubled dollar is an escape of the configuration.
 */
const SHELL_SERVER = `while read -r line; do case $line in *'"id":'*)
id=$\${line#*'"id":'}; id=$\${id%%[,\\}]*}
printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"light","version":"1"}}}\\n' "$id"
esac; done`;

type Config = {readonly [key: string]: unknown};

/** The configuration of the gateway. The folder is on each command line: processes are found by it. */
export function configOf(folder: string, seed: number, upstreamPort: number): Config {
	const node = (file: string, ...args: string[]): Config => ({
		command: process.execPath,
		args: [file, folder, ...args],
	});
	const echo = programPath('echo-server');
	const server = fileURLToPath(new URL('server.js', import.meta.url));
	const mortal = (oneIn: number): Config => node(server, `--seed=${seed}`, `--exit-one-in=${oneIn}`);
	return {
		listen: '127.0.0.1:0',
		tokens: [HONEST_TOKEN, HOSTILE_TOKEN],
		expose: 'both',
		// Long enough for an honest program on a slow machine, short enough for hostile ones to take turns.
		runTimeout: '40s',
		servers: {
			remote: {url: `http://127.0.0.1:${upstreamPort}/mcp`},
			shared: {...node(echo), shared: true},
			own: node(echo),
			// A shared process gets the requests of many clients.
			'dies-shared': {...mortal(800), shared: true},
			'dies-own': mortal(60),
			light: {command: 'sh', args: ['-c', SHELL_SERVER, folder]},
			trap: {...node(server, '--trap'), shared: true},
		},
	};
}
