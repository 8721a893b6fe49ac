import {setTimeout as sleep} from 'node:timers/promises';
import {Channel} from '../channel.js';
import {Envelope, type Origin} from '../envelope.js';
import type {Log} from '../log.js';
import {logBug} from '../log.js';
import type {Endpoint} from '../stage.js';
import type {Recorded} from '../store/recorded.js';
import {Valve} from '../valve.js';
import {canonicalId} from '../wire/id.js';
import {memberRange, memberText} from '../wire/member.js';
import type {Timing} from './client-player.js';
import type {Cue, Step} from './cues.js';
import {type Library, tokenIn} from './library.js';
import {notAnswered, notRecorded} from './not-recorded.js';

export type ServerPlayerOptions = {
	readonly name: string;
	readonly library: Library;
	readonly timing: Timing;
	readonly log: Log;
};

/** How long a client may take to answer what a recorded server asks, before the recording goes on without. */
const QUESTION_MS = 60_000;

/** A cue that is being played to a live client. */
type Play = {
	readonly cue: Cue;
	/** The id of the live request, and the token of its progress, as the texts that they are. */
	readonly id: string | undefined;
	readonly token: string | undefined;
	readonly stop: AbortController;
	/** Questions of the server that the live client has not answered yet. */
	readonly questions: Map<Recorded, Promise<void>>;
};

/** Answers a live client as a recorded server did. It looks like a server to whoever talks to it. */
export class ServerPlayer implements Endpoint {
	readonly name: string;
	readonly incoming = new Channel();
	readonly outgoing;
	readonly gone: Promise<void>;
	readonly #options: ServerPlayerOptions;
	readonly #origin: Origin;
	/** What has been played to this client already. */
	readonly #played = new Set<Cue>();
	/** What is being played, by the id of the live request. */
	readonly #plays = new Map<string, Play>();
	/** Questions to the live client, by the ids that it was told. */
	readonly #questions = new Map<string, () => void>();
	readonly #active = new Set<Play>();
	#isOver = false;
	#tellGone: () => void = () => {};
	#count = 0;
	#last: Cue | undefined;

	constructor(options: ServerPlayerOptions) {
		this.name = options.name;
		this.#options = options;
		this.#origin = {name: options.name, valve: new Valve()};
		this.outgoing = {
			next: (envelope: Envelope): void => this.#hear(envelope),
			error: (): void => void this.close(),
			complete: (): void => {},
		};
		this.gone = new Promise(resolve => {
			this.#tellGone = resolve;
		});
	}

	async close(): Promise<void> {
		this.#isOver = true;
		for (const {stop} of this.#active) stop.abort();
		this.#tellGone();
		this.incoming.complete();
	}

	#hear(envelope: Envelope): void {
		const {key, method, flaw} = envelope.head;
		if (flaw !== undefined) return;
		if (method === undefined) this.#questions.get(key ?? '')?.();
		else if (key !== undefined) this.#asked(envelope, method, key);
		else if (method === 'notifications/cancelled') this.#cancelled(envelope);
		else this.#told(method);
	}

	#asked(envelope: Envelope, method: string, key: string): void {
		const {library} = this.#options;
		const {id = ''} = envelope.head;
		const found = library.find(method, envelope.body.params);
		if (!('same' in found)) {
			const {nearest, differences} = found;
			// A server need not have been asked whether it is there.
			const answer =
				method === 'ping'
					? Envelope.answer(id, 'result', {})
					: Envelope.failure(id, notRecorded({method, library, nearest, differences}), this.#origin);
			this.incoming.next(answer);
			return;
		}
		const cue = this.#choose(found.same);
		if (!cue.isAnswered && !cue.isCancelled) {
			this.incoming.next(Envelope.failure(id, notAnswered(method), this.#origin));
			return;
		}
		this.#begin({cue, id, token: tokenIn(envelope.line)}, key);
	}

	/** The one that was not played yet, in the connection that is being played; else the last of all. */
	#choose(same: readonly Cue[]): Cue {
		const fresh = same.filter(cue => !this.#played.has(cue) && cue.isAnswered);
		const next = fresh.find(({conversation}) => conversation === this.#last?.conversation);
		return next ?? fresh[0] ?? same.findLast(cue => cue.isAnswered) ?? (same[0] as Cue);
	}

	#told(method: string): void {
		const cue = this.#options.library.notifications(method).find(one => !this.#played.has(one));
		if (cue) this.#begin({cue, id: undefined, token: undefined});
	}

	#begin(given: Pick<Play, 'cue' | 'id' | 'token'>, key?: string): void {
		const {cue} = given;
		const isFirst = !this.#played.has(cue);
		const play: Play = {...given, stop: new AbortController(), questions: new Map()};
		this.#played.add(cue);
		this.#last = cue;
		if (key !== undefined) this.#plays.set(key, play);
		const run = async (): Promise<void> => {
			await this.#play(cue.course, play);
			if (key !== undefined && this.#plays.get(key) === play) this.#plays.delete(key);
			if (isFirst) await this.#play(cue.sequel, play);
		};
		this.#active.add(play);
		run()
			.catch(error => {
				if (!play.stop.signal.aborted) logBug(this.#options.log, error);
			})
			.finally(() => this.#active.delete(play));
	}

	async #play(steps: readonly Step[], play: Play): Promise<void> {
		for (const {message, delayMs, after} of steps) {
			await Promise.all(after.map(question => play.questions.get(question)));
			if (this.#options.timing === 'recorded')
				await sleep(delayMs, undefined, {ref: false, signal: play.stop.signal});
			await new Promise<void>(resolve => this.#origin.valve.whenOpen(resolve));
			if (play.stop.signal.aborted || this.#isOver) return;
			this.#say(message, play);
		}
	}

	#say(message: Recorded, play: Play): void {
		const envelope = Envelope.received(this.#options.library.recording.line(message), this.#origin);
		if (message.kind === 'answer') this.incoming.next(envelope.relayed(this.#origin, play.id));
		else if (message.kind === 'request') this.#ask(message, envelope, play);
		else if (message.method !== 'notifications/progress') this.incoming.next(envelope);
		else this.#progress(envelope, play);
	}

	/** Progress is told under the live client's own token, if it wants any. */
	#progress(envelope: Envelope, {token}: Play): void {
		const range = memberRange(envelope.line, 'params', 'progressToken');
		if (token === undefined || !range) return;
		this.incoming.next(Envelope.received(envelope.replaced(range, token).line, this.#origin));
	}

	/** Asks the live client what the recorded one was asked, under an id that nothing else has. */
	#ask(message: Recorded, envelope: Envelope, {questions, stop: {signal}}: Play): void {
		const id = JSON.stringify(`replay-${++this.#count}`);
		let answered = (): void => {};
		const late = sleep(QUESTION_MS, undefined, {ref: false, signal}).catch(() => {});
		const reply = new Promise<void>(resolve => {
			answered = resolve;
		});
		this.#questions.set(canonicalId(id), answered);
		questions.set(
			message,
			Promise.race([reply, late]).then(() => void this.#questions.delete(canonicalId(id))),
		);
		this.incoming.next(envelope.relayed(this.#origin, id));
	}

	#cancelled(envelope: Envelope): void {
		const id = memberText(envelope.line, 'params', 'requestId');
		const key = id === undefined ? '' : canonicalId(id);
		this.#plays.get(key)?.stop.abort();
		this.#plays.delete(key);
	}
}
