import {performance} from 'node:perf_hooks';
import {BackOff} from '../back-off.js';
import {brief} from '../brief.js';
import {Envelope} from '../envelope.js';
import type {BridgeError} from '../errors.js';
import {anonymous} from '../gateway/caller.js';
import {Conversation, type Converse} from '../gateway/conversation.js';
import type {Watch} from '../gateway/seen.js';
import type {Service} from '../gateway/service.js';
import {type Log, logBug} from '../log.js';
import {pause} from '../pause.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import type {Introduction} from '../protocol/session.js';
import {NEWEST_HANDSHAKE} from '../protocol/version.js';
import {messageOf} from '../run/program-error.js';
import type {Span} from '../span.js';
import {connectSpan, reportConnected} from './connect-span.js';
import {causeOf, cutOff, unusable} from './member-errors.js';
import {MemberLink} from './member-link.js';
import {type Listed, readTools} from './member-tools.js';

export type MemberState = 'disabled' | 'connecting' | 'connected' | 'failed';

export type MemberOptions = {
	readonly log: Log;
	readonly converse: Converse;
	/** Who the hub's client is, and what it can do. */
	readonly introduction: Introduction;
	/** What is told beside that. */
	readonly meta: JsonObject;
	/** The token of the hub's client, for quotas. */
	readonly client: string;
	/** It came, went, or has other tools. */
	readonly onChange: (member: Member) => void;
	/** It says something that is no answer. */
	readonly onMessage: (member: Member, envelope: Envelope) => void;
};

/** The least time between two reads of a list that the server has notified a change of: from end to start. */
const LISTS_MS = 1000;

const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** One server of a hub: connected to, and again when it is lost. */
export class Member {
	readonly service: Service;
	readonly name: string;
	/** What it is asked and tells; undefined while there is no conversation with it. */
	link: MemberLink | undefined;
	state: MemberState;
	/** Why it is not connected. */
	reason: string | undefined;
	/** What it said of itself when hands were shaken. */
	greeting: JsonObject = {};
	/** Resolves when it is connected, has failed or is closed, whichever comes first. */
	readonly settled: Promise<void>;
	/** Its tools, as it last listed them: also while it is away, so that who calls one hears why. */
	tools: readonly Listed[] = [];
	readonly #options: MemberOptions;
	#conversation: Conversation | undefined;
	readonly #watch: Watch = {
		onLoss: (error: BridgeError, isRetried: boolean) => this.#lost(error, isRetried),
		onRevived: (result: JsonObject) => this.#back(result),
		onRenewed: (result: JsonObject) => this.#renewed(result),
	};
	#span: Span | undefined;
	#timer: NodeJS.Timeout | undefined;
	readonly #backOff = new BackOff();
	#isOver = false;
	#isListing = false;
	#isStale = false;
	#isLost = false;
	#resolveSettled: () => void = () => {};
	/** When the next list may be read because of a change, by the clock of `performance`. */
	#listsFrom = 0;

	constructor(service: Service, options: MemberOptions) {
		this.service = service;
		this.name = service.config.name;
		this.#options = options;
		this.state = service.config.enabled ? 'connecting' : 'disabled';
		this.settled = new Promise(resolve => {
			this.#resolveSettled = resolve;
		});
		if (this.state === 'disabled') this.#resolveSettled();
	}

	get type(): 'http' | 'stdio' {
		return this.service.config.transport === 'stdio' ? 'stdio' : 'http';
	}

	offers(capability: string): boolean {
		return capability in objectOf(this.greeting.capabilities);
	}

	/** Begins to connect. Whether that succeeds is told by `onChange`. */
	start(): void {
		if (this.state === 'disabled' || this.#isOver) return;
		this.#connect().catch(error => logBug(this.#options.log, error));
	}

	/** Ends the conversation, and what was started for it. */
	async close(): Promise<void> {
		this.#isOver = true;
		this.#resolveSettled();
		clearTimeout(this.#timer);
		await this.#end();
	}

	/** Its list of tools may be another one now. However often that is said, one list at a time is asked for. */
	refresh(): void {
		this.#isStale = true;
		if (this.#isListing || this.state !== 'connected') return;
		void this.#relist();
	}

	async #connect(): Promise<void> {
		const {converse, introduction, meta: _meta, client} = this.#options;
		this.#span ??= connectSpan(this.#options.log, this.service);
		this.#isLost = false;
		const link = new MemberLink({
			server: this.name,
			onMessage: envelope => this.#options.onMessage(this, envelope),
		});
		// Upstreams of the hub get the configured credentials only.
		const caller = {...anonymous, token: client};
		const conversation = new Conversation(this.service, caller, {isMember: true, watch: this.#watch});
		this.link = link;
		this.#conversation = conversation;
		// Who shares a server with others may be cut off from it.
		void link.gone.then(() => {
			if (this.link === link) void this.#failed(cutOff(this.name));
		});
		try {
			conversation.begin(link, converse);
			const {capabilities, info: clientInfo} = introduction;
			const params = {protocolVersion: NEWEST_HANDSHAKE, capabilities, clientInfo, _meta};
			const {result, error} = await link.ask('initialize', params);
			if (error !== undefined) throw unusable(this.name, error);
			this.greeting = objectOf(result);
			link.tell(Envelope.fromText(INITIALIZED));
			this.tools = await this.#list(link);
			if (this.#isOver || this.#isLost || this.link !== link) return;
			this.#connected();
		} catch (error) {
			if (this.link === link) await this.#failed(error);
		}
	}

	#connected(): void {
		this.#backOff.up();
		this.state = 'connected';
		this.#isLost = false;
		this.reason = undefined;
		this.#report(this.#span);
		this.#span = undefined;
		this.#resolveSettled();
		this.#options.onChange(this);
		if (this.#isStale) this.refresh();
	}

	#report(begun: Span | undefined): void {
		const {greeting, tools} = this;
		const session = this.#conversation?.session;
		reportConnected(begun, this.service, {session, greeting, toolCount: tools.length});
	}

	/** The server died, or the connection did. Requests are rejected until it is back. */
	#lost(error: BridgeError, isRetried: boolean): void {
		if (this.#isOver) return;
		this.#isLost = true;
		this.#away(error);
		if (!isRetried) void this.#failed(error);
	}

	/** It had lost the session. */
	#renewed(result: JsonObject): void {
		this.greeting = result;
		if (!this.#isOver) this.#report(connectSpan(this.#options.log, this.service));
	}

	#back(result: JsonObject): void {
		this.greeting = result;
		if (this.#isOver || this.state === 'connected') return;
		this.#isStale = true;
		this.#isLost = false;
		void this.#relist().then(() => {
			if (!this.#isLost && !this.#isOver) this.#connected();
		});
	}

	/** It could not be connected to, and is tried again later: somebody may put right what is wrong. */
	async #failed(error: unknown): Promise<void> {
		if (this.#isOver) return;
		// Who lost it knows better why than who was waiting for an answer then.
		if (!this.#isLost) this.#away(error);
		await this.#end();
		if (this.#isOver) return;
		this.#timer = setTimeout(() => this.start(), this.#backOff.nextMs()).unref();
	}

	#away(error: unknown): void {
		const reason = brief(causeOf(error));
		const isNews = this.reason !== reason;
		this.state = 'failed';
		this.reason = reason;
		const sentence = `${this.name} is not available: ${reason}`;
		const {transport} = this.service.config;
		if (isNews) this.#span?.fail(sentence, error, {toolCount: 0, transport});
		else this.#options.log.debug('hub.unavailable', sentence, {server: this.name});
		this.#span = connectSpan(this.#options.log, this.service);
		this.#resolveSettled();
		this.#options.onChange(this);
	}

	/** Lists once, and then again if something has changed meanwhile, but not all the time. */
	async #relist(): Promise<void> {
		const {link} = this;
		this.#isListing = true;
		try {
			await pause(Math.max(0, this.#listsFrom - performance.now()));
			if (link && this.link === link) this.tools = await this.#list(link);
		} catch (error) {
			const sentence = `${this.name} ${messageOf(error)}; what it listed before is kept.`;
			this.#options.log.warn('hub.tools.failed', sentence, {server: this.name});
		} finally {
			this.#listsFrom = performance.now() + LISTS_MS;
			this.#isListing = false;
		}
		if (this.#isOver) return;
		this.#options.onChange(this);
		if (this.#isStale) this.refresh();
	}

	async #list(link: MemberLink): Promise<readonly Listed[]> {
		this.#isStale = false;
		const {name: server, tools: before} = this;
		return readTools(link, {server, isDeclared: this.offers('tools'), before, log: this.#options.log});
	}

	async #end(): Promise<void> {
		const conversation = this.#conversation;
		const link = this.link;
		this.#conversation = undefined;
		this.link = undefined;
		await conversation?.end();
		await link?.close();
	}
}
