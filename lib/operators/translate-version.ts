import {createDraft} from '../core/edit-message.js';
import {Envelope} from '../core/envelope.js';
import {type Log, logBug} from '../core/log.js';
import type {PendingRequests} from '../core/requests/pending.js';
import {type Emit, type Stage, type StageSteps, stage} from '../core/stage.js';
import {logLoss} from '../protocol/connection-log.js';
import type {Negotiation} from '../protocol/negotiation.js';
import type {MessageDirection} from '../protocol/translation-rule.js';
import {type MessageKind, type TranslatedMessage, Translator} from '../protocol/translator.js';
import {BoundedStringMap} from '../util/bounded-string-map.js';
import {unquotedId} from '../wire/id.js';

type TranslateVersionOptions = {
	readonly negotiation: Negotiation;
	readonly log: Log;
	readonly pending: PendingRequests;
};

/** Stored requests of each side, and the characters of their ids and methods. */
const [MAX_METHODS, MAX_CHARACTERS] = [65_536, 8 * 2 ** 20];
const createMethodMap = (): BoundedStringMap<string> =>
	new BoundedStringMap(MAX_METHODS, MAX_CHARACTERS, method => method.length);

/** Translates messages between the protocol versions of the two sides. Unchanged messages keep their bytes. */
export function translateVersion(options: TranslateVersionOptions): Stage {
	return stage(() => new VersionTranslator(options));
}

class VersionTranslator implements StageSteps {
	readonly #negotiation: Negotiation;
	readonly #log: Log;
	readonly #pending: PendingRequests;
	#translator: Translator | undefined;
	/** The epoch of the negotiation that the translator was created for. */
	#epoch = -1;
	/** The methods of pending requests, by sender and id. */
	readonly #methods = {
		client: createMethodMap(),
		upstream: createMethodMap(),
	};

	constructor({negotiation, log, pending}: TranslateVersionOptions) {
		this.#negotiation = negotiation;
		this.#log = log;
		this.#pending = pending;
		negotiation.retranslate = (envelope, reply) => this.toUpstream(envelope, reply);
	}

	readonly toUpstream = (envelope: Envelope, reply: Emit): Envelope | undefined => {
		if (this.#negotiation.isPassThrough) return envelope;
		const {key, method} = envelope.head;
		if (method === undefined)
			return this.#translateResponse(envelope, 'toUpstream', this.#methods.upstream.take(key ?? ''));
		// After the negotiation, `#pending` has the methods of the client's requests.
		if (key !== undefined && !this.#negotiation.isSettled) this.#methods.client.set(key, method);
		return this.#translate(
			envelope,
			'toUpstream',
			key === undefined ? 'notification' : 'request',
			method,
			reply,
		);
	};

	readonly toClient = (envelope: Envelope, reply: Emit): Envelope | undefined => {
		if (this.#negotiation.isPassThrough) return envelope;
		const {key, method} = envelope.head;
		if (method === undefined) return this.#translateResponse(envelope, 'toClient', this.#methodOf(key));
		if (key !== undefined) this.#methods.upstream.set(key, method);
		return this.#translate(
			envelope,
			'toClient',
			key === undefined ? 'notification' : 'request',
			method,
			reply,
		);
	};

	readonly upstreamClosed = (): void => {
		const {losses, options} = this.#negotiation;
		if (losses.size === 0) return;
		const features = Object.fromEntries(losses);
		this.#log.debug(
			'proxy.features.lost',
			`Features that were lost in the translation to or from ${options.upstream}.`,
			{
				features,
			},
		);
	};

	#methodOf(key: string | undefined): string | undefined {
		if (key === undefined) return;
		const {client} = this.#methods;
		return (client.size > 0 ? client.take(key) : undefined) ?? this.#pending.methodOf(key);
	}

	/** Translates the response to a request of this method. A response without an id has no method. */
	#translateResponse(
		envelope: Envelope,
		direction: MessageDirection,
		method: string | undefined,
	): Envelope | undefined {
		const {key, hasError} = envelope.head;
		const requestMethod = key === undefined ? '' : method;
		if (requestMethod === undefined) return envelope;
		return this.#translate(envelope, direction, hasError ? 'error' : 'result', requestMethod, () => {});
	}

	#translate(
		envelope: Envelope,
		direction: MessageDirection,
		kind: MessageKind,
		method: string,
		sendReply: Emit,
	): Envelope | undefined {
		const translator = this.#currentTranslator();
		const ruleSet = translator?.ruleSetFor(direction, kind, method);
		if (!translator || !ruleSet?.mayChange(envelope)) return envelope;
		const {body, with: withBody} = createDraft(envelope);
		const outcome = this.#tryTranslate(() =>
			translator.translate(direction, kind, method, body, unquotedId(envelope.head.id ?? '')),
		);
		if (!outcome) return envelope;
		const {forward, reply} = outcome;
		if (reply) sendReply(toReply(envelope, reply));
		else if (!forward)
			this.#log.debug('rpc.dropped', `${method || 'An error without an id'} was not forwarded.`);
		return forward && withBody(forward);
	}

	/**
	 * Logs a bug in a translation rule. The message is forwarded as it is, instead of ending the conversation.
	 */
	#tryTranslate(translate: () => TranslatedMessage | undefined): TranslatedMessage | undefined {
		try {
			return translate();
		} catch (error) {
			logBug(this.#log, error);
			return;
		}
	}

	/** The translator; undefined before the negotiation, or if no translation is needed. */
	#currentTranslator(): Translator | undefined {
		if (this.#epoch !== this.#negotiation.epoch) this.#createTranslator();
		return this.#translator;
	}

	#createTranslator(): void {
		const {
			epoch,
			clientHandshakeVersion: client,
			upstreamHandshakeVersion: upstream,
			clientCapabilities,
			options,
		} = this.#negotiation;
		this.#epoch = epoch;
		this.#translator = undefined;
		if (client === undefined || upstream === undefined || !this.#negotiation.needsTranslation) return;
		const {isStrict = false, isShared = false} = options;
		const onLoss = (feature: string): void => logLoss(this.#negotiation, this.#log, feature);
		this.#pending.forwardsUncommonIds = false;
		const versions = {client, upstream};
		this.#translator = new Translator({...versions, isStrict, isShared, clientCapabilities, onLoss});
		this.#negotiation.setTransformMarks(this.#translator.transformMarks);
	}
}

const toReply = (
	{head: {id = 'null'}, origin}: Envelope,
	{result, error}: {readonly [key: string]: unknown},
): Envelope =>
	error === undefined
		? Envelope.response(id, 'result', result, origin)
		: Envelope.response(id, 'error', error, origin);
