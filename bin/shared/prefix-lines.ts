import {printableLines} from '../../lib/util/printable.js';

const LF = 0x0a;
/** A line that is longer than that is shown in parts. */
const MAX_LINE = 64 * 1024;

/**
 * Writes the stderr of children line by line, each line with the name of its service as a prefix, so that no child can forge
 * a line of the log. Control and bidi characters become escapes. An empty chunk is the end: it writes an unfinished line.
 */
export function prefixLines(write: (text: string) => void): (name: string, chunk: Buffer) => void {
	/** What was said of a line that is not complete. Only those are here who are in the middle of one. */
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
