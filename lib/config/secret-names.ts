import type {ConfigPath} from './issues.js';
import {isObjectOrArray} from './validate.js';

/** Whether what has this name tends to be secret: a header, a variable, a flag. */
export const isSensitiveName = (name: string): boolean =>
	/auth|cookie|credential|key|pass|pwd|secret|token|(?:^|[-_])pat(?![a-z])/i.test(name) &&
	!WORKING_DIRECTORY.test(name);

/** The variables of a shell for its working directory. */
const WORKING_DIRECTORY = /^(?:OLD)?PWD$/;

/** The first value of a file that is secret and stands there itself, rather than as a variable. */
export function findLiteralSecret(config: unknown): ConfigPath | undefined {
	const isLiteral = (value: unknown): boolean =>
		typeof value === 'string' && value !== '' && !value.includes('${');
	return listSecrets(config).find(([, value]) => isLiteral(value))?.[0];
}

function listSecrets(config: unknown): Array<[path: ConfigPath, value: unknown]> {
	const {tokens, secret} = fieldsOf(config);
	const servers = ['servers', 'mcpServers'].flatMap(key =>
		Object.entries(fieldsOf(fieldsOf(config)[key])).flatMap(([name, server]) =>
			sensitiveEntries([key, name], server),
		),
	);
	const tokenEntries = Object.entries(fieldsOf(tokens)).map(([at, token]): [ConfigPath, unknown] => [
		['tokens', Number(at)],
		token,
	]);
	return [...tokenEntries, [['secret'], secret], ...servers];
}

const sensitiveEntries = (path: ConfigPath, server: unknown): Array<[ConfigPath, unknown]> =>
	['headers', 'env'].flatMap(kind =>
		Object.entries(fieldsOf(fieldsOf(server)[kind]))
			.filter(([name]) => isSensitiveName(name))
			.map(([name, value]): [ConfigPath, unknown] => [[...path, kind, name], value]),
	);

const fieldsOf = (value: unknown): {readonly [key: string]: unknown} => (isObjectOrArray(value) ? value : {});
