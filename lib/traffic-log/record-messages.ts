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
	/** Whether the log has a reader at present. By default, it always has one. */
	readonly isOn?: () => boolean;
	readonly client: string;
	readonly upstream: string;
	readonly withSecrets: boolean;
};

/** Limit of what is logged of an invalid message, in bytes. */
const EXCERPT = 64 * 1024;

export type Taps = {
	readonly client: Stage;
	readonly upstream: Stage;
	/** Has to be called when the conversation has ended, with the side that ended it. */
	closed(by: 'client' | 'upstream'): void;
};

/**
 * Records a conversation in the traffic log. Each message is logged as the client sees it. A message that a
 * stage changed, created or dropped is also logged as the upstream sees it.
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
	/** The last message from the upstream that was logged already. */
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
				// Released early, since it may be large.
				logged = undefined;
			}),
		},
		closed: by => logEvent('close', by === 'client' ? fromClient : fromUpstream),
	};
}

const tail = (endpoints: string, side: 'client' | 'upstream'): Buffer =>
	Buffer.from(`,${endpoints},"side":"${side}"}\n`);

const messageParts = ({bytesInParts}: Envelope, withSecrets: boolean): readonly Buffer[] =>
	withSecrets ? bytesInParts : redactParts(bytesInParts);

/** The members for an invalid message, in the form of raw bytes. */
function excerpt({bytes, size, head: {flaw}}: Envelope, withSecrets: boolean): string {
	const start = bytes.subarray(0, EXCERPT);
	const text = encodePercentText(withSecrets ? start : redactMessage(start));
	const data = JSON.stringify(withSecrets ? text : redactText(text));
	const isCut = flaw === 'too large' || size > EXCERPT;
	return `"data":${data}${isCut ? ',"truncated":true' : ''}`;
}
