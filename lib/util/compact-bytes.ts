/** A part of a larger piece of memory than this, in bytes, is copied if it is less than half of that. */
export const MIN_COMPACTED_BYTES = 16_384;

/** Bytes that keep no more in memory than themselves: a line is often a small part of the chunk that it came in. */
export const compactBytes = (bytes: Buffer): Buffer => (isSmallPart(bytes) ? Buffer.from(bytes) : bytes);

export const isSmallPart = ({length, buffer: {byteLength}}: Buffer): boolean =>
	byteLength > MIN_COMPACTED_BYTES && length * 2 < byteLength;
