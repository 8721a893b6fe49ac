import {type Log, logBug} from '../core/log.js';
import {connect, type Endpoint, type Stage} from '../core/stage.js';
import {ALL_SERVICES} from '../http/target.js';
import {type TraceOptions, traceLabel} from '../operators/trace.js';
import {HUB_TRANSPORT} from '../protocol/connection-log.js';
import type {Taps} from '../traffic-log/record-messages.js';
import type {Conversation, StartConversation} from './conversation.js';

/** What the pipeline of one conversation is built from. */
export type ConversationPipelineOptions = {
	readonly log: Log;
	readonly maxBytes: number;
	readonly trace?: TraceOptions | undefined;
	readonly taps?: Taps | undefined;
};

type StartConversationOptions = Omit<ConversationPipelineOptions, 'taps'> & {
	/** The traffic log of a conversation between these two. */
	readonly taps: (client: string, upstream: string) => Taps | undefined;
	/** The pipeline of a conversation. */
	readonly stages: (conversation: Conversation, options: ConversationPipelineOptions) => Stage[];
};

/** Connects clients with their upstreams, through a pipeline each. */
export const conversationStarter =
	(options: StartConversationOptions): StartConversation =>
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
		const trace = labelTrace(options.trace, conversation);
		const stages = options.stages(conversation, {...options, trace, taps});
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
