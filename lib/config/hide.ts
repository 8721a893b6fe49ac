import {isSecretName} from './secrets.js';

/** What stands in for a secret. */
export const HIDDEN = '[hidden]';

/** A URL without what may be secret in it: who logs in, and what the query says. */
export function hiddenUrl({protocol, username, password, host, pathname, search, searchParams}: URL): string {
	const user = username || password ? `${HIDDEN}@` : '';
	const query = [...searchParams.keys()].map(key => `${encodeURIComponent(key)}=${HIDDEN}`).join('&');
	return `${protocol}//${user}${host}${pathname}${search ? `?${query}` : ''}`;
}

/** Arguments without the values of flags that are named like secrets: `--api-key=x`, `--token x`. */
export const hiddenArgs = (args: readonly string[]): string[] =>
	args.map((arg, at) => {
		const before = args[at - 1] ?? '';
		if (/^--?[\w-]+$/.test(before) && isSecretName(before) && !arg.startsWith('-')) return HIDDEN;
		const [, flag = ''] = /^([\w-]+=)/.exec(arg) ?? [];
		if (flag !== '' && isSecretName(flag)) return `${flag}${HIDDEN}`;
		return /^[a-z][a-z0-9+.-]*:\/\//i.test(arg) && URL.canParse(arg) ? hiddenUrl(new URL(arg)) : arg;
	});
