import type {Envelope, Headers} from '../core/envelope.js';
import {perMessage, type Stage} from '../core/stage.js';
import {dependOnVersionOnly, parameterHeaders, protocolHeaders} from '../protocol/http-headers.js';
import type {Negotiation} from '../protocol/negotiation.js';
import type {ToolHeaderParameters} from '../protocol/tool-header-parameters.js';
import {STATELESS, type Version} from '../protocol/version.js';

export type NormalizeHeadersOptions = {
	readonly negotiation: Negotiation;
	/** Configured headers. They override all others. */
	readonly headers?: Headers;
	readonly accept?: string;
	readonly contentType?: string;
	readonly passAuthorization?: boolean;
	/** The tool arguments that a stateless upstream also expects in headers. */
	readonly parameters?: ToolHeaderParameters;
};

type CachedHeaders = {
	readonly version: Version | undefined;
	readonly authorization: string | undefined;
	readonly headers: Headers;
};

/** Required by streamable HTTP. */
const DEFAULT_ACCEPT = 'application/json, text/event-stream';
const DEFAULT_CONTENT_TYPE = 'application/json';

type HeadersFor = (envelope: Envelope) => Headers;

/**
 * Returns a function that builds the request headers of a message: protocol headers, configured headers, the
 * client's Authorization and, for a stateless upstream, tool parameters. No other client header reaches the
 * upstream.
 */
export function headersFor(options: NormalizeHeadersOptions): HeadersFor {
	const {
		negotiation,
		headers,
		accept = DEFAULT_ACCEPT,
		contentType = DEFAULT_CONTENT_TYPE,
		passAuthorization = true,
		parameters,
	} = options;
	/** The last Authorization of the client, also used for the messages that bridge sends on its behalf. */
	let authorization: string | undefined;
	const buildHeaders = (envelope: Envelope): Headers => ({
		accept,
		'content-type': contentType,
		// Uncompressed bodies only, so that a small response cannot expand in memory.
		'accept-encoding': 'identity',
		...protocolHeaders(envelope, negotiation.upstreamVersion),
		...(negotiation.upstreamVersion === STATELESS ? parameterHeadersOf(envelope, parameters) : {}),
		...(authorization === undefined ? {} : {authorization}),
		...headers,
	});
	/** Cached, because they rarely change within a session and are slow to build. */
	let last: CachedHeaders | undefined;
	const cachedHeaders = (envelope: Envelope): Headers => {
		const version = negotiation.upstreamVersion;
		if (!last || last.version !== version || last.authorization !== authorization)
			last = {version, authorization, headers: buildHeaders(envelope)};
		return last.headers;
	};
	return envelope => {
		authorization = (passAuthorization ? envelope.origin.headers?.authorization : undefined) ?? authorization;
		return dependOnVersionOnly(envelope, negotiation.upstreamVersion)
			? cachedHeaders(envelope)
			: buildHeaders(envelope);
	};
}

/** Parameter headers for a stateless upstream. Headers from the client override derived ones. */
const parameterHeadersOf = (envelope: Envelope, parameters: ToolHeaderParameters | undefined): Headers => ({
	...(parameters?.hasAny && envelope.head.method === 'tools/call'
		? parameters.headersOf(envelope.body.params)
		: {}),
	...parameterHeaders(envelope.origin.headers ?? {}),
});

export const normalizeHeaders = (headersOf: HeadersFor): Stage =>
	perMessage({
		toUpstream(envelope: Envelope) {
			envelope.headers = headersOf(envelope);
			return envelope;
		},
	});
