import {randomBytes} from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 26;

/** An id that sorts by time, as ATM 1.x gives its messages: 48 bits of ms since the epoch, 80 bits of chance. */
export function ulid(at: Date): string {
	const hex = at.getTime().toString(16).padStart(12, '0') + randomBytes(10).toString('hex');
	let [value, text] = [BigInt(`0x${hex}`), ''];
	for (; text.length < LENGTH; value >>= 5n) text = `${DIGITS[Number(value & 31n)]}${text}`;
	return text;
}
