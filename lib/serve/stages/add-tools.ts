import {editMessage} from '../../core/edit-message.js';
import {Envelope} from '../../core/envelope.js';
import {type Stage, stage} from '../../core/stage.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {type JsonObject, listOf, mapObjects, objectOf} from '../../util/json.js';
import type {BridgeTools} from '../sessions/bridge-tools.js';
import {bridgeToolSchemas, extendCodexTool} from '../sessions/tool-schemas.js';

export type AddToolsOptions = {
	readonly tools: BridgeTools;
};

const MAX_PENDING_LISTS = 65_536;

/** Adds bridge's tools to those of the upstream and handles their calls. Extends the Codex tools. */
export function addTools({tools}: AddToolsOptions): Stage {
	const pendingLists = new BoundedMap<string, true>(MAX_PENDING_LISTS);
	return stage(out => ({
		toUpstream(envelope) {
			const {id, key, method} = envelope.head;
			if (id === undefined || key === undefined) return envelope;
			if (method === 'tools/list') pendingLists.set(key, true);
			if (method !== 'tools/call') return envelope;
			const params = objectOf(envelope.body.params);
			const pendingResult = tools.call(params);
			if (!pendingResult) return envelope;
			const {origin} = envelope;
			void pendingResult.then(({result, onSent}) => {
				out.toClient(Envelope.response(id, 'result', result, origin));
				onSent();
			});
			return;
		},
		toClient(envelope) {
			const {key, method, hasResult} = envelope.head;
			if (method !== undefined || key === undefined || !pendingLists.take(key) || !hasResult) return envelope;
			return editMessage(envelope, body => ({...body, result: withOwnTools(objectOf(body.result))}));
		},
	}));
}

/** Extends the Codex tools on each page of the list. Appends bridge's tools to the last page. */
function withOwnTools(result: JsonObject): JsonObject {
	const upstreamTools = listOf(mapObjects(result.tools, extendCodexTool)).filter(
		tool => !bridgeToolSchemas.some(({name}) => name === objectOf(tool).name),
	);
	return {
		...result,
		tools: result.nextCursor === undefined ? [...upstreamTools, ...bridgeToolSchemas] : upstreamTools,
	};
}
