import {BridgeError} from '../errors.js';
import {type Log, logBug} from '../log.js';
import {isObject, type JsonObject, objectOf} from '../protocol/json.js';
import type {Journal} from './journal.js';
import {asRefusal, Refusal} from './refusal.js';

/** What there is to a call beside its arguments. */
export type CallContext = {
	/** The `_meta` of the call. */
	readonly meta: JsonObject;
	/** Does something once the answer is on its way, which must not be done if there is none. */
	readonly afterAnswer: (action: () => Promise<void>) => void;
};

/** A tool that is answered here: what it gives back, or why it refuses. */
export type OwnTool = (args: JsonObject, context: CallContext) => JsonObject | Promise<JsonObject>;

/** The result of a call, and what is to be called when it is on its way. */
export type OwnAnswer = {readonly result: JsonObject; readonly answered: () => void};

/** Calls such a tool. */
export async function callOwn(
	own: OwnTool,
	params: JsonObject,
	{journal, log}: {readonly journal: Journal; readonly log: Log},
): Promise<OwnAnswer> {
	const later: Array<() => Promise<void>> = [];
	const context: CallContext = {meta: objectOf(params._meta), afterAnswer: action => later.push(action)};
	const answered = (): void => {
		for (const action of later)
			action().catch(error => {
				if (error instanceof BridgeError) log.warn('tool.afterwards', error.sentence);
				else logBug(log, error);
			});
	};
	try {
		const value = await own(argumentsOf(params.arguments), context);
		const content = [{type: 'text', text: JSON.stringify(value, null, 2)}];
		return {result: {content, structuredContent: value}, answered};
	} catch (error) {
		if (!(error instanceof Refusal)) logBug(log, error);
		const refusal = asRefusal(error);
		journal.refused(params, refusal);
		return {result: refusal.result, answered: () => {}};
	}
}

/** The arguments of a call, if they are some. */
function argumentsOf(given: unknown): JsonObject {
	if (given === undefined) return {};
	if (isObject(given)) return given;
	throw new Refusal('invalid_params', 'The arguments have to be an object.');
}
