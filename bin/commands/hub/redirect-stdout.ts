import process from 'node:process';
import {Writable} from 'node:stream';

/**
 * Redirects writes to stdout from other code in this process, including `console`. Output of local packs or
 * trace exporters must not corrupt the message stream. Bridge must have opened its own stdout stream before.
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
