import {Channel} from './channel.js';
import {type Body, Envelope, type MessageOrigin} from './envelope.js';
import type {Endpoint} from './stage.js';
import {Valve} from './valve.js';

/** An in-process endpoint whose peer is controlled by the caller. */
export type MemoryEndpoint = Endpoint & {
	send(body: Body): void;
	/** Sends this exact text as one line. */
	sendText(text: string): void;
	end(error?: Error): void;
	readonly received: Body[];
	readonly receivedTexts: string[];
	readonly origin: MessageOrigin;
};

export function memoryEndpoint(name: string): MemoryEndpoint {
	const origin: MessageOrigin = {name, valve: new Valve()};
	const incoming = new Channel();
	const outgoing = new Channel();
	const received: Body[] = [];
	const receivedTexts: string[] = [];
	outgoing.subscribe(envelope => {
		received.push(envelope.body);
		receivedTexts.push(envelope.bytes.toString());
	});
	const sendText = (text: string): void => incoming.next(Envelope.received(Buffer.from(`${text}\n`), origin));
	return {
		name,
		origin,
		incoming,
		outgoing,
		received,
		receivedTexts,
		sendText,
		send: body => sendText(JSON.stringify({jsonrpc: '2.0', ...body})),
		end: error => (error ? incoming.error(error) : incoming.complete()),
		disconnected: new Promise(() => {}),
		close: async () => incoming.complete(),
	};
}
