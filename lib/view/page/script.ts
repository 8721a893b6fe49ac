import {isMembers, type Members, written} from './json.js';

/** A request of a client, as it was recorded. */
export type Recorded = {
	readonly message: unknown;
	/** The server that it was for, as the log names it. */
	readonly server: string;
	/** The version of the conversation, if it is known. */
	readonly version: string;
};

/** The name of all servers as one in the log of a gateway. */
const ALL = 'all servers';
const NEWEST_HANDSHAKE = '2025-11-25';
const VERSION = 'io.modelcontextprotocol/protocolVersion';
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** Members of params that a stateless request has in a header, too. */
const namedBy: {readonly [method: string]: string} = {
	'tools/call': 'name',
	'prompts/get': 'name',
	'resources/read': 'uri',
};

/** A text as a shell takes it: nothing in it is more than a letter. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** JSON on one line, all of it ASCII. */
const line = (message: unknown): string =>
	written(message)
		.replace(/\n */g, '')
		.replace(/[\u007f-\uffff]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A text as it may stand in a header of HTTP. */
function headerText(text: string): string {
	if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?')) return text;
	return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;
}

const paramsOf = (message: unknown): Members => {
	const params = isMembers(message) ? message.params : undefined;
	return isMembers(params) ? params : {};
};

/** The version of a stateless request, which names it itself. */
function statelessVersion(message: unknown): string | undefined {
	const {_meta} = paramsOf(message);
	const version = isMembers(_meta) ? _meta[VERSION] : undefined;
	return typeof version === 'string' && /^[\w.-]{1,32}$/.test(version) ? version : undefined;
}

const isInitialize = (message: unknown): boolean => isMembers(message) && message.method === 'initialize';

const initialize = (version: string): string =>
	line({
		jsonrpc: '2.0',
		id: 'initialize',
		method: 'initialize',
		params: {
			protocolVersion: /^\d{4}-\d\d-\d\d$/.test(version) ? version : NEWEST_HANDSHAKE,
			capabilities: {},
			clientInfo: {name: 'curl', version: '1'},
		},
	});

const notes = (message: unknown): string[] =>
	line(message).includes('"[redacted]"') ? ['# The log has no secrets: replace each "[redacted]".'] : [];

/** A message as the input of a command: no line of it can be the last one, which is not JSON. */
const input = (json: string): string => `--data-binary @- <<'END'\n${json}\nEND`;

/**
 * A shell script that sends a request with curl to the gateway that it was recorded from: handshake, request and end of the
 * session, or the request alone where there is no handshake.
 */
export function curlScript({message, server, version}: Recorded, gateway: string): string {
	const path = server === ALL ? '/mcp' : `/mcp/${/^[\w-]{1,64}$/.test(server) ? server : 'SERVICE'}`;
	const json = line(message);
	const modern = statelessVersion(message);
	return [
		'#!/bin/sh',
		`# Sends one request to ${path}. Set BRIDGE_TOKEN where the gateway has tokens.`,
		...notes(message),
		`url=${quoted(`${gateway}${path}`)}`,
		"set -- -sS -H 'content-type: application/json' -H 'accept: application/json, text/event-stream'",
		// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
		'[ -z "${BRIDGE_TOKEN-}" ] || set -- "$@" -H "x-bridge-token: $BRIDGE_TOKEN"',
		...(modern === undefined ? [] : [`set -- "$@" ${statelessHeaders(message, modern)}`]),
		...(modern === undefined && !isInitialize(message) ? handshake(version) : []),
		`curl "$@" "$url" ${input(json)}`,
		...(modern === undefined && !isInitialize(message) ? ['curl "$@" -o /dev/null -X DELETE "$url"'] : []),
		'',
	].join('\n');
}

/** The lines that begin a session, which all later requests belong to. */
const handshake = (version: string): string[] => [
	`session=$(curl "$@" -D - -o /dev/null "$url" ${input(initialize(version))}`,
	')',
	"session=$(printf '%s' \"$session\" | tr -d '\\r' | awk -F ': *' 'tolower($1) == \"mcp-session-id\" {print $2}')",
	'[ -n "$session" ] || { echo "There is no session: see what $url responds to initialize." >&2; exit 1; }',
	'set -- "$@" -H "mcp-session-id: $session"',
	`curl "$@" "$url" ${input(INITIALIZED)}`,
];

function statelessHeaders(message: unknown, version: string): string {
	const {method} = message as Members;
	const name = paramsOf(message)[namedBy[String(method)] ?? ''];
	const headers = [
		`mcp-protocol-version: ${version}`,
		`mcp-method: ${headerText(String(method))}`,
		...(typeof name === 'string' ? [`mcp-name: ${headerText(name)}`] : []),
	];
	return headers.map(header => `-H ${quoted(header)}`).join(' ');
}

/**
 * A shell script that sends a request through bridge to a server that is given as its arguments: a log has neither its
 * command nor its URL.
 */
export function pipeScript({message, server, version}: Recorded): string {
	const name = /^[\w .:-]{1,64}$/.test(server) ? server : 'the server';
	const isWhole = statelessVersion(message) !== undefined || isInitialize(message);
	const lines = [...(isWhole ? [] : [initialize(version), INITIALIZED]), line(message)];
	return [
		'#!/bin/sh',
		`# Sends one request to ${name}. The log has no address of it, so name it:`,
		'#   sh request.sh -- COMMAND [ARGUMENT...]',
		'#   sh request.sh --url URL',
		...notes(message),
		'[ $# -gt 0 ] || { echo "Usage: sh $0 -- COMMAND [ARGUMENT...], or sh $0 --url URL" >&2; exit 2; }',
		'mcp-bridge "$@" <<\'END\'',
		...lines,
		'END',
		'',
	].join('\n');
}
