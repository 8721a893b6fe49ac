// The memory layout of the module, in bytes. percent-writer.ts depends on it.
/**
 * A word for each byte: its text, with the first character in the lowest byte, and its length in the highest.
 */
const TABLE: usize = 0;

/** Writes one byte as text. It always writes four bytes; the next call overwrites the excess. */
function put(byte: u64, to: usize): usize {
	const text = load<u32>(TABLE + ((<usize>(byte & 0xff)) << 2));
	store<u32>(to, text);
	return to + <usize>(text >> 24);
}

/** Writes the bytes from `from` to `end` as text. Returns the end of the output. */
export function write(from: usize, end: usize, to: usize): usize {
	for (; from + 8 <= end; from += 8) {
		const eight = load<u64>(from);
		to = put(eight, to);
		to = put(eight >> 8, to);
		to = put(eight >> 16, to);
		to = put(eight >> 24, to);
		to = put(eight >> 32, to);
		to = put(eight >> 40, to);
		to = put(eight >> 48, to);
		to = put(eight >> 56, to);
	}
	for (; from < end; from++) to = put(load<u8>(from), to);
	return to;
}
