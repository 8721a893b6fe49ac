import {randomBytes} from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 26;

/** Returns a ULID, as ATM 1.x uses for messages: 48 bits of ms since the epoch and 80 random bits. */
export function ulid(at: Date): string {
	const hex = at.getTime().toString(16).padStart(12, '0') + randomBytes(10).toString('hex');
	let [value, text] = [BigInt(`0x${hex}`), ''];
	for (; text.length < LENGTH; value >>= 5n) text = `${DIGITS[Number(value & 31n)]}${text}`;
	return text;
}
