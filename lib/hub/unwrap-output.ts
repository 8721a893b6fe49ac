import type {Envelope} from '../core/envelope.js';
import {needsWrapper} from '../protocol/stateless-output.js';
import {isObject, type JsonObject, listOf, objectOf} from '../util/json.js';
import {memberRange} from '../wire/member.js';

// The output of a tool may be wrapped as the only member of an object: by bridge, since handshake versions
// allow only objects, or by FastMCP for the same reason. Programs of `run` get the output that the tool
// returned.

/** The original output of a tool that is wrapped in its results. */
export type WrappedOutput = {readonly schema: unknown};

/** The marker that FastMCP sets in the schema of an output that it wraps. */
const FASTMCP_WRAP_KEY = 'x-fastmcp-wrap-result';

/** Returns the tools of a page as the upstream sent them, by name. */
export function originalTools({original}: Envelope): ReadonlyMap<unknown, JsonObject> {
	const {tools} = objectOf(original.body.result);
	return new Map(listOf(tools).map(tool => [objectOf(tool).name, objectOf(tool)]));
}

/** Returns how a tool's output is wrapped; undefined if it is not. */
export function wrappedOutput(tool: JsonObject, original: JsonObject | undefined): WrappedOutput | undefined {
	if (original && needsWrapper(original) && !needsWrapper(tool)) return {schema: original.outputSchema};
	const schema = objectOf(tool.outputSchema);
	return schema[FASTMCP_WRAP_KEY] === true ? {schema: objectOf(schema.properties).result} : undefined;
}

/** Returns a result with the output that the tool returned. */
export function unwrapOutput(
	result: unknown,
	response: Envelope,
	output: WrappedOutput | undefined,
): unknown {
	const {structuredContent: content, ...others} = objectOf(result);
	if (!isObject(content) || !('result' in content) || Object.keys(content).length > 1) return result;
	if (!output && !isWrappedByBridge(response)) return result;
	// Removes the text, so that the program gets None instead of the text "null".
	if (content.result === null) return {...others, structuredContent: null, content: []};
	return {...others, structuredContent: content.result};
}

const OPEN_OBJECT = 0x7b;

/** Whether bridge has wrapped the output that the upstream sent. */
function isWrappedByBridge({original: {bytes}}: Envelope): boolean {
	const [start] = memberRange(bytes, 'result', 'structuredContent') ?? [];
	return start !== undefined && bytes[start] !== OPEN_OBJECT;
}
