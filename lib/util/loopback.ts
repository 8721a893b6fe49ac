import {isIPv4} from 'node:net';

/** Whether a host, as URLs and listen addresses name it, is this machine and cannot be reached from another. */
export const isLoopback = (host: string): boolean =>
	/^(?:localhost|\[?::1\]?)$/i.test(host) || (host.startsWith('127.') && isIPv4(host));
