import type {Conversation, Converse} from '../lib/gateway/conversation.js';
import {type Log, logBug} from '../lib/log.js';
import {noteState} from '../lib/operators/note-state.js';
import {noteTools} from '../lib/operators/note-tools.js';
import type {Taps} from '../lib/operators/record.js';
import type {TraceOptions} from '../lib/operators/trace.js';
import type {JsonObject} from '../lib/protocol/json.js';
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
	const {service, session, waiting, caller, carriage} = conversation;
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
	const onRenewed = (result: JsonObject): void => service.renewed(session, result);
	const isHttp = transport === 'http' || transport === 'sse';
	// How many tools there are, for the status.
	const parameters = service.parametersFor(caller.principal);
	const first = [noteTools({onTools: count => service.showed(count), parameters})];
	return [
		...wrap({
			log,
			upstream,
			transport,
			timeoutMs,
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
					...{session, upstream, log, onRenewed, parameters},
					...{headers, accept, contentType, passAuthorization},
					...{carriage, authorization: caller.authorization},
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
			...{watch, carriage, token: caller.token},
		});
		const ended = service.begun(session);
		const taps = options.taps(client.name, service.config.name);
		const link = connect(client, gateway(conversation, options, taps), upstream, error => {
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
