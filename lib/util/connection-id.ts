import {nowMicroseconds} from './clock.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 8;

let nextNumber = nowMicroseconds();

/**
 * Returns an id for a connection: eight base-62 digits, starting from the time of start-up and incremented by
 * one.
 */
export function newConnectionId(): string {
	let text = '';
	for (let rest = nextNumber++; text.length < LENGTH; rest = Math.floor(rest / DIGITS.length))
		text = DIGITS.charAt(rest % DIGITS.length) + text;
	return text;
}
