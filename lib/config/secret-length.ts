/** The minimum length of tokens and secrets, against guessing. */
export const MIN_SECRET_LENGTH = 16;
/** A command that prints a new secret. */
export const NEW_SECRET_COMMAND = 'openssl rand -hex 16';

/** Returns the secrets in a text, one per line. */
export const secretLines = (text: string): string[] =>
	text
		.split(/\r?\n/)
		.map(line => line.trim())
		.filter(line => line !== '');

/** Returns whether each secret in a text is long enough. Secrets in files are checked when they are read. */
export const areSecretsLongEnough = (text: string): boolean =>
	text.startsWith(SECRET_FILE_PREFIX) || secretLines(text).every(line => line.length >= MIN_SECRET_LENGTH);

/** The prefix of a secret that is read from a file. */
export const SECRET_FILE_PREFIX = 'file:';
