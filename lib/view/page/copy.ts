import {showToast} from './dom.js';
import {isJsonMembers, stringifyJsonSource} from './json.js';

/** Copies a text to the clipboard. */
export async function copyText(text: string, label: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
		showToast(`${label} copied`);
	} catch {
		showToast(`${label} could not be copied: the browser denied access to the clipboard`);
	}
}

/** A request and its response as a JSON file for tests. */
export function fixtureText(request: unknown, response: unknown): string {
	const parts = {
		...(isJsonMembers(request) ? {request} : {}),
		...(isJsonMembers(response) ? {answer: response} : {}),
	};
	return `${stringifyJsonSource(parts)}\n`;
}
