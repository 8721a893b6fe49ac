import type {ConfigPath} from './issues.js';
import {isObjectOrArray} from './validate.js';

/** Returns whether a header, variable or flag with this name usually contains a secret. */
export const isSensitiveName = (name: string): boolean =>
	/auth|cookie|credential|key|pass|pwd|secret|token|(?:^|[-_])pat(?![a-z])/i.test(name) &&
	!WORKING_DIRECTORY.test(name);

/** The shell's variables for its working directory, which match `pwd`. */
const WORKING_DIRECTORY = /^(?:OLD)?PWD$/;

/** Returns the path of the first secret that is written literally rather than as a variable. */
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
