import process from 'node:process';
import {Writable} from 'node:stream';

/**
 * Sends what other code in this process writes to stdout elsewhere, `console` included. Where stdout carries messages,
 * local packs and exporters of traces may not be heard there. Bridge itself has to have its stream by then.
 */
export function redirectStdout(write: (chunk: Buffer) => void): void {
	const redirected = new Writable({
		write(chunk: Buffer, _encoding, done) {
			write(chunk);
			done();
		},
	});
	Object.defineProperty(process, 'stdout', {value: redirected, configurable: true, enumerable: true});
}
