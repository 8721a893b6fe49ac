import type {Message, Outcome} from './exchange.js';

/** A request, as far as its response is checked. */
export type Call = {
	readonly id: number;
	/** The text of the right result. */
	readonly text: string;
	/** Whether the upstream may have exited. */
	readonly mayFail: boolean;
};

/** A right response; an error that an upstream which exits may cause, by its code; or a failure of the gateway. */
export type Verdict = {readonly error?: number; readonly failure?: string};

/** Codes for requests to an upstream that exited: unavailable, exited, closed, and an unknown session. */
const EXITED: readonly unknown[] = [-31001, -31004, -31005, -32001];
const MAX_SHOWN = 300;
/** Enough of a payload to show which one it is. */
const MAX_PAYLOAD = 60;

const shown = (value: unknown, length = MAX_SHOWN): string =>
	(JSON.stringify(value) ?? 'nothing').slice(0, length);

const textOf = (result: unknown): unknown => {
	const {content, isError} = (result ?? {}) as {content?: ReadonlyArray<Message>; isError?: boolean};
	return isError !== true && content?.length === 1 ? content[0]?.text : undefined;
};

/** Compares what came back for a call with what should have. */
export function judge({id, text, mayFail}: Call, {status, responses, lost}: Outcome): Verdict {
	const [response, second] = responses;
	if (second) return {failure: `${responses.length} responses to one request: ${shown(responses)}`};
	if (!response) return {failure: lost ?? `HTTP ${status} without a response`};
	if (response.id !== id) return {failure: `a response to ${id} has another id: ${shown(response)}`};
	if ('error' in response) {
		const {code} = response.error as {readonly code: number};
		return mayFail && EXITED.includes(code)
			? {error: code}
			: {failure: `HTTP ${status}, ${shown(response.error)}`};
	}
	const got = textOf(response.result);
	return got === text
		? {}
		: {failure: `another result than ${shown(text, MAX_PAYLOAD)}: ${shown(response.result)}`};
}
