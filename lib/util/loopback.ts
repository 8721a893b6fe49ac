import {isIPv4} from 'node:net';

export const isLoopback = (host: string): boolean =>
	/^(?:localhost|\[?::1\]?)$/i.test(host) || (host.startsWith('127.') && isIPv4(host));
