import {editMessage} from '../core/edit-message.js';
import {perMessage, type Stage} from '../core/stage.js';
import type {HandshakeVersion, Version} from '../protocol/version.js';
import {isObject, objectOf} from '../util/json.js';

export type RewriteVersionOneWayOptions = {
	readonly clientVersion?: HandshakeVersion | undefined;
	readonly targetVersion?: Version | undefined;
};

/**
 * Rewrites the protocol version in a filter, which sees one direction only: in `initialize`, and in results
 * with a `protocolVersion`, which can only belong to it.
 */
export function rewriteVersionOneWay({clientVersion, targetVersion}: RewriteVersionOneWayOptions): Stage {
	if (clientVersion === undefined && targetVersion === undefined) return {};
	return perMessage({
		toUpstream(envelope) {
			const {method, hasResult} = envelope.head;
			if (method === 'initialize' && targetVersion !== undefined)
				return editMessage(envelope, body => ({
					...body,
					params: {...objectOf(body.params), protocolVersion: targetVersion},
				}));
			if (!hasResult || clientVersion === undefined || !envelope.line.includes('"protocolVersion"'))
				return envelope;
			return editMessage(envelope, body => {
				const {result} = body;
				if (!isObject(result) || typeof result.protocolVersion !== 'string') return body;
				return {...body, result: {...result, protocolVersion: clientVersion}};
			});
		},
	});
}
