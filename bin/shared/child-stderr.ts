import {StringDecoder} from 'node:string_decoder';
import type {StderrWriter} from '../../lib/transports/stdio/stderr.js';
import {printableLines} from '../../lib/util/printable.js';
import {prefixLines} from './prefix-lines.js';

/**
 * Forwards the stderr of the only child. On a terminal, control and bidi characters are escaped. Files and
 * clients that read stderr receive the bytes unchanged.
 */
export function childStderr(stderr: StderrWriter): (chunk: Buffer) => Promise<void> | undefined {
	const decoder = new StringDecoder('utf8');
	return chunk => {
		stderr.write(stderr.isTerminal ? printableLines(decoder.write(chunk)) : chunk);
		return stderr.whenWritable();
	};
}

/** Forwards the stderr of children in whole lines, each prefixed with the name of its service. */
export function prefixedStderr(
	stderr: StderrWriter,
): (name: string, chunk: Buffer) => Promise<void> | undefined {
	const writePrefixed = prefixLines(text => stderr.write(text));
	return (name, chunk) => {
		writePrefixed(name, chunk);
		return stderr.whenWritable();
	};
}
