import {listOf, objectOf} from '../protocol/json.js';
import type {ToolParameters} from '../protocol/tool-parameters.js';
import {perMessage, type Stage} from '../stage.js';
import {canonicalId} from '../wire/id.js';

export type NoteToolsOptions = {
	/** A client was shown so many tools. Lists that come in pages are not counted. */
	readonly onTools?: (count: number) => void;
	/** Where it is kept which of their arguments stand in headers, too. */
	readonly parameters: ToolParameters;
};

/** Takes note of the tools that a client is shown. */
export function noteTools({onTools, parameters}: NoteToolsOptions): Stage {
	/** The keys of the requests for the list. A client asks seldom, and is answered soon. */
	const asked = new Set<string>();
	return perMessage({
		toUpstream(envelope) {
			const {method, id} = envelope.head;
			if (method === 'tools/list' && id !== undefined && asked.size < MAX_ASKED) asked.add(canonicalId(id));
			return envelope;
		},
		toClient(envelope) {
			const {method, key = ''} = envelope.head;
			if (asked.size === 0 || method !== undefined || !asked.delete(key) || envelope.head.hasError)
				return envelope;
			const result = objectOf(envelope.body.result);
			parameters.learn(result.tools);
			if (result.nextCursor === undefined) onTools?.(listOf(result.tools).length);
			return envelope;
		},
	});
}

const MAX_ASKED = 16;
