import {printable, shortened} from '../util/printable.js';

const reasonsByCode = new Map([
	['ECONNREFUSED', 'the connection was refused'],
	['ENOTFOUND', 'the host was not found'],
	['EAI_AGAIN', 'the host name cannot be resolved at present'],
	['ECONNRESET', 'the connection was reset'],
	['EPIPE', 'the connection was closed'],
	['EHOSTUNREACH', 'the host is unreachable'],
	['ENETUNREACH', 'the network is unreachable'],
	['ETIMEDOUT', 'the connection timed out'],
	['UND_ERR_SOCKET', 'the connection was closed'],
	['UND_ERR_CONNECT_TIMEOUT', 'the connection timed out'],
	['UND_ERR_HEADERS_OVERFLOW', 'its response headers are too large'],
	['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
]);

/**
 * Returns the reason for a network error, for people. It never contains the address of the upstream, which
 * clients must not see.
 */
export function networkErrorReason(error: NodeJS.ErrnoException): string {
	const {code = '', message, syscall} = error;
	const reason = reasonsByCode.get(code);
	if (reason !== undefined) return reason;
	if (code.startsWith('HPE_')) return 'its response is not valid HTTP';
	// Messages of failed system calls contain the address.
	return syscall === undefined ? printable(shortened(message)) : `the connection failed (${code})`;
}
