import {draft} from '../change.js';
import {Envelope} from '../envelope.js';
import {type Log, logBug} from '../log.js';
import {tellOfLoss} from '../protocol/report.js';
import type {Session} from '../protocol/session.js';
import type {Direction} from '../protocol/step.js';
import {type Kind, type Outcome, Translator} from '../protocol/translate.js';
import {type Answer, type Stage, type Steps, stage} from '../stage.js';
import type {WaitingRequests} from '../waiting-requests.js';
import {idWord} from '../wire/id.js';
import {WordMap} from '../word-map.js';

export type TranslateVersionOptions = {
	readonly session: Session;
	readonly log: Log;
	/** The requests of the client that wait for an answer. */
	readonly waiting: WaitingRequests;
};

/** Requests of either side whose responses may have to be translated, and the characters of their ids and methods. */
const [MAX_ASKED, MAX_CHARACTERS] = [65_536, 8 * 2 ** 20];
const askedMethods = (): WordMap<string> => new WordMap(MAX_ASKED, MAX_CHARACTERS, method => method.length);

/** Lets each side hear messages of its own version. Messages that need no change pass as the bytes that they are. */
export function translateVersion(options: TranslateVersionOptions): Stage {
	return stage(() => new Translation(options));
}

class Translation implements Steps {
	readonly #session: Session;
	readonly #log: Log;
	readonly #waiting: WaitingRequests;
	#translator: Translator | undefined;
	/** Since when nobody has turned out to speak something else. */
	#epoch = -1;
	/** The methods of requests by who asked them and by their ids. */
	readonly #askedBy = {
		client: askedMethods(),
		upstream: askedMethods(),
	};

	constructor({session, log, waiting}: TranslateVersionOptions) {
		this.#session = session;
		this.#log = log;
		this.#waiting = waiting;
		session.translate = (envelope, answer) => this.toUpstream(envelope, answer);
	}

	readonly toUpstream = (envelope: Envelope, answer: Answer): Envelope | undefined => {
		if (this.#session.isPlain) return envelope;
		const {key, method} = envelope.head;
		if (method === undefined)
			return this.#answer(envelope, 'toUpstream', this.#askedBy.upstream.take(key ?? ''));
		// When all is settled, the client's requests are found where they wait.
		if (key !== undefined && !this.#session.isSettled) this.#askedBy.client.set(key, method);
		return this.#step(envelope, 'toUpstream', key === undefined ? 'notification' : 'request', method, answer);
	};

	readonly toClient = (envelope: Envelope, answer: Answer): Envelope | undefined => {
		if (this.#session.isPlain) return envelope;
		const {key, method} = envelope.head;
		if (method === undefined) return this.#answer(envelope, 'toClient', this.#methodOf(key));
		if (key !== undefined) this.#askedBy.upstream.set(key, method);
		return this.#step(envelope, 'toClient', key === undefined ? 'notification' : 'request', method, answer);
	};

	/** Counts are for those who come later, and only then are they known. */
	readonly upstreamGone = (): void => {
		const {losses, options} = this.#session;
		if (losses.size === 0) return;
		const features = Object.fromEntries(losses);
		this.#log.debug('proxy.features.lost', `What could not be carried to or from ${options.upstream}.`, {
			features,
		});
	};

	/** The method of the client's request that an answer is for. */
	#methodOf(key: string | undefined): string | undefined {
		if (key === undefined) return;
		const {client} = this.#askedBy;
		return (client.size > 0 ? client.take(key) : undefined) ?? this.#waiting.methodOf(key);
	}

	/** An answer to a request of this method. One without an id is about nothing. */
	#answer(envelope: Envelope, direction: Direction, method: string | undefined): Envelope | undefined {
		const {key, hasError} = envelope.head;
		const about = key === undefined ? '' : method;
		if (about === undefined) return envelope;
		return this.#step(envelope, direction, hasError ? 'error' : 'result', about, () => {});
	}

	#step(
		envelope: Envelope,
		direction: Direction,
		kind: Kind,
		about: string,
		answer: Answer,
	): Envelope | undefined {
		const translator = this.#installed();
		const plan = translator?.planFor(direction, kind, about);
		if (!translator || !plan?.mayChange(envelope)) return envelope;
		const {body, with: as} = draft(envelope);
		const outcome = this.#outcome(() =>
			translator.translate(direction, kind, about, body, idWord(envelope.head.id ?? '')),
		);
		if (!outcome) return envelope;
		const {on, back} = outcome;
		if (back) answer(backTo(envelope, back));
		else if (!on) this.#log.debug('rpc.dropped', `${about || 'An error without an id'} was not passed on.`);
		return on && as(on);
	}

	/** A message that nobody has foreseen goes on as it is, and ends no conversation. */
	#outcome(translate: () => Outcome | undefined): Outcome | undefined {
		try {
			return translate();
		} catch (error) {
			logBug(this.#log, error);
			return;
		}
	}

	/** The translator between the versions that are spoken; none as long as that is not known, or needs none. */
	#installed(): Translator | undefined {
		if (this.#epoch !== this.#session.epoch) this.#install();
		return this.#translator;
	}

	#install(): void {
		const {epoch, clientFace, upstreamFace, clientCapabilities, options} = this.#session;
		this.#epoch = epoch;
		this.#translator = undefined;
		if (clientFace === undefined || upstreamFace === undefined || !this.#session.needsTranslation) return;
		const {isStrict = false, isShared = false} = options;
		const onLoss = (feature: string): void => tellOfLoss(this.#session, this.#log, feature);
		this.#waiting.tellsUncommonIds = false;
		const faces = {client: clientFace, upstream: upstreamFace};
		this.#translator = new Translator({...faces, isStrict, isShared, clientCapabilities, onLoss});
		this.#session.translates(this.#translator.touching);
	}
}

const backTo = (
	{head: {id = 'null'}, origin}: Envelope,
	{result, error}: {readonly [key: string]: unknown},
): Envelope =>
	error === undefined
		? Envelope.answer(id, 'result', result, origin)
		: Envelope.answer(id, 'error', error, origin);
