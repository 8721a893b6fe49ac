/** One server-sent event. */
export type SseEvent = {readonly data: string; readonly id?: string; readonly retryMs?: number};

const LINE_END = /\r\n|\n|\r/;

/** Takes server-sent events out of text, as it comes. An event of more than `maxLength` characters is refused. */
export class SseParser {
	readonly #maxLength: number;
	#rest = '';
	#data: string[] = [];
	#length = 0;
	#id: string | undefined;
	#retryMs: number | undefined;

	constructor(maxLength: number) {
		this.#maxLength = maxLength;
	}

	/** The events that are complete with this text. */
	push(text: string): SseEvent[] {
		const whole = this.#rest + text;
		const lines = whole.split(LINE_END);
		this.#rest = lines.pop() ?? '';
		// The end of a line may be cut in two, and its second half would be another line.
		if (whole.endsWith('\r')) this.#rest = `${lines.pop() ?? ''}\r`;
		if (this.#length + this.#rest.length > this.#maxLength)
			throw new RangeError(`An event of more than ${this.#maxLength} characters`);
		return lines.flatMap(line => this.#line(line) ?? []);
	}

	#line(line: string): SseEvent | undefined {
		if (line === '') return this.#finish();
		const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
		if (field === 'data') {
			this.#data.push(value);
			this.#length += value.length;
		} else if (field === 'id') this.#id = value;
		else if (field === 'retry' && /^\d+$/.test(value)) this.#retryMs = Number(value);
		return;
	}

	#finish(): SseEvent | undefined {
		const hasAnything = this.#data.length > 0 || this.#id !== undefined || this.#retryMs !== undefined;
		const event: SseEvent = {
			data: this.#data.join('\n'),
			...(this.#id === undefined ? {} : {id: this.#id}),
			...(this.#retryMs === undefined ? {} : {retryMs: this.#retryMs}),
		};
		this.#data = [];
		this.#length = 0;
		this.#id = undefined;
		this.#retryMs = undefined;
		return hasAnything ? event : undefined;
	}
}
