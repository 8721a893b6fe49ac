import {readText} from '../config/read.js';
import {BridgeError} from '../errors.js';
import {MAX_SECRETS} from './seal.js';

const FILE = 'file:';

/**
 * The secrets that a configuration names, one a line: the first seals, the others only open what was sealed before.
 * `file:PATH` is the text of that file.
 */
export async function secretsOf(given: string): Promise<readonly string[]> {
	const path = given.startsWith(FILE) ? given.slice(FILE.length) : undefined;
	const text = path === undefined ? given : (await readText(path, path)).text;
	const secrets = text
		.split(/\r?\n/)
		.map(line => line.trim())
		.filter(line => line !== '');
	if (secrets.length > 0 && secrets.length <= MAX_SECRETS) return secrets;
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		`secret has ${secrets.length} lines${path === undefined ? '' : ` in ${path}`}.`,
		`Write one secret a line, at least one and at most ${MAX_SECRETS}: the first seals, the others open what was sealed before.`,
	);
}
