/** A program as it is run: out of its fence, without the indentation that all its lines have. */
export function sourceIn(command: string): string {
	const text = command.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
	return dedented(unfenced(text));
}

/** What stands between fences of any length, with or without a language, or between single backticks. */
function unfenced(text: string): string {
	const trimmed = text.trim();
	const block = /^(`{3,}|~{3,})[ \t]*[\w+.-]*[ \t]*\n([\s\S]*?)\n?[ \t]*\1[`~]*$/.exec(trimmed)?.[2];
	if (block !== undefined) return block;
	const [, , inline] = /^(`{1,3})([^`\n]+)\1$/.exec(trimmed) ?? [];
	return inline ?? text;
}

function dedented(text: string): string {
	const lines = text
		.replace(/^(?:[ \t]*\n)+/, '')
		.trimEnd()
		.split('\n');
	const indents = lines.filter(line => line.trim() !== '').map(line => /^[ \t]*/.exec(line)?.[0] ?? '');
	const [first = ''] = indents;
	const isCommon = indents.every(indent => indent.startsWith(first));
	return (isCommon ? lines.map(line => line.slice(first.length)) : lines).join('\n');
}
