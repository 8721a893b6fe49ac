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
	/** The requests of the client that wait for an answer. */
	readonly pending: PendingRequests;
};

/** Requests of either side whose responses may have to be translated, and the characters of their ids and methods. */
const [MAX_METHODS, MAX_CHARACTERS] = [65_536, 8 * 2 ** 20];
const createMethodMap = (): BoundedStringMap<string> =>
	new BoundedStringMap(MAX_METHODS, MAX_CHARACTERS, method => method.length);

/** Lets each side hear messages of its own version. Messages that need no change pass as the bytes that they are. */
export function translateVersion(options: TranslateVersionOptions): Stage {
	return stage(() => new VersionTranslator(options));
}

class VersionTranslator implements StageSteps {
	readonly #negotiation: Negotiation;
	readonly #log: Log;
	readonly #pending: PendingRequests;
	#translator: Translator | undefined;
	/** Since when nobody has turned out to speak something else. */
	#epoch = -1;
	/** The methods of requests by who asked them and by their ids. */
	readonly #methods = {
		client: createMethodMap(),
		upstream: createMethodMap(),
	};

	constructor({negotiation, log, pending}: TranslateVersionOptions) {
		this.#negotiation = negotiation;
		this.#log = log;
		this.#pending = pending;
		negotiation.retranslate = (envelope, answer) => this.toUpstream(envelope, answer);
	}

	readonly toUpstream = (envelope: Envelope, reply: Emit): Envelope | undefined => {
		if (this.#negotiation.isPassThrough) return envelope;
		const {key, method} = envelope.head;
		if (method === undefined)
			return this.#translateResponse(envelope, 'toUpstream', this.#methods.upstream.take(key ?? ''));
		// When all is settled, the client's requests are found where they wait.
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

	/** Counts are for those who come later, and only then are they known. */
	readonly upstreamClosed = (): void => {
		const {losses, options} = this.#negotiation;
		if (losses.size === 0) return;
		const features = Object.fromEntries(losses);
		this.#log.debug('proxy.features.lost', `What could not be carried to or from ${options.upstream}.`, {
			features,
		});
	};

	/** The method of the client's request that an answer is for. */
	#methodOf(key: string | undefined): string | undefined {
		if (key === undefined) return;
		const {client} = this.#methods;
		return (client.size > 0 ? client.take(key) : undefined) ?? this.#pending.methodOf(key);
	}

	/** An answer to a request of this method. One without an id is about nothing. */
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
		const {body, with: as} = createDraft(envelope);
		const outcome = this.#tryTranslate(() =>
			translator.translate(direction, kind, method, body, unquotedId(envelope.head.id ?? '')),
		);
		if (!outcome) return envelope;
		const {forward, reply} = outcome;
		if (reply) sendReply(toReply(envelope, reply));
		else if (!forward)
			this.#log.debug('rpc.dropped', `${method || 'An error without an id'} was not passed on.`);
		return forward && as(forward);
	}

	/** A message that nobody has foreseen goes on as it is, and ends no conversation. */
	#tryTranslate(translate: () => TranslatedMessage | undefined): TranslatedMessage | undefined {
		try {
			return translate();
		} catch (error) {
			logBug(this.#log, error);
			return;
		}
	}

	/** The translator between the versions that are spoken; none as long as that is not known, or needs none. */
	#currentTranslator(): Translator | undefined {
		if (this.#epoch !== this.#negotiation.epoch) this.#createTranslator();
		return this.#translator;
	}

	#createTranslator(): void {
		const {
			epoch,
			clientHandshakeVersion: clientFace,
			upstreamHandshakeVersion: upstreamFace,
			clientCapabilities,
			options,
		} = this.#negotiation;
		this.#epoch = epoch;
		this.#translator = undefined;
		if (clientFace === undefined || upstreamFace === undefined || !this.#negotiation.needsTranslation) return;
		const {isStrict = false, isShared = false} = options;
		const onLoss = (feature: string): void => logLoss(this.#negotiation, this.#log, feature);
		this.#pending.forwardsUncommonIds = false;
		const versions = {client: clientFace, upstream: upstreamFace};
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
