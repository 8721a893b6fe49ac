import {performance} from 'node:perf_hooks';
import {setTimeout as sleep} from 'node:timers/promises';
import {Channel} from '../core/channel.js';
import {type Body, Envelope, type MessageOrigin} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import type {Endpoint} from '../core/stage.js';
import {Valve} from '../core/valve.js';
import type {RecordedMessage} from '../traffic-log/log-contents.js';
import {type ComparisonRules, findDifferences} from './compare.js';
import {ConditionWaiter} from './condition-waiter.js';
import {IdMap} from './id-map.js';
import {pairResponses} from './message-sides.js';
import {messageTitle, type ReplayOutcome} from './outcome.js';
import {RecordedServerRequests} from './recorded-server-requests.js';
import type {Recording} from './recording.js';
import {fillSecrets, type SecretValue} from './secret-values.js';

export type ReplayTiming = 'recorded' | 'fast';

type ClientPlayerOptions = {
	readonly recording: Recording;
	readonly messages: readonly RecordedMessage[];
	readonly rules: ComparisonRules;
	readonly timing: ReplayTiming;
	/** Timeout of a response; 0 for none. */
	readonly timeoutMs: number;
	readonly secretValues: readonly SecretValue[];
	readonly onOutcome: (outcome: ReplayOutcome) => void;
	/** Called after each message with the number of messages that are done. */
	readonly onStep: (done: number) => void;
};

type PendingRequest = {
	readonly request: RecordedMessage;
	readonly expectedResponse: RecordedMessage | undefined;
	readonly sentAt: number;
};

/** How long an idle server may take to send a recorded server request. */
const SERVER_REQUEST_TIMEOUT_MS = 5000;
/**
 * The same for a notification, and for a server request during a call that has ended earlier than recorded.
 */
const NOTIFICATION_TIMEOUT_MS = 1000;

/** Plays a recorded client to a live server, and compares the server's messages with the recorded ones. */
export class ClientPlayer implements Endpoint {
	readonly name = 'client';
	readonly incoming = new Channel();
	readonly outgoing;
	readonly disconnected = new Promise<void>(() => {});
	readonly #options: ClientPlayerOptions;
	readonly #origin: MessageOrigin = {name: 'client', valve: new Valve()};
	readonly #pairs: ReadonlyMap<RecordedMessage, RecordedMessage>;
	readonly #serverRequests: RecordedServerRequests;
	readonly #idMap = new IdMap();
	readonly #pending = new Map<string, PendingRequest>();
	readonly #notificationCounts = new Map<string, {recorded: number; live: number}>();
	/** Kinds of messages that have timed out. Later ones of the same kind are not waited for. */
	readonly #timedOutKinds = new Set<string>();
	/** Requests without a response at this point of the recording. */
	readonly #openInRecording = new Set<RecordedMessage>();
	readonly #waiter = new ConditionWaiter();
	#closeReason: string | undefined;
	#startedAt = 0;

	constructor(options: ClientPlayerOptions) {
		this.#options = options;
		this.#pairs = pairResponses(options.messages);
		const [idMap, pairs, origin] = [this.#idMap, this.#pairs, this.#origin];
		this.#serverRequests = new RecordedServerRequests({...options, idMap, pairs, origin});
		this.outgoing = {
			next: (envelope: Envelope): void => this.#onMessage(envelope),
			error: (error: unknown): void => this.#onClosed(describeCause(error)),
			complete: (): void => this.#onClosed('The connection was closed.'),
		};
	}

	/** Why the server disconnected before the end of the recording. */
	get failure(): string | undefined {
		return this.#closeReason;
	}

	/** Plays all messages. Resolves after the last response, or when no more messages are expected. */
	async play(): Promise<void> {
		const {messages, onStep} = this.#options;
		this.#startedAt = performance.now();
		for (const [at, message] of messages.entries()) {
			if (this.#waiter.isClosed) await this.#reportMissed(message);
			else if (message.from === 'server') await this.#awaitRecorded(message);
			else if (message.kind !== 'response') await this.#send(message);
			onStep(at + 1);
		}
		for (const serverRequest of this.#waiter.isClosed ? [] : this.#serverRequests.unmatched())
			this.#reportFailed(serverRequest, 'The server did not send this request.', performance.now());
		this.#compareNotificationCounts();
	}

	async close(): Promise<void> {
		this.incoming.complete();
	}

	async #send(message: RecordedMessage): Promise<void> {
		const {recording, timing, messages, secretValues} = this.#options;
		if (timing === 'recorded') {
			const dueMs = this.#startedAt + (message.time - (messages[0]?.time ?? 0)) / 1000;
			await sleep(Math.max(0, dueMs - performance.now()));
		}
		await new Promise<void>(resolve => this.#origin.valve.whenOpen(resolve));
		if (message.kind === 'request') {
			const expectedResponse = this.#pairs.get(message);
			this.#pending.set(message.key ?? '', {request: message, expectedResponse, sentAt: performance.now()});
			if (expectedResponse) this.#openInRecording.add(message);
		}
		const line = this.#idMap.apply(fillSecrets(recording.line(message), secretValues));
		this.incoming.next(Envelope.received(line, this.#origin));
	}

	/** Waits for the next recorded message of the server, so that the order stays as recorded. */
	async #awaitRecorded(message: RecordedMessage): Promise<void> {
		if (message.kind === 'response') await this.#awaitResponse(message);
		else if (message.kind === 'request') await this.#awaitServerRequest(message);
		else await this.#awaitNotification(message.method ?? '');
	}

	async #awaitResponse(response: RecordedMessage): Promise<void> {
		const {timeoutMs} = this.#options;
		const request = this.#pairs.get(response);
		const pending = this.#pending.get(request?.key ?? '');
		if (request) this.#openInRecording.delete(request);
		if (!pending || pending.request !== request) return;
		const hasResponse = (): boolean => this.#pending.get(request.key ?? '') !== pending;
		const elapsedMs = performance.now() - pending.sentAt;
		await this.#waiter.waitUntil(hasResponse, timeoutMs && Math.max(1, timeoutMs - elapsedMs));
		if (hasResponse()) return;
		this.#pending.delete(request.key ?? '');
		const failure = this.#waiter.isClosed
			? `No response. ${this.#closeReason}`
			: `No response within ${timeoutMs / 1000} s.`;
		this.#reportFailed(request, failure, pending.sentAt);
	}

	/** Waits for a server request, which may still arrive later. Missing ones are reported at the end. */
	async #awaitServerRequest(serverRequest: RecordedMessage): Promise<void> {
		const isReceived = (): boolean => this.#serverRequests.isMatched(serverRequest);
		const isIdle = (): boolean => ![...this.#pending.values()].some(({expectedResponse}) => expectedResponse);
		await this.#waiter.waitUntil(() => isReceived() || isIdle(), this.#options.timeoutMs);
		const kind = `request ${serverRequest.method}`;
		if (this.#timedOutKinds.has(kind)) return;
		await this.#waiter.waitUntil(
			isReceived,
			this.#openInRecording.size > 0 ? NOTIFICATION_TIMEOUT_MS : SERVER_REQUEST_TIMEOUT_MS,
		);
		if (!isReceived()) this.#timedOutKinds.add(kind);
	}

	async #awaitNotification(method: string): Promise<void> {
		const counts = this.#notificationCountsOf(method);
		counts.recorded++;
		if (this.#timedOutKinds.has(method)) return;
		await this.#waiter.waitUntil(() => counts.live >= counts.recorded, NOTIFICATION_TIMEOUT_MS);
		if (counts.live < counts.recorded) this.#timedOutKinds.add(method);
	}

	#notificationCountsOf(method: string) {
		const counts = this.#notificationCounts.get(method) ?? {recorded: 0, live: 0};
		this.#notificationCounts.set(method, counts);
		return counts;
	}

	#onMessage(envelope: Envelope): void {
		const {key, method, flaw} = envelope.head;
		if (flaw !== undefined) return;
		if (method === undefined) this.#onResponse(key ?? '', envelope.body);
		else if (key === undefined) this.#notificationCountsOf(method).live++;
		else this.#onServerRequest(envelope);
		this.#waiter.notify();
	}

	#onServerRequest(envelope: Envelope): void {
		const {response, outcome} = this.#serverRequests.respond(envelope);
		this.#options.onOutcome(outcome);
		if (response) this.incoming.next(response);
	}

	#onResponse(key: string, live: Body): void {
		const pending = this.#pending.get(key);
		if (!pending) return;
		this.#pending.delete(key);
		if (!pending.expectedResponse) return;
		const {recording, rules, onOutcome} = this.#options;
		const recorded = comparableResponse(recording.body(pending.expectedResponse));
		const onEquivalent = (recordedText: string, liveText: string): void =>
			this.#idMap.add(recordedText, liveText);
		const found = findDifferences(recorded, comparableResponse(live), rules, {onEquivalent});
		onOutcome({
			title: messageTitle(pending.request, recording),
			status: found.length === 0 ? 'same' : 'different',
			differences: found,
			ms: performance.now() - pending.sentAt,
		});
	}

	#reportFailed(message: RecordedMessage, failure: string, startedAt: number): void {
		const {recording, onOutcome} = this.#options;
		const title = messageTitle(message, recording);
		onOutcome({title, status: 'failed', differences: [], failure, ms: performance.now() - startedAt});
	}

	/** Reports a request that could not be sent because the server has disconnected. */
	async #reportMissed(message: RecordedMessage): Promise<void> {
		const {recording, onOutcome} = this.#options;
		const isResponse = message.kind === 'response' && message.from === 'server';
		const request = isResponse ? this.#pairs.get(message) : undefined;
		if (!request) return;
		const pending = this.#pending.get(request.key ?? '');
		if (pending?.request === request) await this.#awaitResponse(message);
		else onOutcome({title: messageTitle(request, recording), status: 'missed', differences: [], ms: 0});
	}

	/** Compares the numbers of notifications in strict mode only: many notifications depend on time. */
	#compareNotificationCounts(): void {
		const {rules, onOutcome} = this.#options;
		if (!rules.isStrict) return;
		for (const [title, {recorded, live}] of this.#notificationCounts) {
			const failure = `It was sent ${countText(live)}, but ${countText(recorded)} in the recording.`;
			if (live !== recorded) onOutcome({title, status: 'failed', differences: [], failure, ms: 0});
		}
	}

	#onClosed(reason: string): void {
		this.#closeReason ??= reason;
		this.#waiter.close();
	}
}

/** The part of a response that is compared. Its id is arbitrary. */
const comparableResponse = ({result, error}: Body): unknown => (error === undefined ? {result} : {error});

const countText = (count: number): string => (count === 1 ? 'once' : `${count} times`);

const describeCause = (error: unknown): string =>
	error instanceof BridgeError ? error.sentence : (error as Error).message;
