// Where things are in the memory of the module, in bytes; percent-writer.ts knows it, too.
/** For each byte a word: its text, the first character lowest, and on top how many characters that are. */
const TABLE: usize = 0;

/** Writes one byte as its text. Of the four bytes that it writes the next one overwrites what is not its own. */
function put(byte: u64, to: usize): usize {
	const text = load<u32>(TABLE + ((<usize>(byte & 0xff)) << 2));
	store<u32>(to, text);
	return to + <usize>(text >> 24);
}

/** Writes the bytes from `from` to `end` as their texts, and returns where these end. */
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
