import {isJsonMembers, type JsonMembers, stringifyJsonSource} from './json.js';

/** A recorded request of a client. */
type RecordedRequest = {
	readonly message: unknown;
	/** The name of its server in the log. */
	readonly server: string;
	/** The negotiated protocol version, or an empty string. */
	readonly version: string;
};

/** The name of the endpoint for all servers in the log of a gateway. */
const ALL_SERVERS = 'all servers';
const NEWEST_HANDSHAKE = '2025-11-25';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** Parameters that stateless requests repeat in a header. */
const nameParams: {readonly [method: string]: string} = {
	'tools/call': 'name',
	'prompts/get': 'name',
	'resources/read': 'uri',
};

/** Quotes a text for a POSIX shell. */
const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Serializes JSON as one line of ASCII. */
const asciiJsonLine = (message: unknown): string =>
	stringifyJsonSource(message)
		.replace(/\n */g, '')
		.replace(/[\u007f-\uffff]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Encodes a text for an HTTP header. */
function headerText(text: string): string {
	if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?')) return text;
	return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;
}

const paramsOf = (message: unknown): JsonMembers => {
	const params = isJsonMembers(message) ? message.params : undefined;
	return isJsonMembers(params) ? params : {};
};

/** The protocol version in a stateless request. */
function statelessVersion(message: unknown): string | undefined {
	const {_meta} = paramsOf(message);
	const version = isJsonMembers(_meta) ? _meta[VERSION_KEY] : undefined;
	return typeof version === 'string' && /^[\w.-]{1,32}$/.test(version) ? version : undefined;
}

const isInitialize = (message: unknown): boolean => isJsonMembers(message) && message.method === 'initialize';

const initializeRequest = (version: string): string =>
	asciiJsonLine({
		jsonrpc: '2.0',
		id: 'initialize',
		method: 'initialize',
		params: {
			protocolVersion: /^\d{4}-\d\d-\d\d$/.test(version) ? version : NEWEST_HANDSHAKE,
			capabilities: {},
			clientInfo: {name: 'curl', version: '1'},
		},
	});

const redactionNotes = (message: unknown): string[] =>
	asciiJsonLine(message).includes('"[redacted]"')
		? ['# Secrets are redacted in the log: replace each "[redacted]".']
		: [];

/** A message as standard input of a command. JSON cannot contain the line END. */
const hereDocument = (json: string): string => `--data-binary @- <<'END'\n${json}\nEND`;

/**
 * A shell script that sends a request with curl to the gateway where it was recorded. It includes the
 * handshake and the end of the session, unless the request needs none.
 */
export function curlScript({message, server, version}: RecordedRequest, gateway: string): string {
	const path = server === ALL_SERVERS ? '/mcp' : `/mcp/${/^[\w-]{1,64}$/.test(server) ? server : 'SERVICE'}`;
	const json = asciiJsonLine(message);
	const statelessRequestVersion = statelessVersion(message);
	return [
		'#!/bin/sh',
		`# Sends one request to ${path}. Set BRIDGE_TOKEN if the gateway requires a token.`,
		...redactionNotes(message),
		`url=${shellQuote(`${gateway}${path}`)}`,
		"set -- -sS -H 'content-type: application/json' -H 'accept: application/json, text/event-stream'",
		// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
		'[ -z "${BRIDGE_TOKEN-}" ] || set -- "$@" -H "x-bridge-token: $BRIDGE_TOKEN"',
		...(statelessRequestVersion === undefined
			? []
			: [`set -- "$@" ${statelessHeaders(message, statelessRequestVersion)}`]),
		...(statelessRequestVersion === undefined && !isInitialize(message) ? handshakeLines(version) : []),
		`curl "$@" "$url" ${hereDocument(json)}`,
		...(statelessRequestVersion === undefined && !isInitialize(message)
			? ['curl "$@" -o /dev/null -X DELETE "$url"']
			: []),
		'',
	].join('\n');
}

/** The lines that start the session of the request. */
const handshakeLines = (version: string): string[] => [
	`session=$(curl "$@" -D - -o /dev/null "$url" ${hereDocument(initializeRequest(version))}`,
	')',
	"session=$(printf '%s' \"$session\" | tr -d '\\r' | awk -F ': *' 'tolower($1) == \"mcp-session-id\" {print $2}')",
	'[ -n "$session" ] || { echo "No session was created: check the response of $url to initialize." >&2; exit 1; }',
	'set -- "$@" -H "mcp-session-id: $session"',
	`curl "$@" "$url" ${hereDocument(INITIALIZED)}`,
];

function statelessHeaders(message: unknown, version: string): string {
	const {method} = message as JsonMembers;
	const name = paramsOf(message)[nameParams[String(method)] ?? ''];
	const headers = [
		`mcp-protocol-version: ${version}`,
		`mcp-method: ${headerText(String(method))}`,
		...(typeof name === 'string' ? [`mcp-name: ${headerText(name)}`] : []),
	];
	return headers.map(header => `-H ${shellQuote(header)}`).join(' ');
}

/**
 * A shell script that sends a request through bridge to the server in its arguments, since a log contains
 * neither its command nor its URL.
 */
export function pipeScript({message, server, version}: RecordedRequest): string {
	const name = /^[\w .:-]{1,64}$/.test(server) ? server : 'the server';
	const needsNoHandshake = statelessVersion(message) !== undefined || isInitialize(message);
	const lines = [
		...(needsNoHandshake ? [] : [initializeRequest(version), INITIALIZED]),
		asciiJsonLine(message),
	];
	return [
		'#!/bin/sh',
		`# Sends one request to ${name}. The log does not contain its address, so pass it:`,
		'#   sh request.sh -- COMMAND [ARGUMENT...]',
		'#   sh request.sh --url URL',
		...redactionNotes(message),
		'[ $# -gt 0 ] || { echo "Usage: sh $0 -- COMMAND [ARGUMENT...], or sh $0 --url URL" >&2; exit 2; }',
		'mcp-bridge "$@" <<\'END\'',
		...lines,
		'END',
		'',
	].join('\n');
}
