import {isSensitiveName} from './secret-names.js';

/** What stands in for a secret. */
export const HIDDEN_VALUE = '[hidden]';

/** A URL without what may be secret in it: who logs in, and what the query says. */
export function redactUrl({protocol, username, password, host, pathname, search, searchParams}: URL): string {
	const user = username || password ? `${HIDDEN_VALUE}@` : '';
	const query = [...searchParams.keys()].map(key => `${encodeURIComponent(key)}=${HIDDEN_VALUE}`).join('&');
	return `${protocol}//${user}${host}${pathname}${search ? `?${query}` : ''}`;
}

/** Arguments without the values of flags that are named like secrets: `--api-key=x`, `--token x`. */
export const redactArgs = (args: readonly string[]): string[] =>
	args.map((arg, at) => {
		const before = args[at - 1] ?? '';
		if (/^--?[\w-]+$/.test(before) && isSensitiveName(before) && !arg.startsWith('-')) return HIDDEN_VALUE;
		const [, flag = ''] = /^([\w-]+=)/.exec(arg) ?? [];
		if (flag !== '' && isSensitiveName(flag)) return `${flag}${HIDDEN_VALUE}`;
		return /^[a-z][a-z0-9+.-]*:\/\//i.test(arg) && URL.canParse(arg) ? redactUrl(new URL(arg)) : arg;
	});
