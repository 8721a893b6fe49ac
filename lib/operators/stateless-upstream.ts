import {cancellationFor, editMessage} from '../core/edit-message.js';
import {Envelope} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import {CallTable, cancelledRequestId} from '../core/requests/call-table.js';
import {type Emit, type Stage, type StageOutputs, type StageSteps, stage} from '../core/stage.js';
import {logLoss} from '../protocol/connection-log.js';
import type {ClientDescription, Negotiation} from '../protocol/negotiation.js';
import {requiresStateless, statelessUnsupported} from '../protocol/stateless-errors.js';
import {toHandshakeTools, wrapOutput} from '../protocol/stateless-output.js';
import {
	haveUnsupportedValues,
	type RequestMeta,
	toHandshakeNotification,
	toHandshakeResult,
	toInitializeResult,
	UNSUPPORTED_VALUES,
	withRequestMeta,
} from '../protocol/v2026-07-28.js';
import {STATELESS} from '../protocol/version.js';
import {isBridgeError, isObject, type JsonObject, listOf, objectOf} from '../util/json.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {type HandshakeCall, InputRounds, type RetryCall} from './stateless-upstream/input-rounds.js';
import {ListenStream} from './stateless-upstream/listen-stream.js';
import {storableToolName, WrappedTools} from './stateless-upstream/wrapped-tools.js';

/** Whether an error comes from bridge itself, because the upstream exited or is unreachable. */
const isConnectionError = (error: unknown): boolean =>
	isBridgeError(error) && objectOf(objectOf(error).data).status === undefined;

type StatelessUpstreamOptions = {
	readonly negotiation: Negotiation;
	readonly log: Log;
	/** The client that sent the request with this key, if several clients share the upstream. */
	readonly clientOf?: (key: string) => ClientDescription | undefined;
};

/** Notifications of handshake clients that the stateless version does not define. */
const droppedNotifications: readonly string[] = [
	'notifications/roots/list_changed',
	'notifications/progress',
	'notifications/tasks/status',
];

/** Makes a stateless upstream look like one of 2025-11-25. */
export function statelessUpstream(options: StatelessUpstreamOptions): Stage {
	return stage(out => new StatelessUpstreamStage(options, out));
}

class StatelessUpstreamStage implements StageSteps {
	readonly #negotiation: Negotiation;
	readonly #log: Log;
	readonly #clientOf: StatelessUpstreamOptions['clientOf'];
	readonly #out: StageOutputs;
	readonly #input: InputRounds;
	readonly #stream: ListenStream;
	readonly #calls = new CallTable<HandshakeCall>();
	readonly #wrappedTools = new WrappedTools();
	/** The pending `initialize`, and the `server/discover` that replaces it. */
	#initializeRequest: Envelope | undefined;
	#discover: {readonly key: string; readonly initializeError: Envelope | undefined} | undefined;
	#logLevel: string | undefined;

	constructor({negotiation, log, clientOf}: StatelessUpstreamOptions, out: StageOutputs) {
		this.#negotiation = negotiation;
		this.#log = log;
		this.#clientOf = clientOf;
		this.#out = out;
		this.#input = new InputRounds(negotiation, out, (...retry) => this.#retryCall(...retry));
		this.#stream = new ListenStream(negotiation, out, params => withRequestMeta(params, this.#requestMeta));
	}

	get #requestMeta(): RequestMeta {
		const {clientInfo: info, clientCapabilities: capabilities} = this.#negotiation;
		return {info, capabilities, logLevel: this.#logLevel};
	}

	#requestMetaFor(key: string): RequestMeta {
		const client = this.#clientOf?.(key);
		return client ? {...client, logLevel: this.#logLevel} : this.#requestMeta;
	}

	readonly toUpstream = (envelope: Envelope, reply: Emit): Envelope | undefined => {
		const {id, method} = envelope.head;
		if (method === 'initialize' && id !== undefined) return this.#startInitialize(envelope);
		if (this.#negotiation.upstreamVersion !== STATELESS) return envelope;
		if (method === undefined) return void this.#input.handleResponse(envelope);
		if (id === undefined) return this.#handleClientNotification(envelope, method);
		return this.#request(envelope, id, method, reply);
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key, method} = envelope.head;
		if (method === undefined && key !== undefined) {
			if (key === this.#discover?.key) return this.#handleDiscover(envelope);
			if (key === this.#initializeRequest?.head.key) return this.#initializeRejected(envelope);
		}
		if (this.#negotiation.upstreamVersion !== STATELESS) return envelope;
		if (method !== undefined) return this.#handleNotification(envelope, method);
		return key === undefined ? envelope : this.#handleResponse(envelope, key);
	};

	/** With a stateless target version, sends `server/discover` instead of `initialize`. */
	#startInitialize(envelope: Envelope): Envelope | undefined {
		this.#initializeRequest = envelope;
		this.#discover = undefined;
		if (this.#negotiation.options.targetVersion !== STATELESS) return envelope;
		this.#sendDiscover(undefined);
		return;
	}

	#sendDiscover(initializeError: Envelope | undefined): void {
		const id = this.#negotiation.nextRequestId();
		this.#discover = {key: JSON.stringify(id), initializeError};
		const params = withRequestMeta({}, this.#requestMeta);
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'server/discover', params}));
	}

	/** Sends `server/discover` if the error means that the upstream is stateless. */
	#initializeRejected(envelope: Envelope): Envelope | undefined {
		if (envelope.head.hasError && requiresStateless(objectOf(envelope.body.error)) && !this.#discover) {
			this.#sendDiscover(envelope);
			return;
		}
		this.#initializeRequest = undefined;
		return envelope;
	}

	#handleDiscover(envelope: Envelope): Envelope | undefined {
		const {id = 'null'} = this.#initializeRequest?.head ?? {};
		const initializeError = this.#discover?.initializeError;
		const result = objectOf(envelope.body.result);
		this.#discover = undefined;
		this.#initializeRequest = undefined;
		if (!initializeError && isConnectionError(envelope.body.error)) return envelope.withId(id);
		if (!listOf(result.supportedVersions).includes(STATELESS))
			return (
				initializeError ??
				Envelope.errorResponse(id, statelessUnsupported(this.#negotiation.options.upstream), envelope.origin)
			);
		this.#negotiation.setUpstreamVersion(STATELESS);
		const {clientVersion: client, clientCapabilities} = this.#negotiation;
		if (client !== STATELESS && haveUnsupportedValues(clientCapabilities))
			logLoss(this.#negotiation, this.#log, UNSUPPORTED_VALUES);
		this.#stream.setCapabilities(objectOf(result.capabilities));
		// Clients that share the upstream may differ in their extensions.
		const declared = this.#clientOf ? {extensions: {}} : clientCapabilities;
		return Envelope.response(id, 'result', toInitializeResult(result, declared), envelope.origin);
	}

	#request(envelope: Envelope, id: string, method: string, reply: Emit): Envelope | undefined {
		const params = objectOf(envelope.body.params);
		const respond = (member: 'result' | 'error', value: JsonObject): undefined =>
			void reply(Envelope.response(id, member, value, envelope.origin));
		switch (method) {
			case 'ping':
				return respond('result', {});
			case 'logging/setLevel':
				this.#logLevel = String(params.level);
				return respond('result', {});
			case 'resources/subscribe':
				return this.#stream.subscribe(String(params.uri), envelope.origin, respond);
			case 'resources/unsubscribe':
				return this.#stream.unsubscribe(String(params.uri), envelope.origin, respond);
			default:
				break;
		}
		if (method.startsWith('tasks/'))
			return respond('error', {
				code: -32601,
				message: `Method not found: ${method} (the server speaks protocol ${STATELESS})`,
			});
		// Renames a client id that collides with a generated one.
		const {key = ''} = envelope.head;
		const upstreamId = this.#calls.has(key) ? JSON.stringify(this.#negotiation.nextRequestId()) : id;
		const {line, origin} = envelope;
		const tool = method === 'tools/call' ? storableToolName(params.name) : undefined;
		const upstreamKey = upstreamId === id ? key : canonicalId(upstreamId);
		this.#calls.set({line, origin, id, key, upstreamId, upstreamKey, method, tool, round: 0});
		const translated = editMessage(envelope, body => ({
			...body,
			params: withRequestMeta(objectOf(body.params), this.#requestMetaFor(key)),
		}));
		return upstreamId === id ? translated : translated.withId(upstreamId);
	}

	#retryCall(...[call, params, exact]: Parameters<RetryCall>): void {
		const upstreamId = this.#calls.has(call.upstreamId)
			? JSON.stringify(this.#negotiation.nextRequestId())
			: call.upstreamId;
		this.#calls.set({...call, upstreamId, upstreamKey: upstreamId});
		const request = {jsonrpc: '2.0', id: exact.raw(upstreamId), method: call.method};
		const withMeta = {...request, params: withRequestMeta(params, this.#requestMetaFor(call.key))};
		this.#out.toUpstream(Envelope.fromText(exact.stringify(withMeta), call.origin));
	}

	#handleClientNotification(envelope: Envelope, method: string): Envelope | undefined {
		if (method === 'notifications/initialized') {
			if (this.#negotiation.clientVersion !== STATELESS) this.#stream.start();
			return;
		}
		if (method !== 'notifications/cancelled')
			return droppedNotifications.includes(method) ? undefined : envelope;
		const id = cancelledRequestId(envelope);
		const key = canonicalId(id ?? '');
		if (id === undefined || this.#input.cancel(key)) return;
		const call = this.#calls.find(key);
		if (call) this.#calls.cancel({...call, line: undefined});
		return !call || call.upstreamId === id ? envelope : cancellationFor(envelope, call.upstreamId);
	}

	#handleNotification(envelope: Envelope, method: string): Envelope | undefined {
		if (method === 'notifications/subscriptions/acknowledged') {
			this.#stream.acknowledged(objectOf(envelope.body.params));
			return;
		}
		// On a single connection, upstreams close a stream with this notification.
		if (
			method === 'notifications/cancelled' &&
			this.#streamEnded(memberText(envelope.bytes, 'params', 'requestId'))
		)
			return;
		return editMessage(envelope, toHandshakeNotification);
	}

	#handleResponse(envelope: Envelope, key: string): Envelope | undefined {
		if (this.#streamEnded(key)) return;
		const call = this.#calls.take(key);
		if (!call) return envelope;
		const {result} = envelope.body;
		if (objectOf(result).resultType === 'input_required') {
			this.#input.begin(call, envelope);
			return;
		}
		const translated = isObject(result)
			? editMessage(envelope, body => this.#toHandshake(body, call))
			: envelope;
		return translated.head.id === call.id ? translated : translated.withId(call.id);
	}

	#streamEnded(key: string | undefined): boolean {
		const hasEnded = this.#stream.handleEnd(key);
		const {upstream} = this.#negotiation.options;
		if (hasEnded) this.#log.info('proxy.listen.ended', `${upstream} closed its notification stream.`);
		return hasEnded;
	}

	#toHandshake(body: JsonObject, {method, tool}: HandshakeCall): JsonObject {
		const result = toHandshakeResult(objectOf(body.result));
		if (method === 'tools/call') return {...body, result: wrapOutput(result, this.#wrappedTools.has(tool))};
		if (method !== 'tools/list') return {...body, result};
		this.#wrappedTools.update(result);
		return {...body, result: toHandshakeTools(result)};
	}
}
