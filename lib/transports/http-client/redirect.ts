import type {IncomingHttpHeaders} from 'node:http';

/** Redirects of one request that are followed. */
export const MAX_REDIRECTS = 3;

/** How redirects are treated, for people. */
export const REDIRECT_RULE = `only 307 and 308 to the same origin are followed, ${MAX_REDIRECTS} times at most`;

/** The same for WebSockets, whose clients do not follow any. */
export const WEBSOCKET_REDIRECT_RULE = 'redirects of WebSockets are not followed';

/** Statuses that repeat the request at the other address: the others would make a GET of a POST. */
const followedStatuses: readonly number[] = [307, 308];

const targetOf = ({location}: IncomingHttpHeaders, url: URL): URL | undefined =>
	location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined;

/**
 * Where a request is to be repeated because of this response; undefined where it is not. Another origin never gets it: the
 * credentials in it are for this one.
 */
export function followedRedirect(status: number, headers: IncomingHttpHeaders, url: URL): URL | undefined {
	if (!followedStatuses.includes(status)) return;
	const target = targetOf(headers, url);
	const isSame = target?.origin === url.origin && target.username === '' && target.password === '';
	return isSame ? target : undefined;
}

/**
 * The target of a redirect that is not followed, for people: another origin, or another path of this one. The rest may hold
 * secrets.
 */
export function describeRedirectTarget(headers: IncomingHttpHeaders, url: URL): string {
	const target = targetOf(headers, url);
	if (!target) return 'an invalid address';
	return target.origin === url.origin
		? `${url.origin}${target.pathname}`
		: `${target.protocol}//${target.host}`;
}
