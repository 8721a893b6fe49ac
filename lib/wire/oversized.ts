import {isUtf8} from 'node:buffer';

const SPACE = '[ \\t\\r\\n]*';
const STRING = '"(?:[^"\\\\]|\\\\.)*"';
const ID = `(${STRING}|-?[\\d.eE+-]+)`;
const MEMBER = `"(?:jsonrpc|method)"${SPACE}:${SPACE}${STRING}${SPACE}`;

/** An id at the start, after jsonrpc and method at most. */
const leadingId = new RegExp(
	`^${SPACE}\\{${SPACE}(?:${MEMBER},${SPACE})*"id"${SPACE}:${SPACE}${ID}${SPACE}[,}]`,
	's',
);

/** An id among the last members. Only the message's closing brace may follow, so it is at the top level. */
const trailingId = new RegExp(
	`,${SPACE}"id"${SPACE}:${SPACE}${ID}${SPACE}(?:,${SPACE}${MEMBER})*\\}${SPACE}$`,
	's',
);

/** The first member that distinguishes requests from responses. */
const kindMember = new RegExp(
	`^${SPACE}\\{${SPACE}(?:"(?:jsonrpc|id)"${SPACE}:${SPACE}${ID}${SPACE},${SPACE})*"(method|params|result|error)"`,
	's',
);

/** The parts of a message over the limit that could be recognized. */
export type Oversized = {readonly id: string | undefined; readonly isResponse: boolean};

/** Finds the id and the kind of a message by its first and last bytes. */
export function describeOversized(start: Buffer, end: Buffer): Oversized {
	const [head, tail] = [start.toString('latin1'), end.toString('latin1')];
	const id = validId(leadingId.exec(head)?.[1]) ?? validId(trailingId.exec(tail)?.[1]);
	const member = kindMember.exec(head)?.[2];
	return {id, isResponse: member === 'result' || member === 'error'};
}

/** Returns the id if it is valid JSON in UTF-8. The rest of the message may not be. */
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
