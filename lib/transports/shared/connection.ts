import {performance} from 'node:perf_hooks';
import type {Subscription} from 'rxjs';
import {Channel} from '../../channel.js';
import {Envelope} from '../../envelope.js';
import {BridgeError} from '../../errors.js';
import {type Log, logBug} from '../../log.js';
import {modernUpstream} from '../../operators/modern-upstream.js';
import {parse} from '../../operators/parse.js';
import {rewriteVersion} from '../../operators/rewrite-version.js';
import {ownInfo} from '../../own-version.js';
import {worded} from '../../protocol/json.js';
import {notInitialized} from '../../protocol/not-initialized.js';
import {type Introduction, isSettledFor, Session} from '../../protocol/session.js';
import {NEWEST_HANDSHAKE, type Version} from '../../protocol/version.js';
import {connect, type Endpoint, perMessage, type Stage} from '../../stage.js';
import {unless} from '../../unless.js';
import {memberText} from '../../wire/member.js';

export type ConnectionOptions = {
	readonly name: string;
	readonly log: Log;
	/** Makes a fresh connection to the server. */
	readonly open: () => Endpoint;
	readonly targetVersion?: Version | undefined;
	/** How long the server may take for one attempt at the handshake. */
	readonly timeoutMs?: number | undefined;
	readonly timeoutSetting?: string | undefined;
	/** The handshake is done: the result of `initialize`, as the server wrote it, the version that it speaks, and how long it took. */
	readonly onReady: (result: string, version: Version, durationMs: number) => void;
	/** Who asks the request with this key. */
	readonly askedBy: (key: string) => Introduction | undefined;
	readonly onMessage: (envelope: Envelope) => void;
	/** The server is gone, or was never there. Comes last, and only once. */
	readonly onGone: (error: BridgeError) => void;
};

/** All that any client may be able to do. Who can do what is seen to when it is asked for. */
const capabilities = {roots: {listChanged: true}, sampling: {}, elicitation: {form: {}, url: {}}};
const KEY = '"bridge-initialize"';

/** One connection to a server that several clients share. Bridge shakes hands with it, once, in the name of all. */
export class Connection {
	readonly #options: ConnectionOptions;
	readonly #session: Session;
	readonly #said = new Channel();
	#server: Endpoint | undefined;
	#link: Subscription | undefined;
	/** What the server itself has answered to `initialize`. */
	#result: string | undefined;
	readonly #since = performance.now();
	#isOver = false;

	constructor(options: ConnectionOptions) {
		const {name: upstream, targetVersion} = options;
		this.#options = options;
		this.#session = new Session({upstream, targetVersion, isShared: true});
	}

	start(): void {
		const {name, log, open} = this.#options;
		try {
			this.#server = open();
		} catch (error) {
			this.#gone(error);
			return;
		}
		const hub: Endpoint = {
			name: 'bridge',
			incoming: this.#said,
			outgoing: {
				next: envelope => this.#hear(envelope),
				error: error => this.#gone(error),
				complete: () => this.#gone(undefined),
			},
			gone: new Promise(() => {}),
			close: async () => {},
		};
		this.#session.clientBecame(NEWEST_HANDSHAKE, {info: ownInfo, capabilities});
		this.#link = connect(hub, this.#stages(), this.#server, error => logBug(log, error));
		log.info('shared.started', `${name} is started for all of its clients.`, {server: name});
		const params = {protocolVersion: NEWEST_HANDSHAKE, capabilities, clientInfo: ownInfo};
		this.say(Envelope.of({jsonrpc: '2.0', id: JSON.parse(KEY), method: 'initialize', params}));
	}

	/** Where both have shaken hands in a version with a handshake, only what is no message is kept out. */
	#stages(): Stage[] {
		const {log, timeoutMs, timeoutSetting: setting, askedBy} = this.#options;
		const session = this.#session;
		const attempt = timeoutMs === undefined ? {} : {attemptMs: timeoutMs, setting};
		const listen = perMessage({toClient: envelope => this.#overheard(envelope)});
		return [
			unless(isSettledFor(session), [
				rewriteVersion({session, log, ...attempt}),
				listen,
				modernUpstream({session, log, askedBy}),
			]),
			parse({log, from: 'upstream'}),
		];
	}

	/** Each client is told what the server itself says, and has its own version made of it. */
	#overheard(envelope: Envelope): Envelope {
		const {key, hasResult} = envelope.head;
		if (key === KEY && hasResult) this.#result = memberText(envelope.bytes, 'result');
		return envelope;
	}

	say(envelope: Envelope): void {
		this.#said.next(envelope);
	}

	/** Ends the server, or the connection to it. Nothing more is heard of it. */
	async close(): Promise<void> {
		this.#isOver = true;
		await this.#server?.close();
		this.#link?.unsubscribe();
	}

	#hear(envelope: Envelope): void {
		if (this.#isOver) return;
		const {key, method, hasError} = envelope.head;
		if (this.#session.isReady || method !== undefined || key !== KEY) this.#options.onMessage(envelope);
		else if (hasError) this.#refused(envelope);
		else this.#ready();
	}

	#ready(): void {
		const {upstream = NEWEST_HANDSHAKE} = this.#session;
		this.#session.ready(true);
		this.say(Envelope.fromText('{"jsonrpc":"2.0","method":"notifications/initialized"}'));
		this.#options.onReady(this.#result ?? '{}', upstream, performance.now() - this.#since);
	}

	#refused({body}: Envelope): void {
		const {name} = this.#options;
		const {message} = notInitialized(name, body.error);
		this.#gone(new BridgeError('ERR_UPSTREAM_UNREACHABLE', worded(message), ''));
	}

	#gone(error: unknown): void {
		if (this.#isOver) return;
		const {name, log, onGone} = this.#options;
		if (error !== undefined && !(error instanceof BridgeError)) logBug(log, error);
		this.close().catch(failure => logBug(log, failure));
		onGone(error instanceof BridgeError ? error : ended(name));
	}
}

const ended = (name: string): BridgeError =>
	new BridgeError('ERR_CHILD_EXITED', `${name} has ended.`, 'Fix the cause, then connect again.');
