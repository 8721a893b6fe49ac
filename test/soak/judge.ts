import type {Message, Outcome} from './exchange.js';

/** A request, as far as its response is checked. */
export type Call = {
	readonly id: number;
	/** The text of the correct result. */
	readonly text: string;
	/** Whether the upstream may have exited. */
	readonly mayFail: boolean;
};

/** A correct response, the error code of an upstream that may exit, or a failure of the gateway. */
export type Verdict = {readonly error?: number; readonly failure?: string};

/** Error codes of requests to an upstream that exited: unavailable, exited, closed, and unknown session. */
const EXITED: readonly unknown[] = [-31001, -31004, -31005, -32001];
const MAX_SHOWN = 300;
/** Long enough to identify a payload. */
const MAX_PAYLOAD = 60;

const shown = (value: unknown, length = MAX_SHOWN): string =>
	(JSON.stringify(value) ?? 'nothing').slice(0, length);

const textOf = (result: unknown): unknown => {
	const {content, isError} = (result ?? {}) as {content?: ReadonlyArray<Message>; isError?: boolean};
	return isError !== true && content?.length === 1 ? content[0]?.text : undefined;
};

/** Compares the outcome of a call with the expected one. */
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
