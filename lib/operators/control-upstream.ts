import {Envelope, type Headers, type MessageOrigin} from '../core/envelope.js';
import {type Stage, stage} from '../core/stage.js';
import type {UpstreamControl} from '../core/upstream-control.js';
import {Valve} from '../core/valve.js';

/**
 * Lets bridge send commands to the upstream endpoint. The stage comes before those that set headers, so that
 * commands get the headers of the conversation.
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
