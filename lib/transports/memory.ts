import {Channel} from '../channel.js';
import {type Body, Envelope, type Origin} from '../envelope.js';
import type {Endpoint} from '../stage.js';
import {Valve} from '../valve.js';

/** An endpoint in this process, with the far side in the caller's hands. */
export type Memory = Endpoint & {
	say(body: Body): void;
	/** Says these very bytes, as one line. */
	sayText(text: string): void;
	/** Ends, by an error if one is given. */
	end(error?: Error): void;
	readonly heard: Body[];
	readonly heardTexts: string[];
	readonly origin: Origin;
};

export function memory(name: string): Memory {
	const origin: Origin = {name, valve: new Valve()};
	const incoming = new Channel();
	const outgoing = new Channel();
	const heard: Body[] = [];
	const heardTexts: string[] = [];
	outgoing.subscribe(envelope => {
		heard.push(envelope.body);
		heardTexts.push(envelope.bytes.toString());
	});
	const sayText = (text: string): void => incoming.next(Envelope.received(Buffer.from(`${text}\n`), origin));
	return {
		name,
		origin,
		incoming,
		outgoing,
		heard,
		heardTexts,
		sayText,
		say: body => sayText(JSON.stringify({jsonrpc: '2.0', ...body})),
		end: error => (error ? incoming.error(error) : incoming.complete()),
		gone: new Promise(() => {}),
		close: async () => incoming.complete(),
	};
}
