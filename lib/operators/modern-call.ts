import type {Envelope} from '../envelope.js';
import type {JsonObject} from '../protocol/json.js';

/** A request of the client's that the upstream has been asked. */
export type Call = {
	/** Its id, as the client waits for the answer: another one after each round of input. */
	id: string;
	readonly told: string;
	readonly method: string;
	readonly capabilities: JsonObject;
	readonly logLevel: string | undefined;
	/** Under what it is parked, while the client is to answer what the server asked. */
	parked: string | undefined;
	/** The answer, if it came while the call was parked. */
	answer: Envelope | undefined;
	/** What the server asks, by the key of the request. */
	readonly questions: Map<string, {readonly id: string; readonly method: string; readonly params: unknown}>;
};

/** Requests whose answers may ask for input. */
export const resumable: readonly unknown[] = ['tools/call', 'prompts/get', 'resources/read'];
/** What a server may ask, with the capability that the client has to have for it. */
export const askable = new Map([
	['roots/list', 'roots'],
	['sampling/createMessage', 'sampling'],
	['elicitation/create', 'elicitation'],
]);

export const newCall = (call: Omit<Call, 'parked' | 'answer' | 'questions'>): Call => ({
	...call,
	parked: undefined,
	answer: undefined,
	questions: new Map(),
});

/** Whether a call is over upstream, and has to be made anew. */
export const isRepeat = ({told}: Call): boolean => told === '';
