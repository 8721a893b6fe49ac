import {perMessage, type Stage} from '../core/stage.js';
import type {ToolHeaderParameters} from '../protocol/tool-header-parameters.js';
import {listOf, objectOf} from '../util/json.js';
import {canonicalId} from '../wire/id.js';

type ObserveToolsOptions = {
	/** A client was shown so many tools. Lists that come in pages are not counted. */
	readonly onTools?: (count: number) => void;
	/** Where it is kept which of their arguments stand in headers, too. */
	readonly parameters: ToolHeaderParameters;
};

/** Takes note of the tools that a client is shown. */
export function observeTools({onTools, parameters}: ObserveToolsOptions): Stage {
	/** The keys of the requests for the list. A client asks seldom, and is answered soon. */
	const pending = new Set<string>();
	return perMessage({
		toUpstream(envelope) {
			const {method, id} = envelope.head;
			if (method === 'tools/list' && id !== undefined && pending.size < MAX_PENDING)
				pending.add(canonicalId(id));
			return envelope;
		},
		toClient(envelope) {
			const {method, key = ''} = envelope.head;
			if (pending.size === 0 || method !== undefined || !pending.delete(key) || envelope.head.hasError)
				return envelope;
			const result = objectOf(envelope.body.result);
			parameters.update(result.tools);
			if (result.nextCursor === undefined) onTools?.(listOf(result.tools).length);
			return envelope;
		},
	});
}

const MAX_PENDING = 16;
