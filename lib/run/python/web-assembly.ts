/** A compiled module, which can be sent to other threads. */
export type WasmModule = object;
export type WasmMemory = {readonly buffer: ArrayBuffer; grow(pages: number): number};
export type WasmTable = {get(index: number): (...args: number[]) => number};
export type WasmGlobal = {value: number};
export type WasmImports = {readonly [name: string]: (...args: number[]) => number};

type Interface = {
	readonly Module: {
		new (bytes: Uint8Array): WasmModule;
		imports(module: WasmModule): ReadonlyArray<{readonly name: string}>;
	};
	readonly Instance: new (
		module: WasmModule,
		imports: {readonly [module: string]: WasmImports},
	) => {readonly exports: {readonly [name: string]: unknown}};
};

/** The used part of the WebAssembly API. TypeScript declares it only in the DOM library. */
export const webAssembly: Interface = Reflect.get(globalThis, 'WebAssembly');
