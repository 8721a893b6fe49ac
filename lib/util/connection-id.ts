import {nowMicroseconds} from './clock.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 8;

let nextNumber = nowMicroseconds();

/** A number for a conversation: eight base-62 digits that begin with the time of start-up and grow by one each. */
export function newConnectionId(): string {
	let text = '';
	for (let rest = nextNumber++; text.length < LENGTH; rest = Math.floor(rest / DIGITS.length))
		text = DIGITS.charAt(rest % DIGITS.length) + text;
	return text;
}
