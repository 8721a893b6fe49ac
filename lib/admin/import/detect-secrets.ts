import {VARIABLE_REFERENCE} from '../../config/expand-variables.js';
import {isSensitiveName} from '../../config/secret-names.js';

/** The prefixes of well-known credentials. They must not follow a word character. */
const PREFIX =
	/(?:^|\W)(?:sk[-_]|rk_live|gh[opsur]_|github_pat_|glpat-|xox[abeoprs]-|AKIA|ASIA|AIza|ya29\.|eyJ|npm_|pypi-|hf_|dop_v1_|shpat_|SG\.|lin_api_|ntn_|figd_|tvly-)[\w-]{6}/;
const MIN_LENGTH = 12;

/** Returns whether a text looks like a credential: a known prefix or a long run of random characters. */
export function looksLikeSecret(text: string): boolean {
	if (text.length < MIN_LENGTH) return false;
	if (PREFIX.test(text)) return true;
	if (/^[0-9a-f]{32,}$/i.test(text)) return true;
	const isRun = text.length >= 24 && /^[\w+/=-]+$/.test(text) && !text.startsWith('/');
	return isRun && /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text);
}

/** The secret part of a value, a variable name for it, and the text around it. */
export type DetectedSecret = {
	readonly name: string;
	readonly before: string;
	readonly secret: string;
	readonly after: string;
};

const wholeSecret = (name: string, text: string): DetectedSecret => ({
	name,
	before: '',
	secret: text,
	after: '',
});

/** Placeholder for a variable reference. It is not part of a word or a URL. */
const MARK = '\0';

/** Replaces references with marks. Their default values remain, since they are literal text. */
const markReferences = (text: string): string =>
	text.replace(VARIABLE_REFERENCE, (reference: string, name?: string, preset = '') => {
		if (reference === '$${') return '${';
		return name === undefined ? reference : `${MARK}${preset}${MARK}`;
	});

const removeMarks = (text: string): string => text.replaceAll(MARK, '');

/** Returns whether a value is harmless despite its name: a reference, a switch, a scheme or a file path. */
function isNotSecret(name: string, text: string): boolean {
	const value = removeMarks(text).trim();
	return (
		/^(?:|true|false|yes|no|on|off|none|null|bearer|basic|token|\d{1,6})$/i.test(value) ||
		(text.includes(MARK) && /^\W*$/.test(value)) ||
		(/(?:path|file|dir|credentials|sock)$/i.test(name) && /^(?:[~.]{0,2}\/|[A-Za-z]:\\)/.test(value))
	);
}

/** Finds the secret part of a variable or a header. The Authorization scheme is not part of it. */
export function findSecret(name: string, value: string): DetectedSecret | undefined {
	const [, scheme = ''] = /^((?:Bearer|Basic|Token) +)/i.exec(value) ?? [];
	const secret = value.slice(scheme.length);
	if (isNotSecret(name, markReferences(secret))) return;
	const isSecret = scheme !== '' || isSensitiveName(name) || hasSecret(secret);
	return isSecret ? {name, before: scheme, secret, after: ''} : undefined;
}

const FLAG = /^--?[\w-]+$/;

/** Finds the secret part of an argument, which may be the value of the preceding flag. */
export function findSecretInArgument(flag: string, value: string): DetectedSecret | undefined {
	const isFlagged = FLAG.test(flag) && isSensitiveName(flag) && !value.startsWith('-');
	if (isFlagged) return isNotSecret(flag, markReferences(value)) ? undefined : wholeSecret(flag, value);
	const [{length: start} = '', first = ''] = /^([\w-]{1,100})(?:=|: ?)/.exec(value) ?? [];
	// A token may end with "=", so it must not be mistaken for a name.
	const assigned = looksLikeSecret(first) ? '' : first;
	if (assigned !== '' && !value.startsWith('//', start)) {
		const found = findSecret(assigned, value.slice(start));
		if (found) return {...found, before: value.slice(0, start) + found.before};
	}
	return hasSecret(value) ? wholeSecret(assigned || 'argument', value) : undefined;
}

/**
 * Returns whether a text contains a secret, for example in a URL, a list of assignments or a shell command.
 */
function hasSecret(value: string): boolean {
	const text = markReferences(value);
	const plain = removeMarks(text);
	return (
		looksLikeSecret(plain) ||
		hasUrlSecret(plain) ||
		hasSecretDefault(value) ||
		wordsOf(text).some(isSecretWord)
	);
}

const hasSecretDefault = (value: string): boolean =>
	[...value.matchAll(VARIABLE_REFERENCE)].some(
		([, name = '', preset = '']) =>
			looksLikeSecret(preset) || (isSensitiveName(name) && !isNotSecret(name, preset)),
	);

/** Splits a shell command, a query, a list or JSON into words. JSON names and values become assignments. */
const wordsOf = (text: string): string[] =>
	text
		.replace(/["']\s*:\s*["']/g, '=')
		.split(/[\s;,&?#|'"`(){}[\]<>]/)
		.filter(word => word !== '');

function isSecretWord(word: string, at: number, words: readonly string[]): boolean {
	const before = words[at - 1] ?? '';
	const isNamed =
		/(?:^|[=:])(?:bearer|basic|token)$/i.test(before) ||
		((FLAG.test(before) || /^[\w-]{1,100}[:=]$/.test(before)) && isSensitiveName(before));
	if (isNamed && !word.startsWith('-') && !isNotSecret(before, word)) return true;
	const [assignment = '', name = ''] = /^([\w-]{1,100})[=:]/.exec(word) ?? [];
	if (isSensitiveName(name) && !isNotSecret(name, word.slice(assignment.length))) return true;
	return looksLikeSecret(word) || hasUrlSecret(removeMarks(word));
}

/** Returns whether a URL contains a secret in its user, its parameters or its path. */
export function hasUrlSecret(text: string): boolean {
	if (!/^[a-z][a-z0-9+.-]{1,20}:\/\//i.test(text) || !URL.canParse(text)) return false;
	const {password, searchParams, pathname, username} = new URL(text);
	return (
		password !== '' ||
		looksLikeSecret(username) ||
		[...searchParams].some(
			([name, value]) => (isSensitiveName(name) && value !== '') || looksLikeSecret(value),
		) ||
		pathname.split('/').some(looksLikeSecret)
	);
}
