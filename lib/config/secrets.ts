import {isObject} from './judge.js';
import type {Path} from './mistakes.js';

/** Names of headers and variables whose values tend to be secret. */
const SECRET_NAME = /auth|cookie|credential|key|passw|secret|token/i;

/** The first value of a file that is secret and stands there itself, rather than as a variable. */
export function literalSecret(given: unknown): Path | undefined {
	return secretsIn(given).find(
		([, value]) => typeof value === 'string' && value !== '' && !value.includes('${'),
	)?.[0];
}

function secretsIn(given: unknown): Array<[path: Path, value: unknown]> {
	const {tokens, secret, servers, mcpServers} = fields(given);
	return [
		...Object.entries(fields(tokens)).map(([at, token]): [Path, unknown] => [['tokens', Number(at)], token]),
		[['secret'], secret],
		...Object.entries(fields(servers)).flatMap(([name, server]) => named(['servers', name], server)),
		...Object.entries(fields(mcpServers)).flatMap(([name, server]) => named(['mcpServers', name], server)),
	];
}

const named = (path: Path, server: unknown): Array<[Path, unknown]> =>
	['headers', 'env'].flatMap(kind =>
		Object.entries(fields(fields(server)[kind]))
			.filter(([name]) => SECRET_NAME.test(name))
			.map(([name, value]): [Path, unknown] => [[...path, kind, name], value]),
	);

const fields = (value: unknown): {readonly [key: string]: unknown} => (isObject(value) ? value : {});
