import type {McpVersion} from '../mcp-version.js';
import type {Message, Rules, SentRequest} from './rules.js';

export type Kind = 'Request' | 'Notification';
type Method = {readonly definition: string; readonly kind: Kind};

/** Rules that are named definitions, such as `CallToolRequest` and `CallToolResult`. */
export abstract class DefinedRules implements Rules {
	readonly version: McpVersion;
	readonly #methods = new Map<string, Method>();

	constructor(version: McpVersion) {
		this.version = version;
	}

	protected abstract has(definition: string): boolean;
	protected abstract check(definition: string, value: unknown): string[];

	protected addMethod(name: string, method: Method): void {
		this.#methods.set(name, method);
	}

	hasMethod(method: string): boolean {
		return this.#methods.has(method);
	}

	validateCall(message: Message): string[] {
		const kind: Kind = 'id' in message ? 'Request' : 'Notification';
		const method = this.#methods.get(String(message.method));
		const envelope = this.check(`JSONRPC${kind}`, message);
		if (!method) return [...envelope, `${this.version} has no method ${String(message.method)}`];
		if (method.kind !== kind) envelope.push(`${method.definition} is sent as a ${kind.toLowerCase()}`);
		return [...envelope, ...this.check(method.definition, message)];
	}

	validateError(message: Message, _request?: SentRequest): string[] {
		return this.check(this.firstOf('JSONRPCErrorResponse', 'JSONRPCError'), message);
	}

	validateResult(message: Message, {method, definition}: SentRequest): string[] {
		const envelope = this.check(this.firstOf('JSONRPCResultResponse', 'JSONRPCResponse'), message);
		const request = this.#methods.get(method);
		if (request?.kind !== 'Request') return [...envelope, `${this.version} has no request ${method}`];
		const name = request.definition.replace(/Request$/, 'Result');
		return [
			...envelope,
			...this.check(definition ?? this.resultOf(name, method, message.result), message.result),
		];
	}

	/** The definition of a result, by the name that it usually has. */
	protected resultOf(name: string, _method: string, _result: unknown): string {
		return this.firstOf(name, 'EmptyResult');
	}

	/** The definition that this version has: some were renamed from one version to the next. */
	protected firstOf(...names: readonly [string, string]): string {
		return this.has(names[0]) ? names[0] : names[1];
	}
}
