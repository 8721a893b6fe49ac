import {redactText} from '../../core/redact.js';
import {printableLines} from '../../util/printable.js';

/** Limits on the stored bytes and on the characters that `text` returns. */
const MAX_BYTES = 4000;
const MAX_SHOWN = 500;
/** Older output is unrelated to the exit of the process. */
const RECENT_MS = 10_000;

/** Escape sequences for terminals, such as colors. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with a control character.
const terminalSequences = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** The recent stderr output of a process. */
export class RecentStderr {
	readonly #now: () => number;
	readonly #chunks: Array<{readonly at: number; readonly chunk: Buffer}> = [];
	#bytes = 0;

	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
	}

	add(chunk: Buffer): void {
		// A copy, since the chunk may keep a larger buffer alive.
		const copy = Buffer.from(chunk.subarray(-MAX_BYTES));
		this.#chunks.push({at: this.#now(), chunk: copy});
		this.#bytes += copy.length;
		for (let first = this.#chunks[0]; first && this.#bytes - first.chunk.length >= MAX_BYTES; ) {
			this.#bytes -= first.chunk.length;
			this.#chunks.shift();
			first = this.#chunks[0];
		}
	}

	/** The last lines, redacted and without control characters. */
	get text(): string {
		const since = this.#now() - RECENT_MS;
		const recent = this.#chunks.filter(({at}) => at >= since).map(({chunk}) => chunk);
		const text = Buffer.concat(recent).toString().replace(terminalSequences, '').trim();
		const shown = printableLines(redactText(text));
		return shown.length <= MAX_SHOWN ? shown : `…${shown.slice(-MAX_SHOWN)}`;
	}
}
