import type {IncomingMessage, ServerResponse} from 'node:http';
import {notAcceptableStream, unknownService} from '../http/errors.js';
import {type HttpError, internalError, sendHttpError} from '../http/http-error.js';
import {acceptsEventStream} from '../http/read-body.js';
import {checkMethod, sendJson} from '../http/replies.js';
import {isMcpTarget, type RequestTarget} from '../http/target.js';
import {SseStream} from '../transports/sse/sse-stream.js';
import type {Gateway} from './gateway.js';

/** How much may wait for somebody who looks at the traffic. */
const MAX_UNREAD_BYTES = 4 * 2 ** 20;

/** Answers a request for what is no service: how things are, and what passes by. */
export function serveGatewayPage(
	gateway: Gateway,
	req: IncomingMessage,
	res: ServerResponse,
	kind: Exclude<RequestTarget['kind'], 'healthz' | 'first' | 'logout'>,
): HttpError | undefined {
	// Names with capitals, too: those of a client's file are changed for their URLs.
	if (kind === 'none' && isMcpTarget(req.url ?? '')) return unknownService(gateway.services);
	if (kind === 'none') return {status: 404, message: 'Not Found'};
	if (kind === 'view') return gateway.view.serve(req, res);
	const methodError = checkMethod(req, kind === 'traffic' ? ['GET'] : ['GET', 'HEAD']);
	if (methodError) return methodError;
	if (kind === 'readyz') {
		if (gateway.isDraining) return {status: 503, message: 'Draining', headers: {'retry-after': '1'}};
		// Without what replicas share, all goes on that can.
		return void sendJson(res, {status: gateway.replicas?.store?.isUp === false ? 'degraded' : 'ready'});
	}
	if (kind === 'traffic') return streamTraffic(gateway, req, res);
	if (kind === 'status') sendJson(res, gateway.status());
	else
		gateway.metrics.text().then(
			text => res.writeHead(200, {'content-type': gateway.metrics.contentType}).end(text),
			() => sendHttpError(res, internalError),
		);
	return;
}

/** The lines of the traffic log as they would be written, for who looks on. */
function streamTraffic(
	{log, live}: Gateway,
	req: IncomingMessage,
	res: ServerResponse,
): HttpError | undefined {
	if (!acceptsEventStream(req)) return notAcceptableStream;
	const onSlow = (): void =>
		log.warn('traffic.slow_viewer', 'Who looked at the traffic could not keep up, and was cut off.');
	const stream = new SseStream(res, {maxUnreadBytes: MAX_UNREAD_BYTES, onSlow});
	const stop = live.subscribe(data => void stream.send({data}));
	void stream.closed.then(stop);
	return;
}
