import {performance} from 'node:perf_hooks';
import {setTimeout as sleep} from 'node:timers/promises';
import {Channel} from '../channel.js';
import {type Body, Envelope, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import type {Endpoint} from '../stage.js';
import type {Recorded} from '../store/recorded.js';
import {Valve} from '../valve.js';
import {differences, type Rules} from './compare.js';
import {type Outcome, titleOf} from './outcome.js';
import {Questions} from './questions.js';
import type {Recording} from './recording.js';
import {Renamed} from './renamed.js';
import {type Given, withSecrets} from './secrets.js';
import {answersIn} from './sides.js';
import {Watch} from './watch.js';

export type Timing = 'recorded' | 'fast';

export type ClientPlayerOptions = {
	readonly recording: Recording;
	readonly messages: readonly Recorded[];
	readonly rules: Rules;
	readonly timing: Timing;
	/** How long an answer may take; 0 for any time. */
	readonly timeoutMs: number;
	/** Values for what the log does not tell. */
	readonly given: readonly Given[];
	readonly onOutcome: (outcome: Outcome) => void;
	/** Told after each message, with how many of all are done. */
	readonly onStep: (done: number) => void;
};

type Asked = {readonly request: Recorded; readonly answer: Recorded | undefined; readonly since: number};

/** How long a server may take to ask what it asked when it was recorded, while it has nothing to do. */
const QUESTION_MS = 5000;
/** How long it may take to say what nobody asked for, or to ask something in the course of a call that is over. */
const NOTICE_MS = 1000;

/** Says what a recorded client said, hears what a live server says to it, and compares. */
export class ClientPlayer implements Endpoint {
	readonly name = 'client';
	readonly incoming = new Channel();
	readonly outgoing;
	readonly gone = new Promise<void>(() => {});
	readonly #options: ClientPlayerOptions;
	readonly #origin: Origin = {name: 'client', valve: new Valve()};
	readonly #answers: ReadonlyMap<Recorded, Recorded>;
	readonly #questions: Questions;
	readonly #renamed = new Renamed();
	/** What has no answer yet, by its id. */
	readonly #asked = new Map<string, Asked>();
	readonly #notices = new Map<string, {recorded: number; live: number}>();
	/** Kinds of which something has not come in time. Nobody waits for more of them. */
	readonly #lost = new Set<string>();
	/** What was without an answer at this point of the recording. */
	readonly #underWay = new Set<Recorded>();
	readonly #watch = new Watch();
	#reason: string | undefined;
	#started = 0;

	constructor(options: ClientPlayerOptions) {
		this.#options = options;
		this.#answers = answersIn(options.messages);
		const [renamed, answers, origin] = [this.#renamed, this.#answers, this.#origin];
		this.#questions = new Questions({...options, renamed, answers, origin});
		this.outgoing = {
			next: (envelope: Envelope): void => this.#hear(envelope),
			error: (error: unknown): void => this.#over(reasonOf(error)),
			complete: (): void => this.#over('It has ended.'),
		};
	}

	/** Why the server said no more before all was played. */
	get failure(): string | undefined {
		return this.#reason;
	}

	/** Plays all of it, and resolves when the last answer has come, or nothing more is to be expected. */
	async play(): Promise<void> {
		const {messages, onStep} = this.#options;
		this.#started = performance.now();
		for (const [at, message] of messages.entries()) {
			if (this.#watch.isOver) await this.#miss(message);
			else if (message.from === 'server') await this.#await(message);
			else if (message.kind !== 'answer') await this.#say(message);
			onStep(at + 1);
		}
		for (const question of this.#watch.isOver ? [] : this.#questions.unasked())
			this.#fail(question, 'The server did not ask this.', performance.now());
		this.#tellNotices();
	}

	async close(): Promise<void> {
		this.incoming.complete();
	}

	async #say(message: Recorded): Promise<void> {
		const {recording, timing, messages, given} = this.#options;
		if (timing === 'recorded') {
			const dueMs = this.#started + (message.time - (messages[0]?.time ?? 0)) / 1000;
			await sleep(Math.max(0, dueMs - performance.now()));
		}
		await new Promise<void>(resolve => this.#origin.valve.whenOpen(resolve));
		if (message.kind === 'request') {
			const answer = this.#answers.get(message);
			this.#asked.set(message.key ?? '', {request: message, answer, since: performance.now()});
			if (answer) this.#underWay.add(message);
		}
		const line = this.#renamed.apply(withSecrets(recording.line(message), given));
		this.incoming.next(Envelope.received(line, this.#origin));
	}

	/** Waits for what the server said next when it was recorded, so that the client goes on where it did then. */
	async #await(message: Recorded): Promise<void> {
		if (message.kind === 'answer') await this.#awaitAnswer(message);
		else if (message.kind === 'request') await this.#awaitQuestion(message);
		else await this.#awaitNotice(message.method ?? '');
	}

	async #awaitAnswer(answer: Recorded): Promise<void> {
		const {timeoutMs} = this.#options;
		const request = this.#answers.get(answer);
		const asked = this.#asked.get(request?.key ?? '');
		if (request) this.#underWay.delete(request);
		if (!asked || asked.request !== request) return;
		const isAnswered = (): boolean => this.#asked.get(request.key ?? '') !== asked;
		const elapsedMs = performance.now() - asked.since;
		await this.#watch.until(isAnswered, timeoutMs && Math.max(1, timeoutMs - elapsedMs));
		if (isAnswered()) return;
		this.#asked.delete(request.key ?? '');
		const failure = this.#watch.isOver
			? `No answer came. ${this.#reason}`
			: `No answer came within ${timeoutMs / 1000} s.`;
		this.#fail(request, failure, asked.since);
	}

	/** What does not come in time may come later: it is told of at the end. */
	async #awaitQuestion(question: Recorded): Promise<void> {
		const isAsked = (): boolean => this.#questions.isAsked(question);
		const isIdle = (): boolean => ![...this.#asked.values()].some(({answer}) => answer);
		await this.#watch.until(() => isAsked() || isIdle(), this.#options.timeoutMs);
		const kind = `question ${question.method}`;
		if (this.#lost.has(kind)) return;
		await this.#watch.until(isAsked, this.#underWay.size > 0 ? NOTICE_MS : QUESTION_MS);
		if (!isAsked()) this.#lost.add(kind);
	}

	async #awaitNotice(method: string): Promise<void> {
		const notices = this.#noticesOf(method);
		notices.recorded++;
		if (this.#lost.has(method)) return;
		await this.#watch.until(() => notices.live >= notices.recorded, NOTICE_MS);
		if (notices.live < notices.recorded) this.#lost.add(method);
	}

	#noticesOf(method: string) {
		const notices = this.#notices.get(method) ?? {recorded: 0, live: 0};
		this.#notices.set(method, notices);
		return notices;
	}

	#hear(envelope: Envelope): void {
		const {key, method, flaw} = envelope.head;
		if (flaw !== undefined) return;
		if (method === undefined) this.#answered(key ?? '', envelope.body);
		else if (key === undefined) this.#noticesOf(method).live++;
		else this.#ask(envelope);
		this.#watch.changed();
	}

	#ask(envelope: Envelope): void {
		const {answer, outcome} = this.#questions.ask(envelope);
		this.#options.onOutcome(outcome);
		if (answer) this.incoming.next(answer);
	}

	#answered(key: string, live: Body): void {
		const asked = this.#asked.get(key);
		if (!asked) return;
		this.#asked.delete(key);
		if (!asked.answer) return;
		const {recording, rules, onOutcome} = this.#options;
		const recorded = answerIn(recording.body(asked.answer));
		const onAlike = (was: string, is: string): void => this.#renamed.note(was, is);
		const found = differences(recorded, answerIn(live), rules, {onAlike});
		onOutcome({
			title: titleOf(asked.request, recording),
			status: found.length === 0 ? 'same' : 'different',
			differences: found,
			ms: performance.now() - asked.since,
		});
	}

	#fail(message: Recorded, failure: string, since: number): void {
		const {recording, onOutcome} = this.#options;
		const title = titleOf(message, recording);
		onOutcome({title, status: 'failed', differences: [], failure, ms: performance.now() - since});
	}

	/** What was to be asked of a server that is gone. */
	async #miss(message: Recorded): Promise<void> {
		const {recording, onOutcome} = this.#options;
		const isAnswer = message.kind === 'answer' && message.from === 'server';
		const request = isAnswer ? this.#answers.get(message) : undefined;
		if (!request) return;
		const asked = this.#asked.get(request.key ?? '');
		if (asked?.request === request) await this.#awaitAnswer(message);
		else onOutcome({title: titleOf(request, recording), status: 'missed', differences: [], ms: 0});
	}

	/** Notifications count only for who is strict: many come by the clock. */
	#tellNotices(): void {
		const {rules, onOutcome} = this.#options;
		if (!rules.isStrict) return;
		for (const [title, {recorded, live}] of this.#notices) {
			const failure = `It was said ${times(live)}, and ${times(recorded)} when it was recorded.`;
			if (live !== recorded) onOutcome({title, status: 'failed', differences: [], failure, ms: 0});
		}
	}

	#over(reason: string): void {
		this.#reason ??= reason;
		this.#watch.end();
	}
}

/** What counts of an answer: its id is the conversation's own. */
const answerIn = ({result, error}: Body): unknown => (error === undefined ? {result} : {error});

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

const reasonOf = (error: unknown): string =>
	error instanceof BridgeError ? error.sentence : (error as Error).message;
