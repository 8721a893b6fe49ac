import {isObject} from './judge.js';
import type {Path} from './mistakes.js';

/** Whether what has this name tends to be secret: a header, a variable, a flag. */
export const isSecretName = (name: string): boolean =>
	/auth|cookie|credential|key|pass|pwd|secret|token|(?:^|[-_])pat(?![a-z])/i.test(name) &&
	!WORKING_DIRECTORY.test(name);

/** The variables of a shell for its working directory. */
const WORKING_DIRECTORY = /^(?:OLD)?PWD$/;

/** The first value of a file that is secret and stands there itself, rather than as a variable. */
export function literalSecret(given: unknown): Path | undefined {
	const isLiteral = (value: unknown): boolean =>
		typeof value === 'string' && value !== '' && !value.includes('${');
	return secretsIn(given).find(([, value]) => isLiteral(value))?.[0];
}

function secretsIn(given: unknown): Array<[path: Path, value: unknown]> {
	const {tokens, secret} = fields(given);
	const servers = ['servers', 'mcpServers'].flatMap(key =>
		Object.entries(fields(fields(given)[key])).flatMap(([name, server]) => named([key, name], server)),
	);
	const listed = Object.entries(fields(tokens)).map(([at, token]): [Path, unknown] => [
		['tokens', Number(at)],
		token,
	]);
	return [...listed, [['secret'], secret], ...servers];
}

const named = (path: Path, server: unknown): Array<[Path, unknown]> =>
	['headers', 'env'].flatMap(kind =>
		Object.entries(fields(fields(server)[kind]))
			.filter(([name]) => isSecretName(name))
			.map(([name, value]): [Path, unknown] => [[...path, kind, name], value]),
	);

const fields = (value: unknown): {readonly [key: string]: unknown} => (isObject(value) ? value : {});
