const LF = 0x0a;
/** A line that is longer than that is shown in parts. */
const MAX_LINE = 64 * 1024;

/** Writes what several say line by line, each with the name of who said it in front. */
export function prefixed(write: (text: string) => void): (name: string, chunk: Buffer) => void {
	/** What was said of a line that is not complete. Only those are here who are in the middle of one. */
	const begun = new Map<string, Buffer>();
	return (name, chunk) => {
		const before = begun.get(name);
		const all = before ? Buffer.concat([before, chunk]) : chunk;
		const end = all.lastIndexOf(LF) + 1;
		const rest = all.subarray(end);
		const isLong = rest.length > MAX_LINE;
		const complete = isLong ? all : all.subarray(0, end);
		if (rest.length === 0 || isLong) begun.delete(name);
		else begun.set(name, Buffer.from(rest));
		const lines = complete.toString().replace(/\n$/, '').split('\n');
		if (complete.length > 0) write(lines.map(line => `[${name}] ${line}\n`).join(''));
	};
}
