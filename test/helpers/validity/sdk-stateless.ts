import {
	Client,
	InMemoryTransport,
	isJSONRPCErrorResponse,
	isJSONRPCNotification,
	isJSONRPCRequest,
	isJSONRPCResultResponse,
} from 'sdk-2026-07-28';
import {isObject, type Message, mayNeedInput, type Rules, type SentRequest} from './rules.js';

const VERSION = '2026-07-28';

/** An SDK client after negotiation. Its codec validates all messages that it sends and receives. */
class StatelessClient extends Client {
	get codec(): ReturnType<Client['_wireCodec']> {
		return this._wireCodec();
	}
}

type Codec = StatelessClient['codec'];
type Outcome = ReturnType<Codec['validateRequest']>;

const violation = (what: string, outcome: Outcome): string[] => {
	if (outcome.ok) return [];
	return [outcome.reason === 'invalid' ? `${what} ${outcome.message}` : `${VERSION} has no ${what}`];
};

export class SdkStatelessRules implements Rules {
	readonly version = VERSION;
	readonly #codec: Codec;

	constructor(codec: Codec) {
		this.#codec = codec;
	}

	static async load(): Promise<SdkStatelessRules> {
		const client = new StatelessClient({name: 'validator', version: '1'}, {});
		const [transport] = InMemoryTransport.createLinkedPair();
		const discover = {
			supportedVersions: [VERSION],
			capabilities: {},
			ttlMs: 0,
			cacheScope: 'private' as const,
		};
		await client.connect(transport, {prior: {kind: 'modern', discover}});
		return new SdkStatelessRules(client.codec);
	}

	hasMethod(method: string): boolean {
		return this.#codec.hasRequestMethod(method) || this.#codec.hasNotificationMethod(method);
	}

	validateCall(message: Message): string[] {
		const method = String(message.method);
		if (!('id' in message)) {
			if (!isJSONRPCNotification(message)) return ['the message is not a JSON-RPC notification'];
			return violation(method, this.#codec.validateNotification(method, message));
		}
		if (!isJSONRPCRequest(message)) return ['the message is not a JSON-RPC request'];
		const params = isObject(message.params) ? message.params : {};
		const meta = isObject(params._meta) ? params._meta : {};
		return [
			...violation(method, this.#codec.validateRequest(method, message)),
			...this.#codec.validateEnvelopeMeta(meta).map(({key, problem}) => `_meta ${key} ${problem}`),
			...this.#ofInputResponses(params.inputResponses),
		];
	}

	validateError(message: Message): string[] {
		return isJSONRPCErrorResponse(message) ? [] : ['the message is not a JSON-RPC error response'];
	}

	validateResult(message: Message, {method}: SentRequest): string[] {
		if (!isJSONRPCResultResponse(message)) return ['the message is not a JSON-RPC result response'];
		if (!this.#codec.hasRequestMethod(method)) return [`${VERSION} has no request ${method}`];
		const decoded = this.#codec.decodeResult(method, message.result);
		if (decoded.kind === 'invalid') return [decoded.error.message];
		if (decoded.kind === 'complete')
			return violation(method, this.#codec.validateResult(method, message.result));
		if (!mayNeedInput.has(method)) return [`a result of ${method} cannot require input`];
		return Object.values(decoded.inputRequests).flatMap(request => this.#ofInputRequest(request));
	}

	#ofInputRequest(request: unknown): string[] {
		const method = isObject(request) ? String(request.method) : '';
		return violation(method, this.#codec.validateInputRequest(method, request));
	}

	/** An input response does not name its request, so one of the three methods has to accept it. */
	#ofInputResponses(responses: unknown): string[] {
		const methods = ['elicitation/create', 'sampling/createMessage', 'roots/list'];
		return Object.entries(isObject(responses) ? responses : {}).flatMap(([name, response]) =>
			methods.some(method => this.#codec.validateInputResponse(method, response).ok)
				? []
				: [`inputResponses/${name} is not a response to any input request`],
		);
	}
}
