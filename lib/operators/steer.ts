import {Envelope, type Headers, type Origin} from '../envelope.js';
import {type Stage, stage} from '../stage.js';
import type {Carriage} from '../transports/carriage.js';
import {Valve} from '../valve.js';

/**
 * Lets bridge speak to the end of a connection. It stands before the stages that know the headers of the conversation: what
 * is said comes there with those that a message would have.
 */
export function steer(carriage: Carriage, authorization: string | undefined): Stage {
	const headers: Headers = authorization === undefined ? {} : {authorization};
	const origin: Origin = {name: 'bridge', valve: new Valve(), headers};
	return stage(out => {
		carriage.say = word => out.toUpstream(Envelope.fromText(`{"jsonrpc":"2.0","method":"${word}"}`, origin));
		return {};
	});
}
