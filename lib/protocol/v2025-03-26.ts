import {createHash} from 'node:crypto';
import {marks} from '../wire/marks.js';
import {type BlockChange, type BlockPlace, decodedLength, inMessages, inToolResult, text} from './content.js';
import {changed, isObject, type JsonObject, objectOf, worded} from './json.js';
import {type Context, ifMarked, ifMentions, Reply, type Step, type Verdict} from './step.js';

/** The scheme of resources that are pieces of a message in another form. */
const CONTENT = 'bridge://content/';
const PIECE = /^bridge:\/\/content\/[^/]+\/\d+$/;
/** Characters of an id that is part of a uri itself. Of a longer one its SHA-256 is: each piece repeats it. */
const MAX_ID_LENGTH = 64;

/**
 * 2025-03-26 brought audio, annotations of tools, messages on progress, a capability for completions, and batches,
 * which are the matter of a stage of their own.
 */
export const v20250326: Step = {
	version: '2025-03-26',
	down: {
		results: {
			'tools/call': ifMarked(marks.audio, audioToBlob(inToolResult)),
			'prompts/get': ifMarked(marks.audio, audioToBlob(inMessages)),
			'sampling/createMessage': ifMarked(marks.audio, sampledAudioToText),
		},
		requests: {
			'sampling/createMessage': ifMarked(marks.audio, inMessages(audioToText)),
		},
	},
	up: {
		results: {
			initialize: {apply: addCompletions},
			'tools/call': ifMentions([CONTENT], inToolResult(blobToAudio)),
			'prompts/get': ifMentions([CONTENT], inMessages(blobToAudio)),
		},
		errors: {
			'completion/complete': {apply: noCompletions},
		},
	},
	members: {
		tool: ['annotations'],
		progress: ['message'],
	},
};

/** An embedded resource carries the same bytes under the same type, and its uri tells where they came from. */
function audioToBlob(within: BlockPlace) {
	return (value: JsonObject, context: Context): JsonObject => {
		const message = `${CONTENT}${uriName(context.id)}`;
		return within((block, _pointer, _context, index) => {
			if (block.type !== 'audio') return block;
			const {type: _type, data, mimeType, ...rest} = block;
			return {type: 'resource', resource: {uri: `${message}/${index}`, mimeType, blob: data}, ...rest};
		})(value, context);
	};
}

/** The id of a message in a uri. Half a character has no place there. */
const uriName = (id: string): string =>
	id.length <= MAX_ID_LENGTH
		? encodeURIComponent(Buffer.from(id).toString())
		: createHash('sha256').update(id).digest('base64url');

function blobToAudio(block: JsonObject): JsonObject {
	const {type, resource, ...rest} = block;
	if (type !== 'resource' || !isObject(resource)) return block;
	const {uri, mimeType, blob} = resource;
	if (typeof uri !== 'string' || !PIECE.test(uri)) return block;
	// Somebody else's, with a name like ours.
	if (typeof blob !== 'string' || typeof mimeType !== 'string' || !mimeType.startsWith('audio/'))
		return block;
	return {type: 'audio', data: blob, mimeType, ...rest};
}

/** Sampling has no resource to hide the bytes in. */
function audioToText(...[block, , context]: Parameters<BlockChange>): JsonObject {
	if (block.type !== 'audio') return block;
	context.lost('audio in sampling');
	const {mimeType, data} = block;
	return text(
		`[${worded(mimeType)}, ${decodedLength(data)} bytes, not supported by protocol ${context.to}]`,
		block,
	);
}

function sampledAudioToText(result: JsonObject, context: Context): JsonObject {
	return changed(result, 'content', content =>
		isObject(content) ? audioToText(content, '/content', context, 0) : content,
	);
}

/** Completions were there before their capability, without which newer clients do not ask for them. */
function addCompletions(result: JsonObject, {memory}: Context): JsonObject {
	const capabilities = objectOf(result.capabilities);
	const canComplete = 'prompts' in capabilities || 'resources' in capabilities;
	if (!canComplete || 'completions' in capabilities) return result;
	memory.completionsSynthesized = true;
	return {...result, capabilities: {...capabilities, completions: {}}};
}

/** A server that was never asked whether it completes has nothing to suggest. */
function noCompletions(error: JsonObject, {memory}: Context): Verdict {
	const isMissing = memory.completionsSynthesized && error.code === -32601;
	return isMissing ? new Reply({completion: {values: []}}) : error;
}
