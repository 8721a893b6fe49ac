/** Where a server listens. The host has no brackets. */
export type Listen = {readonly host: string; readonly port: number};

export const defaultListen: Listen = {host: '127.0.0.1', port: 7411};

/** Reads `HOST:PORT`, `[IPV6]:PORT`, or a port alone, which is one of this machine only. */
export function listenOf(given: unknown): Listen | undefined {
	if (typeof given !== 'string' && typeof given !== 'number') return;
	const text = /^\d+$/.test(String(given)) ? `${defaultListen.host}:${given}` : String(given);
	const [, ipv6, host = ipv6, port] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+)):(\d{1,5})$/i.exec(text) ?? [];
	if (host === undefined || Number(port) > 65_535) return;
	return {host, port: Number(port)};
}

/** A host and a port as one writes them. */
export const listenText = ({host, port}: Listen): string =>
	`${host.includes(':') ? `[${host}]` : host}:${port}`;
