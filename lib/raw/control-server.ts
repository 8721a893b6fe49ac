import type {IncomingMessage, ServerResponse} from 'node:http';
import {bridgeOrigin} from '../core/envelope.js';
import {type Log, logBug} from '../core/log.js';
import {envelopeFromMessage} from '../core/whole-message.js';
import {notAcceptableResponse} from '../http/errors.js';
import {Guard} from '../http/guard.js';
import {type HttpError, internalError, sendHttpError} from '../http/http-error.js';
import type {OpenResponses} from '../http/open-responses.js';
import {parseAccept, readBody, validateBodyHeaders} from '../http/read-body.js';
import {checkMethod} from '../http/replies.js';
import {splitTarget} from '../http/target.js';
import {type ControlRequestOptions, type ControlResponse, handleControlRequest} from './control-requests.js';

type ControlServerOptions = ControlRequestOptions & {
	readonly log: Log;
	/** The token that clients need; undefined if none is required. */
	readonly token?: string | undefined;
	/** Responses that have not been sent completely. */
	readonly responses: OpenResponses;
};

/** Requests have a few hundred bytes. */
const MAX_BODY = 2 ** 20;

/** The MCP server that controls `bridge raw`. The checks run in the order of the lines. */
export function createControlHandler({log, responses, token, ...options}: ControlServerOptions) {
	const guard = new Guard({hosts: [], origins: [], tokens: token === undefined ? [] : [token]});
	const rejectionOf = (req: IncomingMessage): HttpError | undefined => {
		const rejected = guard.validate(req); // cross-origin requests and foreign Host headers
		if (rejected) return logRejection(log, req, rejected);
		if (!guard.isAuthorized(req, true)) return missingToken; // missing or wrong token
		if (splitTarget(req.url ?? '').path !== '/mcp') return notFound; // other paths
		const {json, events} = parseAccept(req);
		return (
			checkMethod(req, ['POST']) ?? // there is no GET stream
			(json || events ? undefined : notAcceptableResponse) ?? // no supported content type
			validateBodyHeaders(req, MAX_BODY) // other content types, and large bodies
		);
	};
	return (req: IncomingMessage, res: ServerResponse): void => {
		responses.add(res);
		const rejection = rejectionOf(req);
		if (rejection) {
			sendHttpError(res, rejection);
			return;
		}
		readBody(req, MAX_BODY, (body, bodyError) => {
			if (!body) {
				sendHttpError(res, bodyError ?? {status: 400, message: 'Bad Request'});
				return;
			}
			handleControlRequest(envelopeFromMessage(body, bridgeOrigin), req.headers, options).then(
				outcome => sendResponse(res, outcome, parseAccept(req).json),
				error => {
					logBug(log, error);
					sendHttpError(res, internalError);
				},
			);
		});
	};
}

function sendResponse(res: ServerResponse, outcome: ControlResponse, isJson: boolean): void {
	if (outcome === 'accepted') {
		res.writeHead(202, {'content-length': 0}).end();
		return;
	}
	if (!('response' in outcome)) {
		sendHttpError(res, outcome);
		return;
	}
	const {status, response} = outcome;
	const body = isJson ? response.bytes : Buffer.from(`event: message\ndata: ${response.bytes}\n\n`);
	const type = isJson ? 'application/json' : 'text/event-stream';
	res.writeHead(status, {'content-type': type, 'content-length': body.length}).end(body);
}

function logRejection(log: Log, {headers: {host, origin}}: IncomingMessage, error: HttpError): HttpError {
	if (error.event) log.warn(error.event, `${error.message}.`, {host, origin});
	return error;
}

const missingToken: HttpError = {
	status: 401,
	message:
		'Unauthorized: send Authorization: Bearer TOKEN, with the token of --mcp-token or BRIDGE_MCP_TOKEN',
	headers: {'www-authenticate': 'Bearer realm="bridge raw"'},
};

const notFound: HttpError = {status: 404, message: 'Not found. The endpoint is /mcp.'};
