import type {MailMessage} from '../../../lib/serve/mail/types.js';

let count = 0;

/** A message as an inbox has it, with what is not given made up. */
export const message = (given: Partial<MailMessage> = {}): MailMessage => ({
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
	...given,
});

/** A message of a prompt, as somebody understands it who knows the marks and nothing else. */
export type Delivered = {
	readonly header: {readonly [key: string]: unknown};
	readonly body: string;
	readonly cut: string | undefined;
};

/** Takes a prompt apart by its marks. Throws where it is not what it has to be. */
export function openLetters(prompt: string): Delivered[] {
	const fence = /\[mail ([\da-f]{32}) was written by others/.exec(prompt)?.[1];
	if (fence === undefined) throw new Error('There is no mark.');
	const mark = `[mail ${fence} `;
	const lines = prompt.slice(prompt.indexOf(`\n\n${mark}`) + 2).split('\n');
	const letters: Delivered[] = [];
	while (lines.length > 0) letters.push(openLetter(lines, mark, letters.length + 1));
	return letters;
}

/** Takes the lines of one message. */
function openLetter(lines: string[], mark: string, nth: number): Delivered {
	const [, begun, header = ''] = /^(\d+) of \d+\] (.*)$/.exec(lines.shift()?.slice(mark.length) ?? '') ?? [];
	if (Number(begun) !== nth) throw new Error(`Message ${nth} does not begin.`);
	const next = lines.findIndex(line => line.startsWith(mark));
	const body = lines.splice(0, next).join('\n');
	const isCut = lines[0]?.startsWith(`${mark}cut: `);
	const cut = isCut ? lines.shift()?.slice(mark.length) : undefined;
	if (lines.shift() !== `${mark}end of ${nth}]`) throw new Error(`Message ${nth} does not end.`);
	if (lines.length > 0 && lines.shift() !== '') throw new Error(`There is something behind message ${nth}.`);
	return {header: JSON.parse(header), body, cut};
}
