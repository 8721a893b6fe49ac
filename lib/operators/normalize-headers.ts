import type {Envelope, Headers} from '../core/envelope.js';
import {perMessage, type Stage} from '../core/stage.js';
import {dependOnVersionOnly, parameterHeaders, protocolHeaders} from '../protocol/http-headers.js';
import type {Negotiation} from '../protocol/negotiation.js';
import type {ToolHeaderParameters} from '../protocol/tool-header-parameters.js';
import {STATELESS, type Version} from '../protocol/version.js';

export type NormalizeHeadersOptions = {
	readonly negotiation: Negotiation;
	/** Headers of the configuration, which come last. */
	readonly headers?: Headers;
	readonly accept?: string;
	readonly contentType?: string;
	/** Whether the client's Authorization goes on to the server. */
	readonly passAuthorization?: boolean;
	/** Which arguments of tools a modern server wants in headers, too. */
	readonly parameters?: ToolHeaderParameters;
};

type CachedHeaders = {
	readonly version: Version | undefined;
	readonly authorization: string | undefined;
	readonly headers: Headers;
};

/** What streamable HTTP asks for. */
const DEFAULT_ACCEPT = 'application/json, text/event-stream';
const DEFAULT_CONTENT_TYPE = 'application/json';

/** Tells which headers a message leaves with. */
type HeadersFor = (envelope: Envelope) => Headers;

/**
 * Says which headers a message leaves with: those that the protocol and the configuration want, and the client's
 * Authorization as it is, with the parameters that it tells a modern server. Nothing else that a client sends reaches
 * the server.
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
	/** Of the client, for what bridge says in its name. All that a client says in one conversation has the same. */
	let authorization: string | undefined;
	const buildHeaders = (envelope: Envelope): Headers => ({
		accept,
		'content-type': contentType,
		// A body that is as long as it looks: nothing has to be unpacked, and nothing can swell.
		'accept-encoding': 'identity',
		...protocolHeaders(envelope, negotiation.upstreamVersion),
		...(negotiation.upstreamVersion === STATELESS ? parameterHeadersOf(envelope, parameters) : {}),
		...(authorization === undefined ? {} : {authorization}),
		...headers,
	});
	/** Those of the last message: in a session all have the same, and to make them anew takes long. */
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

/** What a modern server is told of parameters: as the client tells it, or for a client that knows of no such headers. */
const parameterHeadersOf = (envelope: Envelope, parameters: ToolHeaderParameters | undefined): Headers => ({
	...(parameters?.hasAny && envelope.head.method === 'tools/call'
		? parameters.headersOf(envelope.body.params)
		: {}),
	...parameterHeaders(envelope.origin.headers ?? {}),
});

/** Puts these headers on all that goes to the server. */
export const normalizeHeaders = (headersOf: HeadersFor): Stage =>
	perMessage({
		toUpstream(envelope: Envelope) {
			envelope.headers = headersOf(envelope);
			return envelope;
		},
	});
