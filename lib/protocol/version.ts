/** Versions whose conversations begin with a handshake, the oldest first. */
export const handshakeVersions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;

/** The one version that has batches. */
export const BATCH_VERSION = '2025-03-26';

/** The version without a handshake: every request says for itself what it needs. */
export const STATELESS = '2026-07-28';

/** All versions that bridge speaks. They are dates, so comparing them as text puts them in order. */
export const versions = [...handshakeVersions, STATELESS] as const;

export type HandshakeVersion = (typeof handshakeVersions)[number];
export type Version = (typeof versions)[number];

export const NEWEST_HANDSHAKE: HandshakeVersion = '2025-11-25';
export const OLDEST_HANDSHAKE: HandshakeVersion = '2024-11-05';

export const isVersion = (text: unknown): text is Version => versions.some(version => version === text);

export const isHandshakeVersion = (text: unknown): text is HandshakeVersion =>
	handshakeVersions.some(version => version === text);

/** What an upstream is taken to speak, by what it answered to `initialize`. */
type ResolvedVersion = {
	readonly version: HandshakeVersion;
	/** What was wrong with its answer, for people. */
	readonly warning?: string;
};

const WHOLE_DATE = /^\d{4}-\d\d-\d\d$/;

/**
 * Judges the version in an upstream's answer. Without one it is given the smallest vocabulary; an unknown one that
 * is not a date of the modern era is taken for the newest handshake. Nothing is spoken with what is newer than all we know.
 */
export function resolveVersion(reported: unknown): ResolvedVersion | undefined {
	if (isHandshakeVersion(reported)) return {version: reported};
	// In the lists of early SDKs, but never published: its messages are those of the first version.
	if (reported === '2024-10-07') return {version: OLDEST_HANDSHAKE};
	if (typeof reported !== 'string' || reported === '') {
		const what = reported === undefined ? 'no protocol version' : 'an invalid protocol version';
		return {version: OLDEST_HANDSHAKE, warning: `${what}, so it is spoken to in ${OLDEST_HANDSHAKE}`};
	}
	// A text that is not a date has no place in the order of versions.
	if (WHOLE_DATE.test(reported) && reported >= STATELESS) return;
	const warning = `the unknown protocol version ${reported}, so it is spoken to in ${NEWEST_HANDSHAKE}`;
	return {version: NEWEST_HANDSHAKE, warning};
}

/** The version that a client is told, by the one that it asked for. */
export const clientVersionFor = (requested: unknown, fixed?: HandshakeVersion): HandshakeVersion =>
	fixed ??
	(isHandshakeVersion(requested)
		? requested
		: requested === '2024-10-07'
			? OLDEST_HANDSHAKE
			: NEWEST_HANDSHAKE);

const DATE = /\b20\d\d-\d\d-\d\d\b/g;

/**
 * What to ask for next, when an upstream refused a version instead of naming another: first what its error names, then
 * down the ladder. Undefined when all has been tried.
 */
export function nextVersionToTry(error: unknown, tried: readonly string[]): HandshakeVersion | undefined {
	const mentioned: readonly string[] = JSON.stringify(error).match(DATE) ?? [];
	const newestFirst = handshakeVersions.toReversed();
	const candidates = [...newestFirst.filter(version => mentioned.includes(version)), ...newestFirst];
	return candidates.find(version => !tried.includes(version));
}
