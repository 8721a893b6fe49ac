import {BoundedMap} from '../bounded-map.js';
import {change} from '../change.js';
import {Envelope} from '../envelope.js';
import {eachObject, type JsonObject, listOf, objectOf} from '../protocol/json.js';
import type {OwnTools} from '../sessions/own-tool.js';
import {extended, ownTools} from '../sessions/tool-schemas.js';
import {type Stage, stage} from '../stage.js';

export type AddToolsOptions = {
	readonly tools: OwnTools;
};

/** As many as may wait for an answer. */
const MAX_LISTS = 65_536;

/** Shows the client more tools than the server has, and answers their calls. The server's own are extended, not replaced. */
export function addTools({tools}: AddToolsOptions): Stage {
	/** Requests for lists, by their keys. */
	const lists = new BoundedMap<string, true>(MAX_LISTS);
	return stage(out => ({
		toUpstream(envelope) {
			const {id, key, method} = envelope.head;
			if (id === undefined || key === undefined) return envelope;
			if (method === 'tools/list') lists.set(key, true);
			if (method !== 'tools/call') return envelope;
			const params = objectOf(envelope.body.params);
			const called = tools.call(params);
			if (!called) return envelope;
			const {origin} = envelope;
			void called.then(({result, answered}) => {
				out.toClient(Envelope.answer(id, 'result', result, origin));
				answered();
			});
			return;
		},
		toClient(envelope) {
			const {key, method, hasResult} = envelope.head;
			if (method !== undefined || key === undefined || !lists.take(key) || !hasResult) return envelope;
			return change(envelope, body => ({...body, result: withTools(objectOf(body.result))}));
		},
	}));
}

/** A page of the server's tools with what is added to them; on the last page, the others. */
function withTools(result: JsonObject): JsonObject {
	const theirs = listOf(eachObject(result.tools, extended)).filter(
		tool => !ownTools.some(({name}) => name === objectOf(tool).name),
	);
	return {...result, tools: result.nextCursor === undefined ? [...theirs, ...ownTools] : theirs};
}
