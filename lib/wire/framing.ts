import {contentLength} from './content-length.js';
import {BOM, type Cuts, type Cutter, lines} from './lines.js';
import {skipSpace} from './space.js';

/** The two ways to tell where a message ends. */
export type Framing = 'lines' | 'content-length';

const HEADER = 'content-';
/** White space before the first message is looked through up to here. */
const MAX_LEADER = 4096;

/** A cutter that tells the framing by the first bytes that are neither white space nor a byte order mark. */
export function detectFraming(
	maxBytes: number,
	cuts: Cuts,
	onFraming: (framing: Framing) => void = () => {},
): Cutter {
	let seen = Buffer.alloc(0);
	let cutter: Cutter | undefined;
	const decide = (framing: Framing): Cutter => {
		onFraming(framing);
		cutter = framing === 'lines' ? lines(maxBytes, cuts) : contentLength(maxBytes, cuts);
		cutter.push(seen);
		seen = Buffer.alloc(0);
		return cutter;
	};
	return {
		push(chunk) {
			if (cutter) {
				cutter.push(chunk);
				return;
			}
			seen = Buffer.concat([seen, chunk]);
			const framing = guess(seen);
			if (framing) decide(framing);
		},
		end() {
			(cutter ?? decide('lines')).end();
		},
	};
}

/** The framing, as soon as what there is of the stream tells it. */
function guess(bytes: Buffer): Framing | undefined {
	if (bytes.length > MAX_LEADER) bytes = bytes.subarray(0, MAX_LEADER);
	const mark = bytes.subarray(0, BOM.length);
	if (BOM.subarray(0, mark.length).equals(mark) && mark.length < BOM.length) return;
	const at = skipSpace(bytes, mark.equals(BOM) ? BOM.length : 0);
	const start = bytes.toString('latin1', at, at + HEADER.length).toLowerCase();
	if (start === HEADER) return 'content-length';
	const mayBecomeHeader = HEADER.startsWith(start) && bytes.length < MAX_LEADER;
	return mayBecomeHeader ? undefined : 'lines';
}
