import {asyncPrelude} from './prelude-async.js';
import {programPrelude} from './prelude-program.js';
import {toolsPrelude} from './prelude-tools.js';
import {valuesPrelude} from './prelude-values.js';

/**
 * The Python code that the interpreter runs before any program: it defines the environment of programs and
 * the protocol with bridge. It ends at the point where the snapshot is taken (`worker.ts`), so its imports
 * cost programs no time. It must not import `random`: all programs would get the same numbers.
 *
 * File 0 receives messages from bridge: a length in eight hexadecimal digits, then JSON. File 1 is for the
 * printed text. File 2 takes messages to bridge, one line of JSON each.
 */
export const prelude: string = [toolsPrelude, valuesPrelude, asyncPrelude, programPrelude].join('\n\n');
