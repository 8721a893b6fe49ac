/** A compiled program, which can be handed to other threads. */
export type Module = object;
export type Memory = {readonly buffer: ArrayBuffer; grow(pages: number): number};
export type Table = {get(index: number): (...args: number[]) => number};
export type Global = {value: number};
export type Imports = {readonly [name: string]: (...args: number[]) => number};

type Interface = {
	readonly Module: {
		new (bytes: Uint8Array): Module;
		imports(module: Module): ReadonlyArray<{readonly name: string}>;
	};
	readonly Instance: new (
		module: Module,
		imports: {readonly [module: string]: Imports},
	) => {readonly exports: {readonly [name: string]: unknown}};
};

/** As much of WebAssembly's interface as is used: the compiler knows it only together with a browser's. */
export const webAssembly: Interface = Reflect.get(globalThis, 'WebAssembly');
