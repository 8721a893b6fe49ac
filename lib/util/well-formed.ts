/** The text with U+FFFD for each lone surrogate: other programs reject JSON that has one. */
export const wellFormed = (text: string): string => Buffer.from(text).toString();

/** An escape of JSON: a pair of surrogates, a lone one, or any other. */
const escapes =
	/\\(?:(u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|(u[dD][89a-fA-F][\da-fA-F]{2})|.)/g;

/** The same for a JSON text. Lone surrogates are escapes there. */
export const wellFormedJson = (json: string): string =>
	json.replace(escapes, (whole, _pair, lone) => (lone === undefined ? whole : '\\ufffd'));

/** Whether lists and objects are nested deeper than this. */
export function isDeeperThan(value: unknown, limit: number): boolean {
	let level = [value];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > limit) return true;
		level = level.flatMap(item => (isContainer(item) ? Object.values(item).filter(isContainer) : []));
	}
	return false;
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;
