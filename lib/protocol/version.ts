/** In ascending order. */
export const handshakeVersions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;

/** The only version with batches. */
export const BATCH_VERSION = '2025-03-26';

/** The version without a handshake, in which every request is self-contained. */
export const STATELESS = '2026-07-28';

/** All supported versions. They are dates, so text comparison puts them in order. */
export const versions = [...handshakeVersions, STATELESS] as const;

export type HandshakeVersion = (typeof handshakeVersions)[number];
export type Version = (typeof versions)[number];

export const NEWEST_HANDSHAKE: HandshakeVersion = '2025-11-25';
export const OLDEST_HANDSHAKE: HandshakeVersion = '2024-11-05';

export const isVersion = (text: unknown): text is Version => versions.some(version => version === text);

export const isHandshakeVersion = (text: unknown): text is HandshakeVersion =>
	handshakeVersions.some(version => version === text);

/** The version to use with an upstream, resolved from its `initialize` response. */
type ResolvedVersion = {
	readonly version: HandshakeVersion;
	readonly warning?: string;
};

const WHOLE_DATE = /^\d{4}-\d\d-\d\d$/;

/**
 * Resolves the version in an upstream's response. A missing version resolves to the oldest, and an unknown
 * one to the newest handshake version. An unknown date from the stateless era or later resolves to
 * undefined.
 */
export function resolveVersion(reported: unknown): ResolvedVersion | undefined {
	if (isHandshakeVersion(reported)) return {version: reported};
	// Listed by early SDKs, but never published. Its messages are those of the first version.
	if (reported === '2024-10-07') return {version: OLDEST_HANDSHAKE};
	if (typeof reported !== 'string' || reported === '') {
		const reason = reported === undefined ? 'no protocol version' : 'an invalid protocol version';
		return {version: OLDEST_HANDSHAKE, warning: `${reason}, so bridge uses ${OLDEST_HANDSHAKE}`};
	}
	// A text that is not a date cannot be ordered among the versions.
	if (WHOLE_DATE.test(reported) && reported >= STATELESS) return;
	const warning = `the unknown protocol version ${reported}, so bridge uses ${NEWEST_HANDSHAKE}`;
	return {version: NEWEST_HANDSHAKE, warning};
}

/** The version in the `initialize` response to a client, from the version that it requested. */
export const clientVersionFor = (requested: unknown, fixed?: HandshakeVersion): HandshakeVersion =>
	fixed ??
	(isHandshakeVersion(requested)
		? requested
		: requested === '2024-10-07'
			? OLDEST_HANDSHAKE
			: NEWEST_HANDSHAKE);

const DATE = /\b20\d\d-\d\d-\d\d\b/g;

/**
 * The next version to request after an upstream rejected one: first the versions that its error contains,
 * then all in descending order. Undefined when every version was tried.
 */
export function nextVersionToTry(error: unknown, tried: readonly string[]): HandshakeVersion | undefined {
	const mentioned: readonly string[] = JSON.stringify(error).match(DATE) ?? [];
	const newestFirst = handshakeVersions.toReversed();
	const candidates = [...newestFirst.filter(version => mentioned.includes(version)), ...newestFirst];
	return candidates.find(version => !tried.includes(version));
}
