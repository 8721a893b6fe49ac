import {printableLines} from '../../lib/util/printable.js';

const LF = 0x0a;
/** Longer lines are split. */
const MAX_LINE = 64 * 1024;

/**
 * Writes the stderr of children line by line, each prefixed with the name of its service. A child therefore
 * cannot forge log lines. Control and bidi characters are escaped. An empty chunk marks the end and flushes
 * an unfinished line.
 */
export function prefixLines(write: (text: string) => void): (name: string, chunk: Buffer) => void {
	/** The unfinished line of each child that has one. */
	const incomplete = new Map<string, Buffer>();
	return (name, chunk) => {
		const previous = incomplete.get(name);
		const all = previous ? Buffer.concat([previous, chunk]) : chunk;
		const end = all.lastIndexOf(LF) + 1;
		const rest = all.subarray(end);
		const isWhole = rest.length > MAX_LINE || chunk.length === 0;
		const complete = isWhole ? all : all.subarray(0, end);
		if (rest.length === 0 || isWhole) incomplete.delete(name);
		else incomplete.set(name, Buffer.from(rest));
		const lines = printableLines(complete.toString()).replace(/\n$/, '').split('\n');
		if (complete.length > 0) write(lines.map(line => `[${name}] ${line}\n`).join(''));
	};
}
