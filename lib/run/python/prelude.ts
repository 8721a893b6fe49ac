import {asyncPrelude} from './prelude-async.js';
import {programPrelude} from './prelude-program.js';
import {toolsPrelude} from './prelude-tools.js';
import {valuesPrelude} from './prelude-values.js';

/**
 * What the interpreter runs before any program: everything a program is given, and how it speaks with this side. It ends
 * where a copy of the interpreter's memory is taken (`worker.ts`), so what it imports costs no program anything.
 * `random` must not be among that: all programs would get the same numbers.
 *
 * File 0 is what this side says: eight hexadecimal digits with a length, then JSON. File 1 is what the program prints,
 * file 2 takes JSON, a line a message.
 */
export const prelude: string = [toolsPrelude, valuesPrelude, asyncPrelude, programPrelude].join('\n\n');
