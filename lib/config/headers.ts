/** Whether a text may be the name of a header. */
export const isHeaderName = (text: string): boolean => /^[!#$%&'*+.^_`|~\w-]{1,256}$/.test(text);

/** Whether a text may be the value of a header: no line breaks, which would begin another header, and no NUL. */
export const isHeaderValue = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text);

/** Headers, in lower case, that belong to a connection or a session, so that nobody can configure them. */
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
