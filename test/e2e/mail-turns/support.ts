import type {MailMessage} from '../../../lib/serve/mail/types.js';

let count = 0;

/** An inbox message with defaults for missing fields. */
export const message = (fields: Partial<MailMessage> = {}): MailMessage => ({
	id: `m-${++count}`,
	from: 'dev-1',
	text: 'Hello.',
	timestamp: '2026-11-17T10:00:00.000Z',
	at: Date.parse('2026-11-17T10:00:00.000Z'),
	isRead: false,
	summary: undefined,
	sourceTeam: undefined,
	type: undefined,
	isUrgent: false,
	...fields,
});

/** A message of a prompt, parsed only by the marks of the envelope. */
export type Delivered = {
	readonly header: {readonly [key: string]: unknown};
	readonly body: string;
	readonly cut: string | undefined;
};

/** Parses the envelope of a prompt. Throws if it is malformed. */
export function parseMailPrompt(prompt: string): Delivered[] {
	const fence = /\[mail ([\da-f]{32}) was written by others/.exec(prompt)?.[1];
	if (fence === undefined) throw new Error('The prompt has no mark.');
	const mark = `[mail ${fence} `;
	const lines = prompt.slice(prompt.indexOf(`\n\n${mark}`) + 2).split('\n');
	const messages: Delivered[] = [];
	while (lines.length > 0) messages.push(takeMessage(lines, mark, messages.length + 1));
	return messages;
}

/** Removes the lines of one message and parses them. */
function takeMessage(lines: string[], mark: string, nth: number): Delivered {
	const [, number, header = ''] = /^(\d+) of \d+\] (.*)$/.exec(lines.shift()?.slice(mark.length) ?? '') ?? [];
	if (Number(number) !== nth) throw new Error(`Message ${nth} does not begin.`);
	const next = lines.findIndex(line => line.startsWith(mark));
	const body = lines.splice(0, next).join('\n');
	const isCut = lines[0]?.startsWith(`${mark}cut: `);
	const cut = isCut ? lines.shift()?.slice(mark.length) : undefined;
	if (lines.shift() !== `${mark}end of ${nth}]`) throw new Error(`Message ${nth} does not end.`);
	if (lines.length > 0 && lines.shift() !== '') throw new Error(`Unexpected text after message ${nth}.`);
	return {header: JSON.parse(header), body, cut};
}
