import type {IncomingMessage, ServerResponse} from 'node:http';
import {wantsEvents} from '../http/read-body.js';
import {internalError, type Refused, refuse} from '../http/refuse.js';
import {isMcpTarget, type Target} from '../http/target.js';
import {SseStream} from '../transports/sse-stream.js';
import type {Gateway} from './gateway.js';
import {notAStream, unknownService} from './refusals.js';
import {json, only} from './replies.js';

/** How much may wait for somebody who looks at the traffic. */
const MAX_UNSEEN = 4 * 2 ** 20;

/** Answers a request for what is no service: how things are, and what passes by. */
export function servePage(
	gateway: Gateway,
	req: IncomingMessage,
	res: ServerResponse,
	kind: Exclude<Target['kind'], 'healthz' | 'first' | 'logout'>,
): Refused | undefined {
	// Names with capitals, too: those of a client's file are changed for their URLs.
	if (kind === 'none' && isMcpTarget(req.url ?? '')) return unknownService(gateway.services);
	if (kind === 'none') return {status: 404, message: 'Not Found'};
	if (kind === 'view') return gateway.view.serve(req, res);
	const wrong = only(req, kind === 'traffic' ? ['GET'] : ['GET', 'HEAD']);
	if (wrong) return wrong;
	if (kind === 'readyz') {
		if (gateway.isDraining) return {status: 503, message: 'Draining', headers: {'retry-after': '1'}};
		// Without what replicas share, all goes on that can.
		return void json(res, {status: gateway.replicas?.store?.isUp === false ? 'degraded' : 'ready'});
	}
	if (kind === 'traffic') return showTraffic(gateway, req, res);
	if (kind === 'status') json(res, gateway.status());
	else
		gateway.metrics.text().then(
			text => res.writeHead(200, {'content-type': gateway.metrics.contentType}).end(text),
			() => refuse(res, internalError),
		);
	return;
}

/** The lines of the traffic log as they would be written, for who looks on. */
function showTraffic({log, live}: Gateway, req: IncomingMessage, res: ServerResponse): Refused | undefined {
	if (!wantsEvents(req)) return notAStream;
	const onSlow = (): void =>
		log.warn('traffic.slow_viewer', 'Who looked at the traffic could not keep up, and was cut off.');
	const stream = new SseStream(res, {maxUnreadBytes: MAX_UNSEEN, onSlow});
	const stop = live.listen(data => void stream.send({data}));
	void stream.closed.then(stop);
	return;
}
