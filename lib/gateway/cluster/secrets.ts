import {readConfigText} from '../../config/read-file.js';
import {
	MIN_SECRET_LENGTH,
	NEW_SECRET_COMMAND,
	SECRET_FILE_PREFIX,
	secretLines,
} from '../../config/secret-length.js';
import {BridgeError} from '../../core/errors.js';
import {MAX_SECRETS} from './sealer.js';

/**
 * Returns the secrets of the setting, one per line. The first one seals; the others only open what was sealed
 * before. `file:PATH` reads them from that file.
 */
export async function readReplicaSecrets(setting: string): Promise<readonly string[]> {
	const path = setting.startsWith(SECRET_FILE_PREFIX) ? setting.slice(SECRET_FILE_PREFIX.length) : undefined;
	const text = path === undefined ? setting : (await readConfigText(path, path)).text;
	const secrets = secretLines(text);
	const location = path === undefined ? '' : ` in ${path}`;
	if (secrets.some(secret => secret.length < MIN_SECRET_LENGTH))
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			`secret has a line${location} with fewer than ${MIN_SECRET_LENGTH} characters, which is easy to guess.`,
			`Replace it with a secret that this command prints: ${NEW_SECRET_COMMAND}`,
		);
	if (secrets.length > 0 && secrets.length <= MAX_SECRETS) return secrets;
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		`secret has ${secrets.length} lines${location}.`,
		`Write 1 to ${MAX_SECRETS} secrets, one per line: the first seals, the others only open what was sealed before.`,
	);
}
