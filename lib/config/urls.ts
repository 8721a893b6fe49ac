export const isText = (given: unknown): given is string => typeof given === 'string' && !given.includes('\0');

/** A URL of one of these protocols. */
export const urlOf = (given: unknown, protocols: readonly string[]): URL | undefined => {
	const url = isText(given) && URL.canParse(given) ? new URL(given) : undefined;
	return url && protocols.includes(url.protocol) ? url : undefined;
};

/** A URL of Redis, all parts of which can be read. */
export const storeOf = (given: unknown): URL | undefined => {
	const url = urlOf(given, ['redis:', 'rediss:']);
	const nodes = url?.searchParams.getAll('node') ?? [];
	const isReadable = [url?.username, url?.password].every((text = '') => isDecodable(text));
	return isReadable && nodes.every(node => node !== '' && URL.canParse(`redis://${node}`)) ? url : undefined;
};

const isDecodable = (text: string): boolean => {
	try {
		decodeURIComponent(text);
		return true;
	} catch {
		return false;
	}
};
