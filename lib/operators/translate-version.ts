import {BoundedMap} from '../bounded-map.js';
import {draft} from '../change.js';
import {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {printable} from '../printable.js';
import type {Session} from '../protocol/session.js';
import type {Direction} from '../protocol/step.js';
import {type Kind, Translator} from '../protocol/translate.js';
import {type Answer, perMessage, type Stage} from '../stage.js';

export type TranslateVersionOptions = {readonly session: Session; readonly log: Log};

/** Requests of either side whose answers may have to be translated. */
const MAX_ASKED = 65_536;

const opposite = {toUpstream: 'toClient', toClient: 'toUpstream'} as const;

/** Lets each side hear messages of its own version. Messages that need no change pass as the bytes that they are. */
export function translateVersion({session, log}: TranslateVersionOptions): Stage {
	let current: {readonly pair: string; readonly translator: Translator} | undefined;
	/** The methods of requests, by the direction that they went and by their ids. */
	const asked = {
		toUpstream: new BoundedMap<string, string>(MAX_ASKED),
		toClient: new BoundedMap<string, string>(MAX_ASKED),
	};
	const translator = (): Translator | undefined => {
		const {clientFace: client, upstreamFace: upstream, clientCapabilities} = session;
		if (client === undefined || upstream === undefined) return;
		const isStrict = session.options.isStrict ?? false;
		if (client === upstream && !isStrict) return;
		if (current?.pair !== `${client} ${upstream}`) {
			const onLoss = (feature: string): void => tellOfLoss(session, log, feature);
			const options = {client, upstream, isStrict, clientCapabilities, onLoss};
			current = {pair: `${client} ${upstream}`, translator: new Translator(options)};
		}
		return current.translator;
	};
	const step = (envelope: Envelope, direction: Direction, answer: Answer): Envelope | undefined => {
		const {key, method, hasError} = envelope.head;
		if (key !== undefined && method !== undefined) asked[direction].set(key, method);
		const kind = kindOf(envelope);
		const about = method ?? (key === undefined ? '' : asked[opposite[direction]].take(key));
		const rules = translator();
		if (!rules || about === undefined) return envelope;
		if (!rules.concerns(direction, kind, about)) return envelope;
		if (!rules.mayChange(direction, kind, about, envelope.line)) return envelope;
		const open = draft(envelope);
		const outcome = rules.translate(direction, kind, about, open.body, idOf(envelope));
		if (!outcome) return envelope;
		if (outcome.back) answer(backTo(envelope, outcome.back));
		if (outcome.on) return open.with(outcome.on);
		if (hasError) log.warn('rpc.error.dropped', `An error without an id was not passed on.`, {error: open.body.error});
		return;
	};
	return perMessage({
		toUpstream: (envelope, answer) => step(envelope, 'toUpstream', answer),
		toClient: (envelope, answer) => step(envelope, 'toClient', answer),
	});
}

function kindOf({head: {key, method, hasError}}: Envelope): Kind {
	if (method !== undefined) return key === undefined ? 'notification' : 'request';
	return hasError ? 'error' : 'result';
}

/** The id as rules show it: a text without its quotes. */
const idOf = ({head: {id = ''}}: Envelope): string => (id.startsWith('"') ? String(JSON.parse(id)) : id);

const backTo = ({head: {id = 'null'}, origin}: Envelope, {result, error}: {[key: string]: unknown}): Envelope =>
	error === undefined
		? Envelope.answer(id, 'result', result, origin)
		: Envelope.answer(id, 'error', error, origin);

/** Counts what could not be carried, and tells people the first time. */
function tellOfLoss({losses, options: {upstream}, client, upstream: version}: Session, log: Log, feature: string): void {
	const count = losses.get(feature) ?? 0;
	losses.set(feature, count + 1);
	if (count > 0) return;
	const sentence = `${printable(feature)}: ${upstream} speaks ${version}, the client ${client}, and one of them does not have this; what could be carried was.`;
	log.warn('proxy.feature.lost', sentence, {server: upstream, feature, version, clientVersion: client});
}
