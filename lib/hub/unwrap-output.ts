import type {Envelope} from '../core/envelope.js';
import {needsWrapper} from '../protocol/stateless-output.js';
import {isObject, type JsonObject, listOf, objectOf} from '../util/json.js';
import {memberRange} from '../wire/member.js';

// The output of a tool may be wrapped, as the only member of an object: by bridge, since versions with a handshake know
// objects only, or by FastMCP for the same reason. Programs of `run` see what the tool returned.

/** What a tool returns that is wrapped. */
export type WrappedOutput = {readonly schema: unknown};

/** The mark of FastMCP in the schema of an output that it wraps. */
const FASTMCP_WRAP_KEY = 'x-fastmcp-wrap-result';

/** The tools of a page as the server sent them, by name. */
export function originalTools({original}: Envelope): ReadonlyMap<unknown, JsonObject> {
	const {tools} = objectOf(original.body.result);
	return new Map(listOf(tools).map(tool => [objectOf(tool).name, objectOf(tool)]));
}

/** The output of a tool that is wrapped in its result; undefined if it is not. */
export function wrappedOutput(tool: JsonObject, original: JsonObject | undefined): WrappedOutput | undefined {
	if (original && needsWrapper(original) && !needsWrapper(tool)) return {schema: original.outputSchema};
	const schema = objectOf(tool.outputSchema);
	return schema[FASTMCP_WRAP_KEY] === true ? {schema: objectOf(schema.properties).result} : undefined;
}

/** A result with the output that the tool returned. */
export function unwrapOutput(
	result: unknown,
	response: Envelope,
	output: WrappedOutput | undefined,
): unknown {
	const {structuredContent: content, ...others} = objectOf(result);
	if (!isObject(content) || !('result' in content) || Object.keys(content).length > 1) return result;
	if (!output && !isWrappedByBridge(response)) return result;
	// Without a text, the program gets None, and not the word.
	if (content.result === null) return {...others, structuredContent: null, content: []};
	return {...others, structuredContent: content.result};
}

const OPEN_OBJECT = 0x7b;

/** Whether bridge has made an object of what the server sent. */
function isWrappedByBridge({original: {bytes}}: Envelope): boolean {
	const [start] = memberRange(bytes, 'result', 'structuredContent') ?? [];
	return start !== undefined && bytes[start] !== OPEN_OBJECT;
}
