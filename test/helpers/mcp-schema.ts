import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {Ajv, type Options, type ValidateFunction} from 'ajv';
import {Ajv2020} from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** Every version of the protocol that has a schema, the oldest first. */
export const versions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const;

export type McpVersion = (typeof versions)[number];
export type Sender = 'client' | 'server';

/** The request that an answer belongs to; `definition` where its method alone does not tell what to expect. */
export type Answered = {readonly method: string; readonly definition?: string};
export type AnsweredById = ReadonlyMap<string | number, Answered>;

/** The parts of a schema that tell which definition is whose. */
type Schema = {
	readonly $ref?: string;
	readonly $schema?: string;
	readonly anyOf?: readonly Schema[];
	readonly const?: unknown;
	readonly properties?: {readonly [name: string]: Schema};
	readonly definitions?: Definitions;
	readonly $defs?: Definitions;
};
/** Where the official schemas are. They are not ours to ship: without the variable, beside the checkout. */
const schemaFolder =
	process.env.MCP_SCHEMA_DIR ?? fileURLToPath(new URL('../../../../shared/mcp-schema/', import.meta.url));

type Definitions = {readonly [name: string]: Schema};
type Kind = 'Request' | 'Notification';
type Method = {readonly definition: string; readonly kind: Kind};
type Message = {readonly [member: string]: unknown};

/** The rules of one version. */
class Rules {
	readonly version: McpVersion;
	readonly definitions: Definitions;
	readonly #methods = new Map<string, Method>();
	readonly #ajv: Ajv | Ajv2020;
	readonly #place: string;

	constructor(version: McpVersion) {
		this.version = version;
		const schema = JSON.parse(readFileSync(join(schemaFolder, `${version}.json`), 'utf8')) as Schema;
		this.definitions = schema.definitions ?? schema.$defs ?? {};
		this.#place = schema.definitions ? 'definitions' : '$defs';
		const options: Options = {strict: false, allErrors: true};
		this.#ajv = schema.$schema?.includes('2020-12') ? new Ajv2020(options) : new Ajv(options);
		formats.default(this.#ajv);
		this.#ajv.addSchema(schema, 'mcp');
		for (const sender of ['client', 'server'] as const)
			for (const kind of ['Request', 'Notification'] as const)
				for (const [method, definition] of this.methodsOf(sender, kind))
					this.#methods.set(method, {definition, kind});
	}

	/** What this side may send, with the definition of each. */
	methodsOf(sender: Sender, kind: Kind): Map<string, string> {
		const name = `${sender === 'client' ? 'Client' : 'Server'}${kind}`;
		const union = this.definitions[name];
		const names = union?.anyOf?.map(({$ref = ''}) => $ref.split('/').at(-1) ?? '') ?? (union ? [name] : []);
		return new Map(names.map(each => [String(this.#methodOf(each)), each]));
	}

	method(name: string): Method | undefined {
		return this.#methods.get(name);
	}

	/** What is wrong with a value that should be what this definition says. */
	check(definition: string, value: unknown): string[] {
		if (!this.definitions[definition]) return [`${this.version} has no ${definition}`];
		// It compiles what was not asked for before, and keeps it.
		const validate = this.#ajv.getSchema(`mcp#/${this.#place}/${definition}`) as ValidateFunction;
		if (validate(value)) return [];
		return (validate.errors ?? [])
			.slice(0, 5)
			.map(({instancePath, message}) => `${definition}${instancePath} ${message}`);
	}

	#methodOf(definition: string): unknown {
		return this.definitions[definition]?.properties?.method?.const;
	}
}

const known = new Map<McpVersion, Rules>();

function rulesOf(version: McpVersion): Rules {
	const rules = known.get(version) ?? new Rules(version);
	known.set(version, rules);
	return rules;
}

const isObject = (value: unknown): value is Message =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** Its definitions have had two names each. */
const firstOf = ({definitions}: Rules, ...names: readonly [string, string]): string =>
	definitions[names[0]] ? names[0] : names[1];

function problemsOfCall(rules: Rules, message: Message): string[] {
	const kind: Kind = 'id' in message ? 'Request' : 'Notification';
	const method = rules.method(String(message.method));
	const envelope = rules.check(`JSONRPC${kind}`, message);
	if (!method) return [...envelope, `${rules.version} has no method ${String(message.method)}`];
	if (method.kind !== kind) envelope.push(`${method.definition} is sent as a ${kind.toLowerCase()}`);
	return [...envelope, ...rules.check(method.definition, message)];
}

function problemsOfError(rules: Rules, message: Message, answered: Answered | undefined): string[] {
	const {definition = ''} = answered ?? {};
	return [
		...rules.check(firstOf(rules, 'JSONRPCErrorResponse', 'JSONRPCError'), message),
		...(definition.endsWith('Error') ? rules.check(definition, message) : []),
	];
}

/** The methods whose answer may be a question back. */
const mayNeedInput: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** What the result of a request with this method has to be. */
function resultDefinition(rules: Rules, {method, definition}: Answered, result: unknown): string | undefined {
	if (definition !== undefined) return definition;
	const asked = rules.method(method);
	if (asked?.kind !== 'Request') return undefined;
	// The schema takes either for either, as an input_required result has to have a resultType and no more.
	const needsInput = isObject(result) && result.resultType === 'input_required' && mayNeedInput.has(method);
	if (needsInput && rules.definitions.InputRequiredResult) return 'InputRequiredResult';
	return firstOf(rules, asked.definition.replace(/Request$/, 'Result'), 'EmptyResult');
}

function problemsOfResult(rules: Rules, message: Message, answered: Answered | undefined): string[] {
	const envelope = rules.check(firstOf(rules, 'JSONRPCResultResponse', 'JSONRPCResponse'), message);
	if (!answered) return [...envelope, 'it is not told which request the result answers'];
	const definition = resultDefinition(rules, answered, message.result);
	if (!definition) return [...envelope, `${rules.version} has no request ${answered.method}`];
	return [...envelope, ...rules.check(definition, message.result)];
}

function problemsOfOne(rules: Rules, message: unknown, answers?: Answered | AnsweredById): string[] {
	if (!isObject(message)) return ['it is not an object'];
	if ('method' in message) return problemsOfCall(rules, message);
	const answered = answers && 'method' in answers ? answers : answers?.get(message.id as string | number);
	if ('error' in message) return problemsOfError(rules, message, answered);
	if ('result' in message) return problemsOfResult(rules, message, answered);
	return ['it is neither a request nor an answer'];
}

function problemsOfBatch(
	rules: Rules,
	batch: readonly unknown[],
	answers?: Answered | AnsweredById,
): string[] {
	if (!rules.definitions.JSONRPCBatchRequest) return [`${rules.version} has no batches`];
	const all = batch.flatMap((each, at) =>
		problemsOfOne(rules, each, answers).map(problem => `[${at}] ${problem}`),
	);
	const calls = batch.filter(each => isObject(each) && 'method' in each);
	if (calls.length > 0 && calls.length < batch.length) all.push('the batch mixes requests and answers');
	// These two are forbidden by the text of the specification; the schema cannot tell.
	if (batch.length === 0) all.push('the batch is empty');
	if (calls.some(each => isObject(each) && each.method === 'initialize'))
		all.push('initialize is in a batch');
	return all;
}

/**
 * What is wrong with a message under the official schema of a version; nothing, if it is valid.
 * A result is checked by the request that it answers, so that has to be told: one for all, or by id for a batch.
 */
export function problemsOf(
	version: McpVersion,
	message: unknown,
	answers?: Answered | AnsweredById,
): string[] {
	const rules = rulesOf(version);
	return Array.isArray(message)
		? problemsOfBatch(rules, message, answers)
		: problemsOfOne(rules, message, answers);
}

/** The methods that a side may send as messages of their own, as the schema lists them. */
export function methodsOf(
	version: McpVersion,
	sender: Sender,
): {requests: string[]; notifications: string[]} {
	const rules = rulesOf(version);
	return {
		requests: [...rules.methodsOf(sender, 'Request').keys()],
		notifications: [...rules.methodsOf(sender, 'Notification').keys()],
	};
}
