import {isIPv4} from 'node:net';

/** Whether the host of a URL or listen address is a loopback address. */
export const isLoopback = (host: string): boolean =>
	/^(?:localhost|\[?::1\]?)$/i.test(host) || (host.startsWith('127.') && isIPv4(host));
