import {isUtf8} from 'node:buffer';

/** Parts of the expressions below, which are compiled from these constants only. */
const SPACE = '[ \\t\\r\\n]*';
const STRING = '"(?:[^"\\\\]|\\\\.)*"';
const ID = `(${STRING}|-?[\\d.eE+-]+)`;
const MEMBER = `"(?:jsonrpc|method)"${SPACE}:${SPACE}${STRING}${SPACE}`;

/** The id right at the start, after no more than jsonrpc and method. */
const leadingId = new RegExp(
	`^${SPACE}\\{${SPACE}(?:${MEMBER},${SPACE})*"id"${SPACE}:${SPACE}${ID}${SPACE}[,}]`,
	's',
);

/** The id as one of the last members. No brace or bracket follows it but the message's own last one, so it is the top level's. */
const trailingId = new RegExp(
	`,${SPACE}"id"${SPACE}:${SPACE}${ID}${SPACE}(?:,${SPACE}${MEMBER})*\\}${SPACE}$`,
	's',
);

/** The first member that only a question or only an answer has. */
const kindMember = new RegExp(
	`^${SPACE}\\{${SPACE}(?:"(?:jsonrpc|id)"${SPACE}:${SPACE}${ID}${SPACE},${SPACE})*"(method|params|result|error)"`,
	's',
);

/** What is known of a message over the limit. */
export type Oversized = {readonly id: string | undefined; readonly isResponse: boolean};

/** What the first and the last bytes of a message tell of it. */
export function describeOversized(start: Buffer, end: Buffer): Oversized {
	const [head, tail] = [start.toString('latin1'), end.toString('latin1')];
	const id = validId(leadingId.exec(head)?.[1]) ?? validId(trailingId.exec(tail)?.[1]);
	const member = kindMember.exec(head)?.[2];
	return {id, isResponse: member === 'result' || member === 'error'};
}

/** An id that can be written into an answer: the rest of the message may be anything. */
function validId(text: string | undefined): string | undefined {
	if (text === undefined) return;
	const bytes = Buffer.from(text, 'latin1');
	if (!isUtf8(bytes)) return;
	try {
		const id = bytes.toString();
		JSON.parse(id);
		return id;
	} catch {
		return;
	}
}
