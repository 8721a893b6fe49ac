/** A slice of a larger buffer than this, in bytes, is copied if it is less than half of that buffer. */
export const MIN_COMPACTED_BYTES = 16_384;

/**
 * Copies bytes that are a small slice of a larger buffer. Lines often are, and they would keep the whole
 * chunk in memory.
 */
export const compactBytes = (bytes: Buffer): Buffer => (isSmallPart(bytes) ? Buffer.from(bytes) : bytes);

export const isSmallPart = ({length, buffer: {byteLength}}: Buffer): boolean =>
	byteLength > MIN_COMPACTED_BYTES && length * 2 < byteLength;
