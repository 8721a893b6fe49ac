import {isObject, type JsonObject, listOf, mapMember, mapObjects, objectOf} from '../util/json.js';
import type {RuleContext} from './translation-rule.js';
import type {Version} from './version.js';

const firstVersions = new Map<unknown, Version>([
	['text', '2024-11-05'],
	['image', '2024-11-05'],
	['resource', '2024-11-05'],
	['audio', '2025-03-26'],
	['resource_link', '2025-06-18'],
]);

export function supportsContentType(version: Version, type: unknown): boolean {
	const firstVersion = firstVersions.get(type);
	return firstVersion !== undefined && firstVersion <= version;
}

/** Changes one content block. `pointer` is the JSON pointer of the block in its message. */
export type BlockChange = (
	block: JsonObject,
	pointer: string,
	context: RuleContext,
	index: number,
) => JsonObject;

export type BlockMapper = (change: BlockChange) => (value: JsonObject, context: RuleContext) => JsonObject;

export const mapToolResultBlocks: BlockMapper =
	change =>
	(result, context): JsonObject =>
		mapMember(result, 'content', content =>
			mapObjects(content, (block, index) => change(block, `/content/${index}`, context, index)),
		);

export const mapMessageBlocks: BlockMapper =
	change =>
	(value, context): JsonObject =>
		mapMember(value, 'messages', messages =>
			mapObjects(messages, (message, index) =>
				mapMember(message, 'content', content => {
					if (isObject(content)) return change(content, `/messages/${index}/content`, context, index);
					return mapObjects(content, (block, at) =>
						change(block, `/messages/${index}/content/${at}`, context, index),
					);
				}),
			),
		);

export const textBlock = (text: string, {annotations}: JsonObject = {}): JsonObject =>
	annotations === undefined ? {type: 'text', text: text} : {type: 'text', text: text, annotations};

/** The number of bytes that a base64 text decodes to. */
export const decodedLength = (base64: unknown): number =>
	typeof base64 === 'string' ? Buffer.byteLength(base64, 'base64') : 0;

/** Returns the content with a text block. If it has none, a block with the value as JSON is added. */
export function withTextBlock(content: unknown, value: unknown): readonly unknown[] {
	const blocks = listOf(content);
	const hasText = blocks.some(block => objectOf(block).type === 'text');
	return hasText ? blocks : [...blocks, textBlock(JSON.stringify(value))];
}
