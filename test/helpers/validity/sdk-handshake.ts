import type {HandshakeVersion} from '../../../lib/protocol/version.js';
import {DefinedRules} from './defined-rules.js';

type Issue = {readonly path: ReadonlyArray<string | number>; readonly message: string};
/** A schema of zod 3 or 4, whichever the release of the SDK depends on. */
type Schema = {
	safeParse(value: unknown): {
		readonly success: boolean;
		readonly error?: {readonly issues: readonly Issue[]};
	};
	readonly shape?: {readonly method?: {readonly value?: unknown}};
	readonly options?: readonly Schema[];
};
type Schemas = {readonly [name: string]: Schema | undefined};

/** The module with the schemas, in a release whose latest version is this one. */
const modules: {readonly [version in HandshakeVersion]: string} = {
	'2024-11-05': 'sdk-2024-11-05/dist/types.js',
	'2025-03-26': 'sdk-2025-03-26/dist/esm/types.js',
	'2025-06-18': 'sdk-2025-06-18/dist/esm/types.js',
	'2025-11-25': 'sdk-2025-11-25/dist/esm/types.js',
};

const packages = new URL('../../../../node_modules/', import.meta.url);

/** The schemas that a release of the official SDK parses all its messages with. */
export class SdkHandshakeRules extends DefinedRules {
	readonly #schemas: Schemas;

	constructor(version: HandshakeVersion, schemas: Schemas) {
		super(version);
		this.#schemas = schemas;
		for (const kind of ['Request', 'Notification'] as const)
			for (const side of ['Client', 'Server'])
				for (const schema of schemas[`${side}${kind}Schema`]?.options ?? [])
					this.addMethod(String(schema.shape?.method?.value), {definition: this.#nameOf(schema), kind});
	}

	static async load(version: HandshakeVersion): Promise<SdkHandshakeRules> {
		const {href} = new URL(modules[version], packages);
		return new SdkHandshakeRules(version, (await import(href)) as Schemas);
	}

	/** The exported name of a schema, without its suffix. */
	#nameOf(schema: Schema): string {
		const exported = Object.entries(this.#schemas).find(([, value]) => value === schema);
		if (!exported) throw new TypeError(`The SDK of ${this.version} does not export one of its schemas.`);
		return exported[0].replace(/Schema$/, '');
	}

	/** The SDK parses the result of a sampling request that has tools with a schema of its own. */
	protected override resultOf(name: string, method: string, result: unknown): string {
		return this.firstOf(`${name}WithTools`, super.resultOf(name, method, result));
	}

	protected has(name: string): boolean {
		return this.#schemas[`${name}Schema`] !== undefined;
	}

	protected check(name: string, value: unknown): string[] {
		const schema = this.#schemas[`${name}Schema`];
		if (!schema) return [`The SDK of ${this.version} has no ${name}`];
		const {error} = schema.safeParse(value);
		return (error?.issues ?? [])
			.slice(0, 5)
			.map(({path, message}) => `${[name, ...path].join('/')} ${message}`);
	}
}
