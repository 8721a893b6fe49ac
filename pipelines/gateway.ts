import type {Conversation, Converse} from '../lib/gateway/conversation.js';
import {handshakeLimit} from '../lib/handshake-limit.js';
import {ALL} from '../lib/http/target.js';
import {type Log, logBug} from '../lib/log.js';
import {noteState} from '../lib/operators/note-state.js';
import {noteTools} from '../lib/operators/note-tools.js';
import type {Taps} from '../lib/operators/record.js';
import {type TraceOptions, traceLabel} from '../lib/operators/trace.js';
import type {JsonObject} from '../lib/protocol/json.js';
import {HUB} from '../lib/protocol/report.js';
import {connect, type Endpoint, type Stage} from '../lib/stage.js';
import {httpHop, wrap} from './wrap.js';

export type GatewayOptions = {
	readonly log: Log;
	readonly maxBytes: number;
	readonly trace?: TraceOptions | undefined;
	/** The traffic log, for a conversation between these two. */
	readonly taps: (client: string, upstream: string) => Taps | undefined;
};

/** A client of the gateway in front of its server. Read it down as a request flows, and up as its answer does. */
export function gateway(
	conversation: Conversation,
	{log, maxBytes, trace}: GatewayOptions,
	taps?: Taps,
): Stage[] {
	const {service, session, waiting, caller, carriage, watch} = conversation;
	const {
		name: upstream,
		transport,
		timeoutMs,
		headers,
		accept,
		contentType,
		passAuthorization,
	} = service.config;
	const cacheTools = service.cacheFor(caller.principal);
	const onRenewed = (result: JsonObject, durationMs: number): void => {
		service.renewed(session, result, durationMs);
		watch?.onRenewed(result);
	};
	const isHttp = transport === 'http' || transport === 'sse';
	// How many tools there are, for the status.
	const parameters = service.parametersFor(caller.principal);
	const first = [noteTools({onTools: count => service.showed(count), parameters})];
	return [
		...wrap({
			log,
			upstream,
			transport: upstream === ALL ? HUB : transport,
			timeoutMs,
			timeoutSetting: service.timeoutSetting,
			maxBytes,
			trace,
			taps,
			cacheTools,
			session,
			waiting,
			first,
		}),
		...(isHttp
			? httpHop({
					session,
					upstream,
					log,
					onRenewed,
					parameters,
					headers,
					accept,
					contentType,
					passAuthorization,
					carriage,
					authorization: caller.authorization,
					handshakeMs: handshakeLimit(timeoutMs),
				})
			: []),
		noteState({onHeard: () => service.heard(session), onFailure: reason => service.failed(reason)}),
	];
}

/** Lets clients of the gateway talk to their servers. */
export const converseThrough =
	(options: GatewayOptions): Converse =>
	(client: Endpoint, conversation: Conversation) => {
		const {service, session, caller, watch, carriage} = conversation;
		const upstream = service.open(session, caller.authorization, {
			watch,
			carriage,
			token: caller.token,
		});
		session.holds = id => upstream.holds?.(id) ?? false;
		const ended = service.begun(session);
		const taps = options.taps(client.name, service.config.name);
		const stages = gateway(conversation, {...options, trace: labelled(options.trace, conversation)}, taps);
		const link = connect(client, stages, upstream, error => {
			logBug(options.log, error);
			// Of what goes wrong here, nobody else is to suffer, and the client not to wait for nothing.
			void client.close();
		});
		// A client that a shared server has cut off has nobody to talk to any more.
		void upstream.gone.then(() => client.close());
		return async () => {
			const status = await upstream.close();
			link.unsubscribe();
			ended();
			taps?.closed('client');
			return typeof status === 'number' ? status : undefined;
		};
	};

/** The trace of one conversation. Those of the hub with its servers are told from those of clients with the same servers. */
function labelled(
	trace: TraceOptions | undefined,
	{service, session}: Conversation,
): TraceOptions | undefined {
	const {name} = service.config;
	const shown = name === ALL ? HUB : name;
	return trace && {...trace, label: traceLabel(session.options.isHub ? `${HUB}/${shown}` : shown)};
}
