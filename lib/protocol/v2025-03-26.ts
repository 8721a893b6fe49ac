import {createHash} from 'node:crypto';
import {isObject, type JsonObject, mapMember, objectOf, toText} from '../util/json.js';
import {marks} from '../wire/marks.js';
import {
	type BlockChange,
	type BlockMapper,
	decodedLength,
	mapMessageBlocks,
	mapToolResultBlocks,
	textBlock,
} from './content.js';
import {
	ifContains,
	ifMarked,
	type RuleContext,
	type RuleResult,
	SyntheticResult,
	type VersionStep,
} from './translation-rule.js';

/** The URI scheme of embedded resources that replace other content. */
const CONTENT_SCHEME = 'bridge://content/';
const CONTENT_URI = /^bridge:\/\/content\/[^/]+\/\d+$/;
/** Characters of a message id in a URI. A longer id is hashed, because every block repeats it. */
const MAX_ID_LENGTH = 64;

/**
 * 2025-03-26 added audio, annotations of tools, messages in progress notifications, a capability for
 * completions, and batches. The stage `splitBatches` handles batches.
 */
export const v20250326: VersionStep = {
	version: '2025-03-26',
	down: {
		results: {
			'tools/call': ifMarked(marks.audio, audioToBlob(mapToolResultBlocks)),
			'prompts/get': ifMarked(marks.audio, audioToBlob(mapMessageBlocks)),
			'sampling/createMessage': ifMarked(marks.audio, sampledAudioToText),
		},
		requests: {
			'sampling/createMessage': ifMarked(marks.audio, mapMessageBlocks(audioToText)),
		},
	},
	up: {
		results: {
			initialize: {apply: addCompletions},
			'tools/call': ifContains([CONTENT_SCHEME], mapToolResultBlocks(blobToAudio)),
			'prompts/get': ifContains([CONTENT_SCHEME], mapMessageBlocks(blobToAudio)),
		},
		errors: {
			'completion/complete': {apply: emptyCompletions},
		},
	},
	members: {
		tool: ['annotations'],
		progress: ['message'],
	},
};

/** Converts audio to an embedded resource with the same data and type. Its URI identifies the message. */
function audioToBlob(mapBlocks: BlockMapper) {
	return (value: JsonObject, context: RuleContext): JsonObject => {
		const message = `${CONTENT_SCHEME}${uriSegment(context.id)}`;
		return mapBlocks((block, _pointer, _context, index) => {
			if (block.type !== 'audio') return block;
			const {type: _type, data, mimeType, ...rest} = block;
			return {type: 'resource', resource: {uri: `${message}/${index}`, mimeType, blob: data}, ...rest};
		})(value, context);
	};
}

/** Encodes the id of a message for a URI. The buffer replaces lone surrogates, which URIs cannot contain. */
const uriSegment = (id: string): string =>
	id.length <= MAX_ID_LENGTH
		? encodeURIComponent(Buffer.from(id).toString())
		: createHash('sha256').update(id).digest('base64url');

function blobToAudio(block: JsonObject): JsonObject {
	const {type, resource, ...rest} = block;
	if (type !== 'resource' || !isObject(resource)) return block;
	const {uri, mimeType, blob} = resource;
	if (typeof uri !== 'string' || !CONTENT_URI.test(uri)) return block;
	// The resource comes from elsewhere and only has a similar URI.
	if (typeof blob !== 'string' || typeof mimeType !== 'string' || !mimeType.startsWith('audio/'))
		return block;
	return {type: 'audio', data: blob, mimeType, ...rest};
}

/** Replaces audio with a text. Sampling has no embedded resources that could contain the data. */
function audioToText(...[block, , context]: Parameters<BlockChange>): JsonObject {
	if (block.type !== 'audio') return block;
	context.reportLoss('audio in sampling');
	const {mimeType, data} = block;
	return textBlock(
		`[${toText(mimeType)}, ${decodedLength(data)} bytes, not supported by protocol ${context.to}]`,
		block,
	);
}

function sampledAudioToText(result: JsonObject, context: RuleContext): JsonObject {
	return mapMember(result, 'content', content =>
		isObject(content) ? audioToText(content, '/content', context, 0) : content,
	);
}

/** Adds a completions capability. 2024-11-05 has completions without it, but newer clients require it. */
function addCompletions(result: JsonObject, {state}: RuleContext): JsonObject {
	const capabilities = objectOf(result.capabilities);
	const canComplete = 'prompts' in capabilities || 'resources' in capabilities;
	if (!canComplete || 'completions' in capabilities) return result;
	state.hasSyntheticCompletions = true;
	return {...result, capabilities: {...capabilities, completions: {}}};
}

/** An upstream that did not declare completions may lack the method. Its error becomes an empty result. */
function emptyCompletions(error: JsonObject, {state}: RuleContext): RuleResult {
	const isMissing = state.hasSyntheticCompletions && error.code === -32601;
	return isMissing ? new SyntheticResult({completion: {values: []}}) : error;
}
