import {isSensitiveName} from './secret-names.js';

/** The replacement for a secret. */
export const HIDDEN_VALUE = '[hidden]';

/** Returns a URL without its credentials and without the values of its query parameters. */
export function redactUrl({protocol, username, password, host, pathname, search, searchParams}: URL): string {
	const user = username || password ? `${HIDDEN_VALUE}@` : '';
	const query = [...searchParams.keys()].map(key => `${encodeURIComponent(key)}=${HIDDEN_VALUE}`).join('&');
	return `${protocol}//${user}${host}${pathname}${search ? `?${query}` : ''}`;
}

/** Hides the values of flags with sensitive names: `--api-key=x`, `--token x`. */
export const redactArgs = (args: readonly string[]): string[] =>
	args.map((arg, at) => {
		const before = args[at - 1] ?? '';
		if (/^--?[\w-]+$/.test(before) && isSensitiveName(before) && !arg.startsWith('-')) return HIDDEN_VALUE;
		const [, flag = ''] = /^([\w-]+=)/.exec(arg) ?? [];
		if (flag !== '' && isSensitiveName(flag)) return `${flag}${HIDDEN_VALUE}`;
		return /^[a-z][a-z0-9+.-]*:\/\//i.test(arg) && URL.canParse(arg) ? redactUrl(new URL(arg)) : arg;
	});
