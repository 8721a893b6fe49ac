/** Replaces lone surrogates by U+FFFD. Other programs reject JSON that contains them. */
export const wellFormed = (text: string): string => Buffer.from(text).toString();

/** A JSON escape: a surrogate pair, a lone surrogate, or any other. */
const escapes =
	/\\(?:(u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|(u[dD][89a-fA-F][\da-fA-F]{2})|.)/g;

/** Replaces lone surrogates in JSON text, where they are escapes. */
export const wellFormedJson = (json: string): string =>
	json.replace(escapes, (whole, _pair, lone) => (lone === undefined ? whole : '\\ufffd'));

export function isDeeperThan(value: unknown, limit: number): boolean {
	let level = [value];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > limit) return true;
		level = level.flatMap(item => (isContainer(item) ? Object.values(item).filter(isContainer) : []));
	}
	return false;
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;
