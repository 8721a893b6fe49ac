import {cancellingAs, change} from '../change.js';
import {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {isObject, isOfBridge, type JsonObject, listOf, objectOf} from '../protocol/json.js';
import {handshakeTools, wrapOutput} from '../protocol/modern-output.js';
import {isModernRefusal, notModern} from '../protocol/modern-refusal.js';
import {tellOfLoss} from '../protocol/report.js';
import type {Introduction, Session} from '../protocol/session.js';
import {
	type Caller,
	FOREIGN_VALUES,
	handshakeNotification,
	handshakeResult,
	haveForeignValues,
	initialized,
	withEnvelope,
} from '../protocol/v2026-07-28.js';
import {MODERN} from '../protocol/version.js';
import {type Answer, type Outlets, type Stage, type Steps, stage} from '../stage.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {CallTable, cancelledId} from './call-table.js';
import {type HandshakeCall, InputRounds, type Retry} from './modern-input.js';
import {ListenStream} from './modern-stream.js';
import {toolName, WrappedTools} from './wrapped-tools.js';

/** Whether an error is that of bridge for a server that exited or cannot be reached, so that it has not responded at all. */
const isOfConnection = (error: unknown): boolean =>
	isOfBridge(error) && objectOf(objectOf(error).data).status === undefined;

export type ModernUpstreamOptions = {
	readonly session: Session;
	readonly log: Log;
	/** Who asks the request with this key, where several clients do; without it, the client of the session. */
	readonly askedBy?: (key: string) => Introduction | undefined;
};

/** What handshake clients tell of, and modern servers have no word for: none of them has asked a client anything. */
const unheard: readonly string[] = [
	'notifications/roots/list_changed',
	'notifications/progress',
	'notifications/tasks/status',
];

/** Makes a server of the era without handshake look like one of 2025-11-25. */
export function modernUpstream(options: ModernUpstreamOptions): Stage {
	return stage(out => new ModernUpstream(options, out));
}

class ModernUpstream implements Steps {
	readonly #session: Session;
	readonly #log: Log;
	readonly #askedBy: ModernUpstreamOptions['askedBy'];
	readonly #out: Outlets;
	readonly #input: InputRounds;
	readonly #stream: ListenStream;
	readonly #calls = new CallTable<HandshakeCall>();
	readonly #wrapped = new WrappedTools();
	/** The `initialize` without an answer, and what was asked in its stead. */
	#initialize: Envelope | undefined;
	#discover: {readonly key: string; readonly refusal: Envelope | undefined} | undefined;
	#logLevel: string | undefined;

	constructor({session, log, askedBy}: ModernUpstreamOptions, out: Outlets) {
		this.#session = session;
		this.#log = log;
		this.#askedBy = askedBy;
		this.#out = out;
		this.#input = new InputRounds(session, out, (...retry) => this.#send(...retry));
		this.#stream = new ListenStream(session, out, params => withEnvelope(params, this.#caller));
	}

	get #caller(): Caller {
		const {clientInfo: info, clientCapabilities: capabilities} = this.#session;
		return {info, capabilities, logLevel: this.#logLevel};
	}

	/** Who a request is from. */
	#callerOf(key: string): Caller {
		const who = this.#askedBy?.(key);
		return who ? {...who, logLevel: this.#logLevel} : this.#caller;
	}

	readonly toUpstream = (envelope: Envelope, answer: Answer): Envelope | undefined => {
		const {id, method} = envelope.head;
		if (method === 'initialize' && id !== undefined) return this.#begin(envelope);
		if (this.#session.upstream !== MODERN) return envelope;
		if (method === undefined) return void this.#input.answered(envelope);
		if (id === undefined) return this.#notification(envelope, method);
		return this.#request(envelope, id, method, answer);
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key, method} = envelope.head;
		if (method === undefined && key !== undefined) {
			if (key === this.#discover?.key) return this.#discovered(envelope);
			if (key === this.#initialize?.head.key) return this.#refused(envelope);
		}
		if (this.#session.upstream !== MODERN) return envelope;
		if (method !== undefined) return this.#notified(envelope, method);
		return key === undefined ? envelope : this.#answered(envelope, key);
	};

	/** A server that is to be spoken to in the modern version is never asked to initialize. */
	#begin(envelope: Envelope): Envelope | undefined {
		this.#initialize = envelope;
		this.#discover = undefined;
		if (this.#session.options.targetVersion !== MODERN) return envelope;
		this.#ask(undefined);
		return;
	}

	#ask(refusal: Envelope | undefined): void {
		const id = this.#session.ownId();
		this.#discover = {key: JSON.stringify(id), refusal};
		const params = withEnvelope({}, this.#caller);
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'server/discover', params}));
	}

	/** A server that knows no handshake says so; others have answered, or refused for another reason. */
	#refused(envelope: Envelope): Envelope | undefined {
		if (envelope.head.hasError && isModernRefusal(objectOf(envelope.body.error)) && !this.#discover) {
			this.#ask(envelope);
			return;
		}
		this.#initialize = undefined;
		return envelope;
	}

	#discovered(envelope: Envelope): Envelope | undefined {
		const {id = 'null'} = this.#initialize?.head ?? {};
		const refusal = this.#discover?.refusal;
		const result = objectOf(envelope.body.result);
		this.#discover = undefined;
		this.#initialize = undefined;
		if (!refusal && isOfConnection(envelope.body.error)) return envelope.withId(id);
		if (!listOf(result.supportedVersions).includes(MODERN))
			return refusal ?? Envelope.failure(id, notModern(this.#session.options.upstream), envelope.origin);
		this.#session.upstreamBecame(MODERN);
		const {client, clientCapabilities} = this.#session;
		if (client !== MODERN && haveForeignValues(clientCapabilities))
			tellOfLoss(this.#session, this.#log, FOREIGN_VALUES);
		this.#stream.offer(objectOf(result.capabilities));
		// Of several clients, one may know extensions and another none.
		const known = this.#askedBy ? {extensions: {}} : clientCapabilities;
		return Envelope.answer(id, 'result', initialized(result, known), envelope.origin);
	}

	#request(envelope: Envelope, id: string, method: string, answer: Answer): Envelope | undefined {
		const params = objectOf(envelope.body.params);
		const reply = (member: 'result' | 'error', value: JsonObject): undefined =>
			void answer(Envelope.answer(id, member, value, envelope.origin));
		switch (method) {
			case 'ping':
				return reply('result', {});
			case 'logging/setLevel':
				this.#logLevel = String(params.level);
				return reply('result', {});
			case 'resources/subscribe':
				return this.#stream.add(String(params.uri), envelope.origin, reply);
			case 'resources/unsubscribe':
				return this.#stream.remove(String(params.uri), envelope.origin, reply);
			default:
				break;
		}
		if (method.startsWith('tasks/'))
			return reply('error', {
				code: -32601,
				message: `Method not found: ${method} (the server speaks protocol ${MODERN})`,
			});
		// An id of the client's that reads like one of bridge's own gets another.
		const {key = ''} = envelope.head;
		const told = this.#calls.has(key) ? JSON.stringify(this.#session.ownId()) : id;
		const {line, origin} = envelope;
		const tool = method === 'tools/call' ? toolName(params.name) : undefined;
		const toldKey = told === id ? key : canonicalId(told);
		this.#calls.set({line, origin, id, key, told, toldKey, method, tool, round: 0});
		const modern = change(envelope, body => ({
			...body,
			params: withEnvelope(objectOf(body.params), this.#callerOf(key)),
		}));
		return told === id ? modern : modern.withId(told);
	}

	/** Asks again, with what the client has answered. */
	#send(...[call, params, exact]: Parameters<Retry>): void {
		const told = this.#calls.has(call.told) ? JSON.stringify(this.#session.ownId()) : call.told;
		this.#calls.set({...call, told, toldKey: told});
		const request = {jsonrpc: '2.0', id: exact.raw(told), method: call.method};
		const whole = {...request, params: withEnvelope(params, this.#callerOf(call.key))};
		this.#out.toUpstream(Envelope.fromText(exact.write(whole), call.origin));
	}

	#notification(envelope: Envelope, method: string): Envelope | undefined {
		if (method === 'notifications/initialized') {
			if (this.#session.client !== MODERN) this.#stream.start();
			return;
		}
		if (method !== 'notifications/cancelled') return unheard.includes(method) ? undefined : envelope;
		const id = cancelledId(envelope);
		const key = canonicalId(id ?? '');
		if (id === undefined || this.#input.cancel(key)) return;
		const call = this.#calls.find(key);
		if (call) this.#calls.cancel({...call, line: undefined});
		return !call || call.told === id ? envelope : cancellingAs(envelope, call.told);
	}

	#notified(envelope: Envelope, method: string): Envelope | undefined {
		if (method === 'notifications/subscriptions/acknowledged') {
			this.#stream.acknowledged(objectOf(envelope.body.params));
			return;
		}
		// That is how a server ends a stream, where there is but one connection.
		if (
			method === 'notifications/cancelled' &&
			this.#streamEnded(memberText(envelope.bytes, 'params', 'requestId'))
		)
			return;
		return change(envelope, handshakeNotification);
	}

	#answered(envelope: Envelope, key: string): Envelope | undefined {
		if (this.#streamEnded(key)) return;
		const call = this.#calls.take(key);
		if (!call) return envelope;
		const {result} = envelope.body;
		if (objectOf(result).resultType === 'input_required') {
			this.#input.begin(call, envelope);
			return;
		}
		const plain = isObject(result) ? change(envelope, body => this.#plain(body, call)) : envelope;
		return plain.head.id === call.id ? plain : plain.withId(call.id);
	}

	#streamEnded(key: string | undefined): boolean {
		const hasEnded = this.#stream.ended(key);
		const {upstream} = this.#session.options;
		if (hasEnded) this.#log.info('proxy.listen.ended', `${upstream} ended the stream of its notifications.`);
		return hasEnded;
	}

	#plain(body: JsonObject, {method, tool}: HandshakeCall): JsonObject {
		const result = handshakeResult(objectOf(body.result));
		if (method === 'tools/call') return {...body, result: wrapOutput(result, this.#wrapped.has(tool))};
		if (method !== 'tools/list') return {...body, result};
		this.#wrapped.learn(result);
		return {...body, result: handshakeTools(result)};
	}
}
