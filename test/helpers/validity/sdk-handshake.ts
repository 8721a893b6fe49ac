import type {HandshakeVersion} from '../../../lib/protocol/version.js';
import type {Message, Rules, SentRequest} from './rules.js';

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
type Kind = 'Request' | 'Notification';

/** The module with the schemas, in a release whose latest version is this one. */
const modules: {readonly [version in HandshakeVersion]: string} = {
	'2024-11-05': 'sdk-2024-11-05/dist/types.js',
	'2025-03-26': 'sdk-2025-03-26/dist/esm/types.js',
	'2025-06-18': 'sdk-2025-06-18/dist/esm/types.js',
	'2025-11-25': 'sdk-2025-11-25/dist/esm/types.js',
};

const packages = new URL('../../../../node_modules/', import.meta.url);

/** The schemas that a release of the official SDK parses all its messages with. */
export class SdkHandshakeRules implements Rules {
	readonly version: HandshakeVersion;
	readonly #schemas: Schemas;
	/** The exported name without `Schema`, by method. */
	readonly #names = new Map<string, {readonly name: string; readonly kind: Kind}>();

	constructor(version: HandshakeVersion, schemas: Schemas) {
		this.version = version;
		this.#schemas = schemas;
		for (const kind of ['Request', 'Notification'] as const)
			for (const side of ['Client', 'Server'])
				for (const schema of schemas[`${side}${kind}Schema`]?.options ?? []) this.#add(kind, schema);
	}

	static async load(version: HandshakeVersion): Promise<SdkHandshakeRules> {
		const {href} = new URL(modules[version], packages);
		return new SdkHandshakeRules(version, (await import(href)) as Schemas);
	}

	#add(kind: Kind, schema: Schema): void {
		const exported = Object.entries(this.#schemas).find(([, value]) => value === schema);
		if (!exported) throw new TypeError(`The SDK of ${this.version} does not export the schema of a ${kind}.`);
		this.#names.set(String(schema.shape?.method?.value), {name: exported[0].replace(/Schema$/, ''), kind});
	}

	hasMethod(method: string): boolean {
		return this.#names.has(method);
	}

	validateCall(message: Message): string[] {
		const kind: Kind = 'id' in message ? 'Request' : 'Notification';
		const method = this.#names.get(String(message.method));
		const envelope = this.#check(`JSONRPC${kind}`, message);
		if (!method) return [...envelope, `${this.version} has no method ${String(message.method)}`];
		if (method.kind !== kind) envelope.push(`${method.name} is sent as a ${kind.toLowerCase()}`);
		return [...envelope, ...this.#check(method.name, message)];
	}

	validateError(message: Message): string[] {
		return this.#check(this.#firstOf('JSONRPCErrorResponse', 'JSONRPCError'), message);
	}

	validateResult(message: Message, {method, definition}: SentRequest): string[] {
		const envelope = this.#check(this.#firstOf('JSONRPCResultResponse', 'JSONRPCResponse'), message);
		const request = this.#names.get(method);
		if (request?.kind !== 'Request') return [...envelope, `${this.version} has no request ${method}`];
		const name = request.name.replace(/Request$/, 'Result');
		// The SDK parses the result of a sampling request that has tools with a schema of its own.
		const result = this.#firstOf(`${name}WithTools`, this.#firstOf(name, 'EmptyResult'));
		return [...envelope, ...this.#check(definition ?? result, message.result)];
	}

	#firstOf(...names: readonly [string, string]): string {
		return this.#schemas[`${names[0]}Schema`] ? names[0] : names[1];
	}

	#check(name: string, value: unknown): string[] {
		const schema = this.#schemas[`${name}Schema`];
		if (!schema) return [`The SDK of ${this.version} has no ${name}`];
		const {error} = schema.safeParse(value);
		return (error?.issues ?? [])
			.slice(0, 5)
			.map(({path, message}) => `${[name, ...path].join('/')} ${message}`);
	}
}
