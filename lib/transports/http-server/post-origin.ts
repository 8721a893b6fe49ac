import type {Headers, MessageOrigin} from '../../core/envelope.js';
import type {Valve} from '../../core/valve.js';

export class PostOrigin implements MessageOrigin {
	readonly number: number;
	readonly name: string;
	readonly valve: Valve;
	readonly headers: Headers;

	constructor(number: number, name: string, valve: Valve, headers: Headers) {
		this.number = number;
		this.name = name;
		this.valve = valve;
		this.headers = headers;
	}
}
