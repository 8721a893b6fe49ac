export const isHeaderName = (text: string): boolean => /^[!#$%&'*+.^_`|~\w-]{1,256}$/.test(text);

/**
 * Returns whether a text is a valid header value. Rejects line breaks, which would start another header, and
 * NUL.
 */
export const isHeaderValue = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text);

/** Headers, in lower case, that belong to a connection or a session and cannot be configured. */
export const reservedHeaders: ReadonlySet<string> = new Set([
	'connection',
	'content-length',
	'expect',
	'host',
	'keep-alive',
	'proxy-connection',
	'te',
	'trailer',
	'transfer-encoding',
	'upgrade',
	'mcp-session-id',
	'mcp-protocol-version',
	'x-bridge-token',
]);
