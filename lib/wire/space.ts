const isSpace = new Uint8Array(256);
for (const space of Buffer.from(' \t\r\n')) isSpace[space] = 1;

/** The first position from `at` on that holds no white space. */
export function skipSpace(bytes: Buffer, at: number): number {
	while (at < bytes.length && isSpace[bytes[at] as number] === 1) at++;
	return at;
}

/** Whether nothing but white space follows. */
export function isSpaceUpTo(bytes: Buffer, at: number, end: number): boolean {
	while (at < end && isSpace[bytes[at] as number] === 1) at++;
	return at === end;
}
