export const isPlainText = (input: unknown): input is string =>
	typeof input === 'string' && !input.includes('\0');

/** A URL of one of these protocols. */
export const parseUrl = (input: unknown, protocols: readonly string[]): URL | undefined => {
	const url = isPlainText(input) && URL.canParse(input) ? new URL(input) : undefined;
	return url && protocols.includes(url.protocol) ? url : undefined;
};

/** A URL of Redis, all parts of which can be read. */
export const parseStoreUrl = (input: unknown): URL | undefined => {
	const url = parseUrl(input, ['redis:', 'rediss:']);
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
