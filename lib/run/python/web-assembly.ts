/** A compiled program, which can be handed to other threads. */
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

/** As much of WebAssembly's interface as is used: the compiler knows it only together with a browser's. */
export const webAssembly: Interface = Reflect.get(globalThis, 'WebAssembly');
