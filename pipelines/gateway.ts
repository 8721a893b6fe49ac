import type {Stage} from '../lib/core/stage.js';
import {ALL_SERVICES} from '../lib/http/target.js';
import {observeHealth} from '../lib/operators/observe-health.js';
import {observeTools} from '../lib/operators/observe-tools.js';
import {HUB_TRANSPORT} from '../lib/protocol/connection-log.js';
import {handshakeTimeoutMs} from '../lib/protocol/handshake-timeout.js';
import type {Conversation} from '../lib/upstream/conversation.js';
import type {ConversationPipelineOptions} from '../lib/upstream/start-conversation.js';
import type {JsonObject} from '../lib/util/json.js';
import {httpUpstreamStages, wrapStages} from './wrap.js';

/** The stages between a gateway client and its upstream. Requests pass from top to bottom, responses back. */
export function gatewayStages(
	conversation: Conversation,
	{log, maxBytes, trace, taps}: ConversationPipelineOptions,
): Stage[] {
	const {
		service,
		negotiation,
		pendingRequests: pending,
		principal,
		upstreamControl: control,
		observer,
	} = conversation;
	const {
		name: upstream,
		transport,
		timeoutMs,
		headers,
		accept,
		contentType,
		passAuthorization,
	} = service.config;
	const cacheTools = service.toolsCacheFor(principal.id);
	const onReinitialized = (result: JsonObject, durationMs: number): void => {
		service.recordReinitialized(negotiation, result, durationMs);
		observer?.onReinitialized(result);
	};
	const isHttp = transport === 'http' || transport === 'sse';
	const parameters = service.toolParametersFor(principal.id);
	// Counts the tools for the status page.
	const clientStages = [observeTools({onTools: count => service.setToolCount(count), parameters})];
	return [
		...wrapStages({
			log,
			upstream,
			transport: upstream === ALL_SERVICES ? HUB_TRANSPORT : transport,
			timeoutMs,
			timeoutSetting: service.timeoutSetting,
			maxBytes,
			trace,
			taps,
			cacheTools,
			negotiation,
			pending,
			clientStages,
		}),
		...(isHttp
			? httpUpstreamStages({
					negotiation,
					upstream,
					log,
					onReinitialized,
					parameters,
					headers,
					accept,
					contentType,
					passAuthorization,
					control,
					authorization: principal.authorization,
					handshakeMs: handshakeTimeoutMs(timeoutMs),
				})
			: []),
		observeHealth({
			onMessage: () => service.markReachable(negotiation),
			onFailure: reason => service.markFailed(reason),
		}),
	];
}
