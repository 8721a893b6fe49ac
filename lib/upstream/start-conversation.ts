import {type Log, logBug} from '../core/log.js';
import {connect, type Endpoint, type Stage} from '../core/stage.js';
import {ALL_SERVICES} from '../http/target.js';
import {type TraceOptions, traceLabel} from '../operators/trace.js';
import {HUB_TRANSPORT} from '../protocol/connection-log.js';
import type {Taps} from '../traffic-log/record-messages.js';
import type {Conversation, StartConversation} from './conversation.js';

export type ConversationPipelineOptions = {
	readonly log: Log;
	readonly maxBytes: number;
	readonly trace?: TraceOptions | undefined;
	readonly taps?: Taps | undefined;
};

type StartConversationOptions = Omit<ConversationPipelineOptions, 'taps'> & {
	/** Returns the traffic log taps of a conversation between this client and this upstream. */
	readonly taps: (client: string, upstream: string) => Taps | undefined;
	readonly stages: (conversation: Conversation, options: ConversationPipelineOptions) => Stage[];
};

export const conversationStarter =
	(options: StartConversationOptions): StartConversation =>
	(client: Endpoint, conversation: Conversation) => {
		const {service, negotiation, principal, observer, upstreamControl} = conversation;
		const upstream = service.open(negotiation, principal.authorization, {
			observer,
			upstreamControl,
			token: principal.token,
		});
		negotiation.hasQueued = id => upstream.hasQueued?.(id) ?? false;
		const ended = service.addConversation(negotiation);
		const taps = options.taps(client.name, service.config.name);
		const trace = labelTrace(options.trace, conversation);
		const stages = options.stages(conversation, {...options, trace, taps});
		const subscription = connect(client, stages, upstream, error => {
			logBug(options.log, error);
			// A bug ends only this conversation. The client is disconnected, so that it does not wait forever.
			void client.close();
		});
		// A shared upstream disconnects a client that stalls.
		void upstream.disconnected.then(() => client.close());
		return async () => {
			const status = await upstream.close();
			subscription.unsubscribe();
			ended();
			taps?.closed('client');
			return typeof status === 'number' ? status : undefined;
		};
	};

/** Labels the trace of one conversation. The label distinguishes the hub's connections from direct ones. */
function labelTrace(
	trace: TraceOptions | undefined,
	{service, negotiation}: Conversation,
): TraceOptions | undefined {
	const {name} = service.config;
	const label = name === ALL_SERVICES ? HUB_TRANSPORT : name;
	return (
		trace && {...trace, label: traceLabel(negotiation.options.isHub ? `${HUB_TRANSPORT}/${label}` : label)}
	);
}
