import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {Ajv, type Options, type ValidateFunction} from 'ajv';
import {Ajv2020} from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type {McpVersion, Sender} from '../mcp-version.js';
import {DefinedRules, type Kind} from './defined-rules.js';
import {isObject, type Message, mayNeedInput, type SentRequest} from './rules.js';

/** The folder of the official JSON schemas, such as `2025-11-25.json`. This repository does not contain them. */
const folder = process.env.MCP_SCHEMA_DIR ?? '';

/** Whether tests against the JSON schemas are registered. */
export const hasSchemas = folder !== '';

/** The members of a schema that assign definitions to methods and sides. */
type Schema = {
	readonly $ref?: string;
	readonly $schema?: string;
	readonly anyOf?: readonly Schema[];
	readonly const?: unknown;
	readonly properties?: {readonly [name: string]: Schema};
	readonly definitions?: Definitions;
	readonly $defs?: Definitions;
};
type Definitions = {readonly [name: string]: Schema};

class SchemaRules extends DefinedRules {
	readonly #definitions: Definitions;
	readonly #ajv: Ajv | Ajv2020;
	readonly #path: string;

	constructor(version: McpVersion) {
		super(version);
		const schema = JSON.parse(readFileSync(join(folder, `${version}.json`), 'utf8')) as Schema;
		this.#definitions = schema.definitions ?? schema.$defs ?? {};
		this.#path = schema.definitions ? 'definitions' : '$defs';
		const options: Options = {strict: false, allErrors: true};
		this.#ajv = schema.$schema?.includes('2020-12') ? new Ajv2020(options) : new Ajv(options);
		formats.default(this.#ajv);
		this.#ajv.addSchema(schema, 'mcp');
		for (const sender of ['client', 'server'] as const)
			for (const kind of ['Request', 'Notification'] as const)
				for (const [method, definition] of this.methodsOf(sender, kind))
					this.addMethod(method, {definition, kind});
	}

	/** The methods that a side may send, with the definition of each. */
	methodsOf(sender: Sender, kind: Kind): Map<string, string> {
		const name = `${sender === 'client' ? 'Client' : 'Server'}${kind}`;
		const union = this.#definitions[name];
		const names = union?.anyOf?.map(({$ref = ''}) => $ref.split('/').at(-1) ?? '') ?? (union ? [name] : []);
		return new Map(names.map(each => [String(this.#methodOf(each)), each]));
	}

	override validateError(message: Message, request?: SentRequest): string[] {
		const {definition = ''} = request ?? {};
		return [
			...super.validateError(message),
			...(definition.endsWith('Error') ? this.check(definition, message) : []),
		];
	}

	protected override resultOf(name: string, method: string, result: unknown): string {
		// The schema accepts both definitions, because an input_required result needs only its resultType.
		const needsInput = isObject(result) && result.resultType === 'input_required' && mayNeedInput.has(method);
		if (needsInput && this.has('InputRequiredResult')) return 'InputRequiredResult';
		return super.resultOf(name, method, result);
	}

	protected has(definition: string): boolean {
		return this.#definitions[definition] !== undefined;
	}

	protected check(definition: string, value: unknown): string[] {
		if (!this.has(definition)) return [`${this.version} has no ${definition}`];
		// Ajv compiles a definition at its first use and caches it.
		const validate = this.#ajv.getSchema(`mcp#/${this.#path}/${definition}`) as ValidateFunction;
		if (validate(value)) return [];
		return (validate.errors ?? [])
			.slice(0, 5)
			.map(({instancePath, message}) => `${definition}${instancePath} ${message}`);
	}

	#methodOf(definition: string): unknown {
		return this.#definitions[definition]?.properties?.method?.const;
	}
}

const known = new Map<McpVersion, SchemaRules>();

export function schemaRules(version: McpVersion): SchemaRules {
	const rules = known.get(version) ?? new SchemaRules(version);
	known.set(version, rules);
	return rules;
}
