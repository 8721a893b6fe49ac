import type {Conversation, StartConversation} from '../lib/gateway/conversation.js';
import {handshakeTimeoutMs} from '../lib/handshake-limit.js';
import {ALL_SERVICES} from '../lib/http/target.js';
import {type Log, logBug} from '../lib/log.js';
import {observeHealth} from '../lib/operators/note-state.js';
import {observeTools} from '../lib/operators/note-tools.js';
import type {Taps} from '../lib/operators/record.js';
import {type TraceOptions, traceLabel} from '../lib/operators/trace.js';
import type {JsonObject} from '../lib/protocol/json.js';
import {HUB_TRANSPORT} from '../lib/protocol/report.js';
import {connect, type Endpoint, type Stage} from '../lib/stage.js';
import {httpUpstreamStages, wrapStages} from './wrap.js';

type GatewayPipelineOptions = {
	readonly log: Log;
	readonly maxBytes: number;
	readonly trace?: TraceOptions | undefined;
	/** The traffic log, for a conversation between these two. */
	readonly taps: (client: string, upstream: string) => Taps | undefined;
};

/** A client of the gateway in front of its server. Read it down as a request flows, and up as its answer does. */
function gatewayStages(
	conversation: Conversation,
	{log, maxBytes, trace}: GatewayPipelineOptions,
	taps?: Taps,
): Stage[] {
	const {
		service,
		negotiation,
		pendingRequests: pending,
		principal: caller,
		upstreamControl: control,
		observer: watch,
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
	const cacheTools = service.toolsCacheFor(caller.id);
	const onReinitialized = (result: JsonObject, durationMs: number): void => {
		service.recordReinitialized(negotiation, result, durationMs);
		watch?.onReinitialized(result);
	};
	const isHttp = transport === 'http' || transport === 'sse';
	// How many tools there are, for the status.
	const parameters = service.toolParametersFor(caller.id);
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
					authorization: caller.authorization,
					handshakeMs: handshakeTimeoutMs(timeoutMs),
				})
			: []),
		observeHealth({
			onMessage: () => service.markReachable(negotiation),
			onFailure: reason => service.markFailed(reason),
		}),
	];
}

/** Lets clients of the gateway talk to their servers. */
export const createConverse =
	(options: GatewayPipelineOptions): StartConversation =>
	(client: Endpoint, conversation: Conversation) => {
		const {service, negotiation, principal: caller, observer: watch, upstreamControl: control} = conversation;
		const upstream = service.open(negotiation, caller.authorization, {
			observer: watch,
			upstreamControl: control,
			token: caller.token,
		});
		negotiation.hasQueued = id => upstream.hasQueued?.(id) ?? false;
		const ended = service.addConversation(negotiation);
		const taps = options.taps(client.name, service.config.name);
		const stages = gatewayStages(
			conversation,
			{...options, trace: labelTrace(options.trace, conversation)},
			taps,
		);
		const link = connect(client, stages, upstream, error => {
			logBug(options.log, error);
			// Of what goes wrong here, nobody else is to suffer, and the client not to wait for nothing.
			void client.close();
		});
		// A client that a shared server has cut off has nobody to talk to any more.
		void upstream.disconnected.then(() => client.close());
		return async () => {
			const status = await upstream.close();
			link.unsubscribe();
			ended();
			taps?.closed('client');
			return typeof status === 'number' ? status : undefined;
		};
	};

/** The trace of one conversation. Those of the hub with its servers are told from those of clients with the same servers. */
function labelTrace(
	trace: TraceOptions | undefined,
	{service, negotiation}: Conversation,
): TraceOptions | undefined {
	const {name} = service.config;
	const shown = name === ALL_SERVICES ? HUB_TRANSPORT : name;
	return (
		trace && {...trace, label: traceLabel(negotiation.options.isHub ? `${HUB_TRANSPORT}/${shown}` : shown)}
	);
}
