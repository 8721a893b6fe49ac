import type {Message} from '../../lib/mail/types.js';

let count = 0;

/** A message as an inbox has it, with what is not given made up. */
export const message = (given: Partial<Message> = {}): Message => ({
	...{id: `m-${++count}`, from: 'dev-1', text: 'Hello.', timestamp: '2026-11-17T10:00:00.000Z'},
	...{at: Date.parse('2026-11-17T10:00:00.000Z'), isRead: false, summary: undefined, sourceTeam: undefined},
	...{type: undefined, isUrgent: false},
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
	const letters: Array<{
		header: Delivered['header'];
		lines: string[];
		cut: string | undefined;
		isOver: boolean;
	}> = [];
	const [, ...lines] = prompt.slice(prompt.indexOf(`\n\n${mark}`) + 1).split('\n');
	for (const line of lines) {
		const open = letters.at(-1);
		if (!line.startsWith(mark)) {
			if (open && !open.isOver) open.lines.push(line);
			else if (line !== '') throw new Error(`Outside of the marks: ${line}`);
			continue;
		}
		const rest = line.slice(mark.length);
		const begin = /^(\d+) of (\d+)\] (.*)$/.exec(rest);
		if (begin && open?.isOver !== false && Number(begin[1]) === letters.length + 1)
			letters.push({header: JSON.parse(begin[3] ?? ''), lines: [], cut: undefined, isOver: false});
		else if (open && rest.startsWith('cut: ')) open.cut = rest;
		else if (open && rest === `end of ${letters.length}]`) open.isOver = true;
		else throw new Error(`A mark that is out of place: ${line}`);
	}
	if (letters.some(({isOver}) => !isOver)) throw new Error('A message does not end.');
	return letters.map(({header, lines: body, cut}) => ({header, body: body.join('\n'), cut}));
}
