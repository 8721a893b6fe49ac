import {Envelope, type Headers, type MessageOrigin} from '../core/envelope.js';
import {type Stage, stage} from '../core/stage.js';
import type {UpstreamControl} from '../core/upstream-control.js';
import {Valve} from '../core/valve.js';

/**
 * Lets bridge speak to the end of a connection. It stands before the stages that know the headers of the conversation: what
 * is said comes there with those that a message would have.
 */
export function controlUpstream(control: UpstreamControl, authorization: string | undefined): Stage {
	const headers: Headers = authorization === undefined ? {} : {authorization};
	const origin: MessageOrigin = {name: 'bridge', valve: new Valve(), headers};
	return stage(out => {
		control.send = method =>
			out.toUpstream(Envelope.fromText(`{"jsonrpc":"2.0","method":"${method}"}`, origin));
		return {};
	});
}
