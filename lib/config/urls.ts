export const isPlainText = (input: unknown): input is string =>
	typeof input === 'string' && !input.includes('\0');

/** Parses a URL with one of these protocols. */
export const parseUrl = (input: unknown, protocols: readonly string[]): URL | undefined => {
	const url = isPlainText(input) && URL.canParse(input) ? new URL(input) : undefined;
	return url && protocols.includes(url.protocol) ? url : undefined;
};

/** Parses a Redis URL. Rejects invalid percent encoding in the credentials and invalid nodes. */
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
