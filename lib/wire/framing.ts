import {contentLengthSplitter} from './content-length-splitter.js';
import {BOM, lineSplitter, type MessageSplitter, type SplitterSink} from './line-splitter.js';
import {skipWhitespace} from './whitespace.js';

export type Framing = 'lines' | 'content-length';

const HEADER = 'content-';
/** The maximum white space to skip before the first message. */
const MAX_LEADER = 4096;

/**
 * Creates a splitter that detects the framing from the first bytes after white space and a byte order mark.
 */
export function detectFraming(
	maxBytes: number,
	sink: SplitterSink,
	onFraming: (framing: Framing) => void = () => {},
): MessageSplitter {
	let leader = Buffer.alloc(0);
	let splitter: MessageSplitter | undefined;
	const decide = (framing: Framing): MessageSplitter => {
		onFraming(framing);
		splitter = framing === 'lines' ? lineSplitter(maxBytes, sink) : contentLengthSplitter(maxBytes, sink);
		splitter.push(leader);
		leader = Buffer.alloc(0);
		return splitter;
	};
	return {
		push(chunk) {
			if (splitter) {
				splitter.push(chunk);
				return;
			}
			leader = Buffer.concat([leader, chunk]);
			const framing = framingOf(leader);
			if (framing) decide(framing);
		},
		end() {
			(splitter ?? decide('lines')).end();
		},
	};
}

/** Returns the framing, or undefined if more bytes are needed. */
function framingOf(bytes: Buffer): Framing | undefined {
	if (bytes.length > MAX_LEADER) bytes = bytes.subarray(0, MAX_LEADER);
	const bomPrefix = bytes.subarray(0, BOM.length);
	if (BOM.subarray(0, bomPrefix.length).equals(bomPrefix) && bomPrefix.length < BOM.length) return;
	const at = skipWhitespace(bytes, bomPrefix.equals(BOM) ? BOM.length : 0);
	const start = bytes.toString('latin1', at, at + HEADER.length).toLowerCase();
	if (start === HEADER) return 'content-length';
	const mayBecomeHeader = HEADER.startsWith(start) && bytes.length < MAX_LEADER;
	return mayBecomeHeader ? undefined : 'lines';
}
