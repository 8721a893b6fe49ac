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

/** The scheme of resources that are pieces of a message in another form. */
const CONTENT_SCHEME = 'bridge://content/';
const CONTENT_URI = /^bridge:\/\/content\/[^/]+\/\d+$/;
/** Characters of an id that is part of a uri itself. Of a longer one its SHA-256 is: each piece repeats it. */
const MAX_ID_LENGTH = 64;

/**
 * 2025-03-26 brought audio, annotations of tools, messages on progress, a capability for completions, and batches,
 * which are the matter of a stage of their own.
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

/** An embedded resource carries the same bytes under the same type, and its uri tells where they came from. */
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

/** The id of a message in a uri. Half a character has no place there. */
const uriSegment = (id: string): string =>
	id.length <= MAX_ID_LENGTH
		? encodeURIComponent(Buffer.from(id).toString())
		: createHash('sha256').update(id).digest('base64url');

function blobToAudio(block: JsonObject): JsonObject {
	const {type, resource, ...rest} = block;
	if (type !== 'resource' || !isObject(resource)) return block;
	const {uri, mimeType, blob} = resource;
	if (typeof uri !== 'string' || !CONTENT_URI.test(uri)) return block;
	// Somebody else's, with a name like ours.
	if (typeof blob !== 'string' || typeof mimeType !== 'string' || !mimeType.startsWith('audio/'))
		return block;
	return {type: 'audio', data: blob, mimeType, ...rest};
}

/** Sampling has no resource to hide the bytes in. */
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

/** Completions were there before their capability, without which newer clients do not ask for them. */
function addCompletions(result: JsonObject, {state: memory}: RuleContext): JsonObject {
	const capabilities = objectOf(result.capabilities);
	const canComplete = 'prompts' in capabilities || 'resources' in capabilities;
	if (!canComplete || 'completions' in capabilities) return result;
	memory.hasSyntheticCompletions = true;
	return {...result, capabilities: {...capabilities, completions: {}}};
}

/** A server that was never asked whether it completes has nothing to suggest. */
function emptyCompletions(error: JsonObject, {state: memory}: RuleContext): RuleResult {
	const isMissing = memory.hasSyntheticCompletions && error.code === -32601;
	return isMissing ? new SyntheticResult({completion: {values: []}}) : error;
}
