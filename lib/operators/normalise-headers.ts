import type {Envelope, Headers} from '../envelope.js';
import {hopHeaders, isPlain, parameterHeaders} from '../protocol/http-hop.js';
import type {Session} from '../protocol/session.js';
import type {ToolParameters} from '../protocol/tool-parameters.js';
import {MODERN, type Version} from '../protocol/version.js';
import {perMessage, type Stage} from '../stage.js';

export type NormaliseHeadersOptions = {
	readonly session: Session;
	/** Headers of the configuration, which come last. */
	readonly headers?: Headers;
	readonly accept?: string;
	readonly contentType?: string;
	/** Whether the client's Authorization goes on to the server. */
	readonly passAuthorization?: boolean;
	/** Which arguments of tools a modern server wants in headers, too. */
	readonly parameters?: ToolParameters;
};

type Last = {
	readonly version: Version | undefined;
	readonly authorization: string | undefined;
	readonly headers: Headers;
};

/** What streamable HTTP asks for. */
export const ACCEPT = 'application/json, text/event-stream';
export const CONTENT_TYPE = 'application/json';

/** Tells which headers a message leaves with. */
export type HeadersFor = (envelope: Envelope) => Headers;

/**
 * Says which headers a message leaves with: those that the protocol and the configuration want, and the client's
 * Authorization as it is, with the parameters that it tells a modern server. Nothing else that a client sends reaches
 * the server.
 */
export function headersFor(options: NormaliseHeadersOptions): HeadersFor {
	const {
		session,
		headers,
		accept = ACCEPT,
		contentType = CONTENT_TYPE,
		passAuthorization = true,
		parameters,
	} = options;
	/** Of the client, for what bridge says in its name. All that a client says in one conversation has the same. */
	let authorization: string | undefined;
	const made = (envelope: Envelope): Headers => ({
		accept,
		'content-type': contentType,
		// A body that is as long as it looks: nothing has to be unpacked, and nothing can swell.
		'accept-encoding': 'identity',
		...hopHeaders(envelope, session.upstream),
		...(session.upstream === MODERN ? parametersOf(envelope, parameters) : {}),
		...(authorization === undefined ? {} : {authorization}),
		...headers,
	});
	/** Those of the last message: in a session all have the same, and to make them anew takes long. */
	let last: Last | undefined;
	const sameFor = (envelope: Envelope): Headers => {
		const version = session.upstream;
		if (!last || last.version !== version || last.authorization !== authorization)
			last = {version, authorization, headers: made(envelope)};
		return last.headers;
	};
	return envelope => {
		authorization = (passAuthorization ? envelope.origin.headers?.authorization : undefined) ?? authorization;
		return isPlain(envelope, session.upstream) ? sameFor(envelope) : made(envelope);
	};
}

/** What a modern server is told of parameters: as the client tells it, or for a client that knows of no such headers. */
const parametersOf = (envelope: Envelope, parameters: ToolParameters | undefined): Headers => ({
	...(parameters?.hasSome && envelope.head.method === 'tools/call'
		? parameters.headersOf(envelope.body.params)
		: {}),
	...parameterHeaders(envelope.origin.headers ?? {}),
});

/** Puts these headers on all that goes to the server. */
export const normaliseHeaders = (headersOf: HeadersFor): Stage =>
	perMessage({
		toUpstream(envelope: Envelope) {
			envelope.headers = headersOf(envelope);
			return envelope;
		},
	});
