import {performance} from 'node:perf_hooks';
import type {Subscription} from 'rxjs';
import {bridgeInfo} from '../../bridge-version.js';
import {bypassWhen} from '../../core/bypass.js';
import {Channel} from '../../core/channel.js';
import {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {type Log, logBug} from '../../core/log.js';
import {connect, type Endpoint, perMessage, type Stage} from '../../core/stage.js';
import {parse} from '../../operators/parse.js';
import {rewriteVersion} from '../../operators/rewrite-version.js';
import {statelessUpstream} from '../../operators/stateless-upstream.js';
import {initializeError} from '../../protocol/initialize-error.js';
import {type ClientDescription, Negotiation, needsOnlyTranslation} from '../../protocol/negotiation.js';
import {NEWEST_HANDSHAKE, type Version} from '../../protocol/version.js';
import {toText} from '../../util/json.js';
import {memberText} from '../../wire/member.js';

type SharedConnectionOptions = {
	readonly name: string;
	readonly log: Log;
	readonly open: () => Endpoint;
	readonly targetVersion?: Version | undefined;
	/** Timeout of one handshake attempt. */
	readonly timeoutMs?: number | undefined;
	readonly timeoutSetting?: string | undefined;
	/**
	 * Called after the handshake, with the upstream's own result of `initialize`, its version and the duration.
	 */
	readonly onReady: (result: string, version: Version, durationMs: number) => void;
	readonly clientOf: (key: string) => ClientDescription | undefined;
	readonly onMessage: (envelope: Envelope) => void;
	/** Called once, as the last callback: the connection was closed or could not be opened. */
	readonly onClosed: (error: BridgeError) => void;
};

/** The capabilities of any client. Each server request is checked against the client that gets it. */
const capabilities = {roots: {listChanged: true}, sampling: {}, elicitation: {form: {}, url: {}}};
const INITIALIZE_KEY = '"bridge-initialize"';

/** One connection to a shared upstream. bridge initializes it once, for all clients. */
export class SharedConnection {
	readonly #options: SharedConnectionOptions;
	readonly #negotiation: Negotiation;
	readonly #outgoing = new Channel();
	#upstream: Endpoint | undefined;
	#subscription: Subscription | undefined;
	/** The upstream's own result of `initialize`. */
	#result: string | undefined;
	readonly #startedAt = performance.now();
	#isClosed = false;

	constructor(options: SharedConnectionOptions) {
		const {name: upstream, targetVersion} = options;
		this.#options = options;
		this.#negotiation = new Negotiation({upstream, targetVersion, isShared: true});
	}

	start(): void {
		const {name, log, open} = this.#options;
		try {
			this.#upstream = open();
		} catch (error) {
			this.#onClosed(error);
			return;
		}
		const bridge: Endpoint = {
			name: 'bridge',
			incoming: this.#outgoing,
			outgoing: {
				next: envelope => this.#onMessage(envelope),
				error: error => this.#onClosed(error),
				complete: () => this.#onClosed(undefined),
			},
			disconnected: new Promise(() => {}),
			close: async () => {},
		};
		this.#negotiation.setClient(NEWEST_HANDSHAKE, {info: bridgeInfo, capabilities});
		this.#subscription = connect(bridge, this.#stages(), this.#upstream, error => logBug(log, error));
		log.info('shared.started', `${name} is started for all of its clients.`, {server: name});
		const params = {protocolVersion: NEWEST_HANDSHAKE, capabilities, clientInfo: bridgeInfo};
		this.send(Envelope.of({jsonrpc: '2.0', id: JSON.parse(INITIALIZE_KEY), method: 'initialize', params}));
	}

	/** Once the versions need no translation, only `parse` remains: it filters invalid messages. */
	#stages(): Stage[] {
		const {log, timeoutMs, timeoutSetting: setting, clientOf} = this.#options;
		const negotiation = this.#negotiation;
		const attempt = timeoutMs === undefined ? {} : {attemptMs: timeoutMs, setting};
		const captureResult = perMessage({toClient: envelope => this.#captureInitializeResult(envelope)});
		return [
			bypassWhen(needsOnlyTranslation(negotiation), [
				rewriteVersion({negotiation, log, ...attempt}),
				captureResult,
				statelessUpstream({negotiation, log, clientOf}),
			]),
			parse({log, from: 'upstream'}),
		];
	}

	/** Captures the upstream's own result. The result for each client is translated from it. */
	#captureInitializeResult(envelope: Envelope): Envelope {
		const {key, hasResult} = envelope.head;
		if (key === INITIALIZE_KEY && hasResult) this.#result = memberText(envelope.bytes, 'result');
		return envelope;
	}

	send(envelope: Envelope): void {
		this.#outgoing.next(envelope);
	}

	/** Closes the connection. No callback is called after that. */
	async close(): Promise<void> {
		this.#isClosed = true;
		await this.#upstream?.close();
		this.#subscription?.unsubscribe();
	}

	#onMessage(envelope: Envelope): void {
		if (this.#isClosed) return;
		const {key, method, hasError} = envelope.head;
		if (this.#negotiation.isReady || method !== undefined || key !== INITIALIZE_KEY)
			this.#options.onMessage(envelope);
		else if (hasError) this.#onInitializeRejected(envelope);
		else this.#onInitialized();
	}

	#onInitialized(): void {
		const {upstreamVersion: upstream = NEWEST_HANDSHAKE} = this.#negotiation;
		this.#negotiation.completeHandshake(true);
		this.send(Envelope.fromText('{"jsonrpc":"2.0","method":"notifications/initialized"}'));
		this.#options.onReady(this.#result ?? '{}', upstream, performance.now() - this.#startedAt);
	}

	#onInitializeRejected({body}: Envelope): void {
		const {name} = this.#options;
		const {message} = initializeError(name, body.error);
		this.#onClosed(new BridgeError('ERR_UPSTREAM_UNREACHABLE', toText(message), ''));
	}

	#onClosed(error: unknown): void {
		if (this.#isClosed) return;
		const {name, log, onClosed} = this.#options;
		if (error !== undefined && !(error instanceof BridgeError)) logBug(log, error);
		this.close().catch(failure => logBug(log, failure));
		onClosed(error instanceof BridgeError ? error : upstreamEndedError(name));
	}
}

const upstreamEndedError = (name: string): BridgeError =>
	new BridgeError('ERR_CHILD_EXITED', `${name} has ended.`, 'Fix the cause, then connect again.');
