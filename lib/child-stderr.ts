import {StringDecoder} from 'node:string_decoder';
import {prefixed} from './prefixed.js';
import {printableLines} from './printable.js';
import type {Stderr} from './transports/own-stderr.js';

/**
 * Forwards the stderr of the only child. On a terminal, control and bidi characters are escaped. A file, or the client that
 * reads stderr, gets the bytes unchanged.
 */
export function childStderr(stderr: Stderr): (chunk: Buffer) => Promise<void> | undefined {
	const decoder = new StringDecoder('utf8');
	return chunk => {
		stderr.write(stderr.isTerminal ? printableLines(decoder.write(chunk)) : chunk);
		return stderr.room();
	};
}

/** Forwards the stderr of children to the log: whole lines, each with the name of its service as a prefix. */
export function namedStderr(stderr: Stderr): (name: string, chunk: Buffer) => Promise<void> | undefined {
	const show = prefixed(text => stderr.write(text));
	return (name, chunk) => {
		show(name, chunk);
		return stderr.room();
	};
}
