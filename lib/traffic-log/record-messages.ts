import type {Envelope} from '../core/envelope.js';
import type {TrafficSink} from '../core/live-traffic.js';
import {redactMessage, redactParts, redactText} from '../core/redact.js';
import {perMessage, type Stage} from '../core/stage.js';
import {asciiJson} from '../util/ascii-json.js';
import {newConnectionId} from '../util/connection-id.js';
import {encodePercentText} from '../wire/percent-text.js';
import {tapAfter} from './tap-after.js';

type RecordMessagesOptions = {
	readonly log: TrafficSink;
	/** Whether anybody wants to know, where that may change; else somebody does. */
	readonly isOn?: () => boolean;
	readonly client: string;
	readonly upstream: string;
	/** Whether secrets are logged as they are. */
	readonly withSecrets: boolean;
};

/** How much is logged of something that is no message. */
const EXCERPT = 64 * 1024;

/** A tap at either end of a pipeline. */
export type Taps = {
	readonly client: Stage;
	readonly upstream: Stage;
	/** To be called when the conversation is over, with who ended it. */
	closed(by: 'client' | 'upstream'): void;
};

/**
 * Writes what passes into the traffic log. Each message is logged as the client sees it, and as the upstream does where
 * that is something else: because a stage changed it, made it, or let it go no further.
 */
export function recordMessages({
	log,
	isOn = () => true,
	client,
	upstream,
	withSecrets,
}: RecordMessagesOptions): Taps {
	const prefix = `","ConnID":"${newConnectionId()}",`;
	const endpoints = (from: string, to: string): string => `"from":${asciiJson(from)},"to":${asciiJson(to)}`;
	const [fromClient, fromUpstream] = [endpoints(client, upstream), endpoints(upstream, client)];
	const tails = {
		client: {
			toUpstream: tail(fromClient, 'client'),
			toClient: tail(fromUpstream, 'client'),
			byBridge: tail(endpoints('bridge', client), 'client'),
		},
		upstream: {
			toUpstream: tail(fromClient, 'upstream'),
			toClient: tail(fromUpstream, 'upstream'),
			byBridge: tail(endpoints('bridge', upstream), 'upstream'),
		},
	};
	const messageHead = Buffer.from(`${prefix}"message":`);
	/** The last message from the upstream that is in the log already. */
	let logged: Envelope | undefined;

	const logEvent = (name: string, endpointsText: string): void =>
		log.add([Buffer.from(`${prefix}"event":"${name}",${endpointsText}}\n`)]);
	const write = (envelope: Envelope, end: Buffer): void => {
		if (!isOn()) return;
		const {head, origin} = envelope;
		if (head.flaw === undefined || head.flaw === 'a batch' || head.flaw === 'too complex')
			log.add([messageHead, ...messageParts(envelope, withSecrets), end], origin);
		else log.add([Buffer.from(`${prefix}${excerpt(envelope, withSecrets)}`), end], origin);
	};
	logEvent('open', fromClient);
	return {
		client: perMessage({
			toUpstream(envelope) {
				write(envelope, tails.client.toUpstream);
				return envelope;
			},
			toClient(envelope) {
				const {original} = envelope;
				if (original !== envelope && original.isReceived) write(original, tails.upstream.toClient);
				logged = original;
				write(envelope, original.isReceived ? tails.client.toClient : tails.client.byBridge);
				return envelope;
			},
		}),
		upstream: {
			...perMessage({
				toUpstream(envelope) {
					if (envelope.isReceived) return envelope;
					const {byBridge, toUpstream} = tails.upstream;
					write(envelope, envelope.original.isReceived ? toUpstream : byBridge);
					return envelope;
				},
			}),
			toClient: tapAfter(envelope => {
				if (logged !== envelope) write(envelope, tails.upstream.toClient);
				// It may be long, and nothing more of it is of interest.
				logged = undefined;
			}),
		},
		closed: by => logEvent('close', by === 'client' ? fromClient : fromUpstream),
	};
}

const tail = (endpoints: string, side: 'client' | 'upstream'): Buffer =>
	Buffer.from(`,${endpoints},"side":"${side}"}\n`);

/** A message, as it may stand in the log. */
const messageParts = ({bytesInParts}: Envelope, withSecrets: boolean): readonly Buffer[] =>
	withSecrets ? bytesInParts : redactParts(bytesInParts);

/** Something that is no message, as raw bytes are logged. */
function excerpt({bytes, size, head: {flaw}}: Envelope, withSecrets: boolean): string {
	const start = bytes.subarray(0, EXCERPT);
	const text = encodePercentText(withSecrets ? start : redactMessage(start));
	const data = JSON.stringify(withSecrets ? text : redactText(text));
	const isCut = flaw === 'too large' || size > EXCERPT;
	return `"data":${data}${isCut ? ',"truncated":true' : ''}`;
}
