import {say} from './dom.js';
import {isMembers, written} from './json.js';

/** Puts a text where it can be pasted from. */
export async function copy(text: string, what: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
		say(`${what} copied`);
	} catch {
		say(`${what} could not be copied: the browser does not allow it`);
	}
}

/** A request with its answer, as tests keep it. */
export function asFixture(request: unknown, answer: unknown): string {
	const parts = {
		...(isMembers(request) ? {request} : {}),
		...(isMembers(answer) ? {answer} : {}),
	};
	return `${written(parts)}\n`;
}
