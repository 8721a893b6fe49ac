import type {IncomingMessage, ServerResponse} from 'node:http';
import {notAcceptableStream, unknownService} from '../http/errors.js';
import {type HttpError, internalError, sendHttpError} from '../http/http-error.js';
import {acceptsEventStream} from '../http/read-body.js';
import {checkMethod, sendJson} from '../http/replies.js';
import {isMcpTarget, type RequestTarget} from '../http/target.js';
import {SseStream} from '../transports/sse/sse-stream.js';
import type {Gateway} from './gateway.js';

/** The backlog limit of one viewer of the live traffic. */
const MAX_UNREAD_BYTES = 4 * 2 ** 20;

/** Serves the routes outside services: status, metrics, readiness, live traffic and the web page. */
export function serveGatewayPage(
	gateway: Gateway,
	req: IncomingMessage,
	res: ServerResponse,
	kind: Exclude<RequestTarget['kind'], 'healthz' | 'first' | 'logout'>,
): HttpError | undefined {
	// Includes names with capitals, which are never service names: imported names are converted to lower case.
	if (kind === 'none' && isMcpTarget(req.url ?? '')) return unknownService(gateway.services);
	if (kind === 'none') return {status: 404, message: 'Not Found'};
	if (kind === 'view') return gateway.view.serve(req, res);
	const methodError = checkMethod(req, kind === 'traffic' ? ['GET'] : ['GET', 'HEAD']);
	if (methodError) return methodError;
	if (kind === 'readyz') {
		if (gateway.isDraining) return {status: 503, message: 'Draining', headers: {'retry-after': '1'}};
		// Without the store, replicas keep working with their local state.
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

function streamTraffic(
	{log, live}: Gateway,
	req: IncomingMessage,
	res: ServerResponse,
): HttpError | undefined {
	if (!acceptsEventStream(req)) return notAcceptableStream;
	const onSlow = (): void =>
		log.warn('traffic.slow_viewer', 'A viewer of the live traffic was too slow and was disconnected.');
	const stream = new SseStream(res, {maxUnreadBytes: MAX_UNREAD_BYTES, onSlow});
	const stop = live.subscribe(data => void stream.send({data}));
	void stream.closed.then(stop);
	return;
}
