/** Characters that tokens and secrets need: fewer can be guessed. */
export const MIN_SECRET_LENGTH = 16;
/** A command that prints one. */
export const NEW_SECRET_COMMAND = 'openssl rand -hex 16';

/** The secrets in a text, one a line. */
export const secretLines = (text: string): string[] =>
	text
		.split(/\r?\n/)
		.map(line => line.trim())
		.filter(line => line !== '');

/** Whether each secret in a text is long enough. Those in a file are checked when that is read. */
export const areSecretsLongEnough = (text: string): boolean =>
	text.startsWith(SECRET_FILE_PREFIX) || secretLines(text).every(line => line.length >= MIN_SECRET_LENGTH);

/** The prefix of a secret that is read from a file. */
export const SECRET_FILE_PREFIX = 'file:';
