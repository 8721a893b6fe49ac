import {showToast} from './dom.js';
import {isJsonMembers, stringifyJsonSource} from './json.js';

/** Puts a text where it can be pasted from. */
export async function copyText(text: string, label: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
		showToast(`${label} copied`);
	} catch {
		showToast(`${label} could not be copied: the browser does not allow it`);
	}
}

/** A request with its answer, as tests keep it. */
export function fixtureText(request: unknown, response: unknown): string {
	const parts = {
		...(isJsonMembers(request) ? {request} : {}),
		...(isJsonMembers(response) ? {answer: response} : {}),
	};
	return `${stringifyJsonSource(parts)}\n`;
}
