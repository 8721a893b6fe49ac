import type {Envelope} from '../core/envelope.js';
import {listOf, objectOf} from '../util/json.js';
import {memberRange} from '../wire/member.js';

/** Longer JSON is not parsed. Its length in bytes is used instead. */
const MAX_BYTES = 2 ** 20;

/**
 * The length of a tool's result as a string, in characters: its texts, including those of resources, joined
 * by line feeds; or without any text, its structured content as JSON.
 */
export function resultLength({bytes}: Envelope): number {
	const [start, end] = memberRange(bytes, 'result', 'content') ?? [0, 0];
	if (end - start > MAX_BYTES) return end - start;
	const content: unknown = JSON.parse(bytes.toString('utf8', start, end) || '[]');
	const texts = listOf(content).flatMap(part => {
		const {text = objectOf(objectOf(part).resource).text} = objectOf(part);
		return typeof text === 'string' ? [text] : [];
	});
	if (texts.length > 0) return texts.join('\n').length;
	const [from, to] = memberRange(bytes, 'result', 'structuredContent') ?? [0, 0];
	return to - from > MAX_BYTES ? to - from : bytes.toString('utf8', from, to).length;
}
