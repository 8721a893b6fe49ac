/** Returns the program without its Markdown fence and without the common indentation of its lines. */
export function extractSource(command: string): string {
	const text = command.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
	return dedent(stripFence(text));
}

/** Removes a fence of any length, with or without a language, or single backticks. */
function stripFence(text: string): string {
	const trimmed = text.trim();
	const block = fencedBlock(trimmed);
	if (block !== undefined) return block;
	const [, , inline] = /^(`{1,3})([^`\n]+)\1$/.exec(trimmed) ?? [];
	return inline ?? text;
}

/**
 * Returns the text between an opening fence line and the same fence at the end. Scans from both ends to stay
 * in linear time.
 */
function fencedBlock(text: string): string | undefined {
	const [head, fence] = /^(`{3,100}|~{3,100})[ \t]*(?:[\w+.-]+[ \t]*)?\n/.exec(text) ?? [];
	if (head === undefined || fence === undefined) return;
	const skipBack = (from: number, chars: string): number => {
		let at = from;
		while (at > head.length && chars.includes(text.charAt(at - 1))) at--;
		return at;
	};
	const close = text.indexOf(fence, skipBack(text.length, '`~'));
	if (close === -1) return;
	const end = skipBack(close, ' \t');
	return text.slice(head.length, end > head.length && text[end - 1] === '\n' ? end - 1 : end);
}

function dedent(text: string): string {
	const lines = text
		.replace(/^(?:[ \t]*\n)+/, '')
		.trimEnd()
		.split('\n');
	const indents = lines.filter(line => line.trim() !== '').map(line => /^[ \t]*/.exec(line)?.[0] ?? '');
	const [first = ''] = indents;
	const isCommon = indents.every(indent => indent.startsWith(first));
	return (isCommon ? lines.map(line => line.slice(first.length)) : lines).join('\n');
}
