import type {IncomingHttpHeaders} from 'node:http';

export const MAX_REDIRECTS = 3;

export const REDIRECT_RULE = `only 307 and 308 to the same origin are followed, ${MAX_REDIRECTS} times at most`;

export const WEBSOCKET_REDIRECT_RULE = 'redirects of WebSockets are not followed';

/** Statuses that repeat the request unchanged. The others would turn a POST into a GET. */
const followedStatuses: readonly number[] = [307, 308];

const targetOf = ({location}: IncomingHttpHeaders, url: URL): URL | undefined =>
	location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined;

/**
 * Returns the URL at which to repeat the request; undefined if the redirect is not followed. Another origin
 * must not receive the credentials in the request.
 */
export function followedRedirect(status: number, headers: IncomingHttpHeaders, url: URL): URL | undefined {
	if (!followedStatuses.includes(status)) return;
	const target = targetOf(headers, url);
	const isSame = target?.origin === url.origin && target.username === '' && target.password === '';
	return isSame ? target : undefined;
}

/**
 * The target of a redirect, for error messages: another origin without its path, or a path of the same
 * origin. The other parts may contain secrets.
 */
export function describeRedirectTarget(headers: IncomingHttpHeaders, url: URL): string {
	const target = targetOf(headers, url);
	if (!target) return 'an invalid address';
	return target.origin === url.origin
		? `${url.origin}${target.pathname}`
		: `${target.protocol}//${target.host}`;
}
