import {printable, shortened} from '../util/printable.js';

const reasonsByCode = new Map([
	['ECONNREFUSED', 'the connection was refused'],
	['ENOTFOUND', 'there is no such host'],
	['EAI_AGAIN', 'its name cannot be looked up now'],
	['ECONNRESET', 'the connection was reset'],
	['EPIPE', 'the connection was closed'],
	['EHOSTUNREACH', 'there is no way to its host'],
	['ENETUNREACH', 'there is no way to its network'],
	['ETIMEDOUT', 'it does not take connections'],
	['UND_ERR_SOCKET', 'the connection was closed'],
	['UND_ERR_CONNECT_TIMEOUT', 'it does not take connections'],
	['UND_ERR_HEADERS_OVERFLOW', 'its headers are too long'],
	['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
]);

/** Why a server cannot be heard, for people. Nothing of it tells where the server is: clients need not know. */
export function networkErrorReason(error: NodeJS.ErrnoException): string {
	const {code = '', message, syscall} = error;
	const known = reasonsByCode.get(code);
	if (known !== undefined) return known;
	if (code.startsWith('HPE_')) return 'what it says is no HTTP';
	// What the system says of a call has the address in it.
	return syscall === undefined ? printable(shortened(message)) : `the connection failed (${code})`;
}
