import {readText} from '../config/read.js';
import {LEAST_SECRET, NEW_SECRET, SECRET_FILE, secretLines} from '../config/secret-length.js';
import {BridgeError} from '../errors.js';
import {MAX_SECRETS} from './seal.js';

/**
 * The secrets that a configuration names, one a line: the first seals, the others only open what was sealed before.
 * `file:PATH` is the text of that file.
 */
export async function secretsOf(given: string): Promise<readonly string[]> {
	const path = given.startsWith(SECRET_FILE) ? given.slice(SECRET_FILE.length) : undefined;
	const text = path === undefined ? given : (await readText(path, path)).text;
	const secrets = secretLines(text);
	const where = path === undefined ? '' : ` in ${path}`;
	if (secrets.some(secret => secret.length < LEAST_SECRET))
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			`secret has a line${where} with fewer than ${LEAST_SECRET} characters, which is easy to guess.`,
			`Replace it by a secret that this command prints: ${NEW_SECRET}`,
		);
	if (secrets.length > 0 && secrets.length <= MAX_SECRETS) return secrets;
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		`secret has ${secrets.length} lines${where}.`,
		`Write one secret a line, at least one and at most ${MAX_SECRETS}: the first seals, the others open what was sealed before.`,
	);
}
