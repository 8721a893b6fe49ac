/** The address that a server listens on. The host has no brackets. */
export type ListenAddress = {
	readonly host: string;
	readonly port: number;
	/** The path of a Unix socket, which replaces host and port. */
	readonly path?: string;
};

/** The longest path of a Unix socket that all supported systems accept. */
const MAX_PATH_BYTES = 103;

export const defaultListenAddress: ListenAddress = {host: '127.0.0.1', port: 7411};

/** Parses `HOST:PORT`, `[IPV6]:PORT`, `unix:/PATH`, or a port alone, which means the loopback address. */
export function parseListenAddress(input: unknown): ListenAddress | undefined {
	if (typeof input !== 'string' && typeof input !== 'number') return;
	if (String(input).startsWith('unix:')) return parseSocketPath(String(input).slice('unix:'.length));
	const text = /^\d+$/.test(String(input)) ? `${defaultListenAddress.host}:${input}` : String(input);
	const [, ipv6, host = ipv6, port] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+)):(\d{1,5})$/i.exec(text) ?? [];
	if (host === undefined || Number(port) > 65_535) return;
	return {host, port: Number(port)};
}

function parseSocketPath(path: string): ListenAddress | undefined {
	if (!path.startsWith('/') || path.includes('\0') || Buffer.byteLength(path) > MAX_PATH_BYTES) return;
	return {host: 'localhost', port: 0, path};
}

/** Formats an address in the syntax of the configuration. */
export const formatListenAddress = ({host, port, path}: ListenAddress): string =>
	path === undefined ? `${host.includes(':') ? `[${host}]` : host}:${port}` : `unix:${path}`;
