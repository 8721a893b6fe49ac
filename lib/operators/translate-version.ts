import {BoundedMap} from '../bounded-map.js';
import {draft} from '../change.js';
import {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {printable} from '../printable.js';
import type {Session} from '../protocol/session.js';
import type {Direction} from '../protocol/step.js';
import {type Kind, Translator} from '../protocol/translate.js';
import type {Version} from '../protocol/version.js';
import {type Answer, type Stage, type Step, type Steps, stage} from '../stage.js';
import {idWord} from '../wire/id.js';

export type TranslateVersionOptions = {readonly session: Session; readonly log: Log};

/** Requests of either side whose answers may have to be translated. */
const MAX_ASKED = 65_536;

const opposite = {toUpstream: 'toClient', toClient: 'toUpstream'} as const;

/** Lets each side hear messages of its own version. Messages that need no change pass as the bytes that they are. */
export function translateVersion(options: TranslateVersionOptions): Stage {
	return stage(() => new Translation(options));
}

class Translation implements Steps {
	readonly #session: Session;
	readonly #log: Log;
	#current:
		| {
				readonly client: Version | undefined;
				readonly upstream: Version | undefined;
				readonly translator: Translator;
		  }
		| undefined;
	/** The methods of requests, by the direction that they went and by their ids. */
	readonly #asked = {
		toUpstream: new BoundedMap<string, string>(MAX_ASKED),
		toClient: new BoundedMap<string, string>(MAX_ASKED),
	};

	constructor({session, log}: TranslateVersionOptions) {
		this.#session = session;
		this.#log = log;
	}

	readonly toUpstream: Step = (envelope, answer) => this.#step(envelope, 'toUpstream', answer);
	readonly toClient: Step = (envelope, answer) => this.#step(envelope, 'toClient', answer);

	#step(envelope: Envelope, direction: Direction, answer: Answer): Envelope | undefined {
		if (this.#session.isPlain) return envelope;
		const about = this.#subject(envelope, direction);
		const translator = this.#translator();
		if (!translator || about === undefined) return envelope;
		const kind = kindOf(envelope);
		const plan = translator.planFor(direction, kind, about);
		if (!plan?.mayChange(envelope.line)) return envelope;
		const {body, with: as} = draft(envelope);
		const outcome = translator.translate(direction, kind, about, body, idWord(envelope.head.id ?? ''));
		if (!outcome) return envelope;
		const {on, back} = outcome;
		if (back) answer(backTo(envelope, back));
		else if (!on)
			this.#log.debug('rpc.dropped', `${about || 'An error without an id'} was not passed on.`, {body});
		return on && as(on);
	}

	/** The method of a message, or of the request that it answers; none if that is not known. */
	#subject({head: {key, method}}: Envelope, direction: Direction): string | undefined {
		if (method === undefined) return key === undefined ? '' : this.#asked[opposite[direction]].take(key);
		if (key !== undefined) this.#asked[direction].set(key, method);
		return method;
	}

	/** The translator between the versions that are spoken; none as long as that is not known, or needs none. */
	#translator(): Translator | undefined {
		const {client, upstream} = this.#session;
		const current = this.#current;
		return current && current.client === client && current.upstream === upstream
			? current.translator
			: this.#installed(client, upstream);
	}

	#installed(client: Version | undefined, upstream: Version | undefined): Translator | undefined {
		const {clientFace, upstreamFace, clientCapabilities, needsTranslation, options} = this.#session;
		if (clientFace === undefined || upstreamFace === undefined || !needsTranslation) return;
		const {isStrict = false, isShared = false} = options;
		const onLoss = (feature: string): void => tellOfLoss(this.#session, this.#log, feature);
		const versions = {client: clientFace, upstream: upstreamFace};
		const translator = new Translator({...versions, isStrict, isShared, clientCapabilities, onLoss});
		this.#current = {client, upstream, translator};
		return translator;
	}
}

function kindOf({head: {key, method, hasError}}: Envelope): Kind {
	if (method !== undefined) return key === undefined ? 'notification' : 'request';
	return hasError ? 'error' : 'result';
}

const backTo = (
	{head: {id = 'null'}, origin}: Envelope,
	{result, error}: {[key: string]: unknown},
): Envelope =>
	error === undefined
		? Envelope.answer(id, 'result', result, origin)
		: Envelope.answer(id, 'error', error, origin);

/** Counts what could not be carried, and tells people the first time. */
function tellOfLoss(
	{losses, options: {upstream}, client, upstream: version}: Session,
	log: Log,
	feature: string,
): void {
	const count = losses.get(feature) ?? 0;
	losses.set(feature, count + 1);
	if (count > 0) return;
	const sentence = `${printable(feature)}: ${upstream} speaks ${version}, the client ${client}, and one of them does not have this; what could be carried was.`;
	log.warn('proxy.feature.lost', sentence, {server: upstream, feature, version, clientVersion: client});
}
