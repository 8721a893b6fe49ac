import {type Observer, Subject} from 'rxjs';
import type {Expose} from '../config/schema.js';
import {Envelope} from '../envelope.js';
import type {Converse} from '../gateway/conversation.js';
import type {Service} from '../gateway/service.js';
import {type Log, logBug} from '../log.js';
import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import type {Endpoint} from '../stage.js';
import {writeExact} from '../wire/exact-integers.js';
import {ClientRequests, RpcError} from './client-requests.js';
import {FromMembers} from './from-members.js';
import {greetingOf} from './greeting.js';
import {type Handler, listRequests, textIn} from './list-requests.js';
import {LogLevel} from './log-level.js';
import type {Member} from './member.js';
import {Members} from './members.js';
import {MergedLists} from './merged-lists.js';
import type {RunTool} from './run-tool.js';
import type {ProgramContext} from './server-pack.js';
import {packOf, stateOf} from './server-pack.js';
import {asMemberCall, callSpan, endCall, toldCapabilities, traceOf} from './tool-calls.js';
import {ToolListing} from './tool-listing.js';

export type HubSessionOptions = {
	readonly log: Log;
	readonly services: ReadonlyMap<string, Service>;
	readonly converse: Converse;
	readonly startupTimeoutMs: number;
	readonly expose: () => Expose;
	readonly run: RunTool;
	/** Which bridge this is. */
	readonly version: string;
	/** What tells this hub from others. */
	readonly id: string;
	/** The token of the client, for quotas. */
	readonly client: string;
};

/** All servers as one, for one client: it looks like a server of the newest version that shakes hands. */
export class HubSession implements Endpoint {
	readonly name = 'hub';
	readonly incoming = new Subject<Envelope>();
	readonly outgoing: Observer<Envelope>;
	readonly gone: Promise<void>;
	readonly #options: HubSessionOptions;
	readonly #requests: ClientRequests;
	readonly #members: Members;
	readonly #tools: ToolListing;
	readonly #lists: MergedLists;
	readonly #from: FromMembers;
	readonly #handlers: ReadonlyMap<string, Handler>;
	#resolveGone: () => void = () => {};
	#closing: Promise<void> | undefined;
	readonly #level = new LogLevel();

	constructor(options: HubSessionOptions) {
		const {log, services, converse, startupTimeoutMs, expose} = options;
		const say = (envelope: Envelope): void => this.incoming.next(envelope);
		this.#options = options;
		this.#requests = new ClientRequests(say, log);
		this.#members = new Members(services, {
			log,
			converse,
			startupTimeoutMs,
			client: options.client,
			onChange: member => this.#changed(member),
			onMessage: (member, envelope) => this.#from.hear(member, envelope),
		});
		const members = this.#members;
		this.#tools = new ToolListing({members, expose, runTool: () => this.#runTool()});
		this.#lists = new MergedLists(members, log);
		this.#from = new FromMembers({log, say, members, tools: this.#tools, lists: this.#lists, expose});
		this.#handlers = new Map(Object.entries(this.#handlersByName()));
		this.gone = new Promise(resolve => {
			this.#resolveGone = resolve;
		});
		this.outgoing = {
			next: envelope => this.#hear(envelope),
			error: () => void this.close(),
			complete: () => {},
		};
	}

	/** Takes other services on. Those that are the same are not touched. */
	async update(services: ReadonlyMap<string, Service>): Promise<void> {
		await this.#members.update(services);
		this.changed();
	}

	/** There is something else to list, be it of servers or of local packs. */
	changed(): void {
		this.#tools.changed();
		this.#lists.changed();
		this.#from.news.later();
	}

	close(): Promise<void> {
		this.#closing ??= this.#close();
		return this.#closing;
	}

	async #close(): Promise<void> {
		this.#requests.close();
		this.#from.close();
		await this.#members.close();
		this.incoming.complete();
		this.#resolveGone();
	}

	#hear(envelope: Envelope): void {
		const {id, method} = envelope.head;
		try {
			if (method === undefined) this.#from.answered(envelope);
			else if (id === undefined) this.#notified(envelope, method);
			else (this.#handlers.get(method) ?? this.#unknown)(envelope, id);
		} catch (error) {
			if (id !== undefined && method !== undefined)
				this.incoming.next(this.#requests.failure(id, error, envelope.origin));
			else logBug(this.#options.log, error);
		}
	}

	readonly #unknown: Handler = ({head}) => {
		throw new RpcError(-32601, `Method not found: ${head.method}`);
	};

	#handlersByName(): {readonly [method: string]: Handler} {
		const members = this.#members;
		const lists = this.#lists;
		return {
			initialize: (request, id) => this.#initialize(request, id),
			ping: ({origin}, id) => this.incoming.next(Envelope.answer(id, 'result', {}, origin)),
			'tools/list': request => this.#listTools(request),
			'tools/call': request => this.#call(request),
			'logging/setLevel': (request, id) => {
				this.#level.want(textIn(request, 'level'), members.connected);
				this.incoming.next(Envelope.answer(id, 'result', {}, request.origin));
			},
			...(this.#options.expose() === 'run' ? {} : listRequests({members, lists, requests: this.#requests})),
		};
	}

	/** Answered at once, whatever the servers do: some clients wait for a second and no longer. */
	#initialize({body, origin}: Envelope, id: string): void {
		const {clientInfo, capabilities, _meta} = objectOf(body.params);
		const hubs = passedBy(_meta, this.#options.id);
		const {expose, version} = this.#options;
		const greeting = greetingOf({servers: this.#members.names, expose: expose(), version});
		this.incoming.next(Envelope.answer(id, 'result', greeting, origin));
		this.#members.start({info: objectOf(clientInfo), capabilities: toldCapabilities(capabilities)}, hubs);
	}

	#listTools(request: Envelope): void {
		this.#requests.later(request, async () => {
			await this.#options.run.ready;
			await this.#members.settled;
			const text = this.#tools.text();
			this.#from.news.shown = text;
			return text;
		});
	}

	/** A call waits until it is known which tools there are. */
	#call(request: Envelope): void {
		const name = textIn(request, 'name');
		if (name === 'run' && this.#tools.hasRun) {
			this.#callRun(request);
			return;
		}
		this.#requests.route(request, async signal => {
			await this.#members.settled;
			await this.#tools.arrival(name, signal);
			const {member, tool} = this.#tools.find(name);
			const call = callSpan(this.#options.log, member.name, tool.name, traceOf(request.body.params));
			return {
				member,
				request: asMemberCall(request, tool, call.traceContext),
				onAnswer: answer => endCall(call, `${member.name}.${tool.name}`, answer),
			};
		});
	}

	#callRun(request: Envelope): void {
		const {log, run, client} = this.#options;
		const {id: within = ''} = request.head;
		const {params} = request.body;
		const {responseLimits} = run;
		const context: ProgramContext = {log, within, traceContext: traceOf(params), responseLimits};
		const packs = () => this.#members.all.filter(isPack).map(member => packOf(member, context));
		const servers = () => this.#members.all.map(stateOf);
		this.#requests.later(request, async signal => {
			await this.#members.settled;
			return writeExact(await run.call(objectOf(params), {packs, servers, client}, signal));
		});
	}

	#runTool(): string {
		const {log, run} = this.#options;
		const context: ProgramContext = {log, within: '', traceContext: {}, responseLimits: run.responseLimits};
		return run.listed(this.#members.connected.map(member => packOf(member, context)));
	}

	#notified(envelope: Envelope, method: string): void {
		if (method === 'notifications/cancelled') this.#requests.cancel(envelope);
		else if (method === 'notifications/progress') this.#from.progress(envelope);
		else if (method === 'notifications/roots/list_changed')
			for (const {link} of this.#members.connected) link?.tell(envelope);
	}

	#changed(member: Member): void {
		if (member.state === 'connected') this.#level.tell(member);
		else {
			this.#level.left(member);
			this.#from.left(member);
		}
		this.#tools.changed();
		this.#lists.changed();
		this.#from.news.changed(member);
	}
}

/** A chain of hubs longer than this has no end. */
const MAX_HUBS = 8;

/** The hubs that a handshake has come through, with this one. A hub that is its own server would start without end. */
function passedBy(meta: unknown, id: string): JsonObject {
	const hubs = listOf(objectOf(meta)[HUBS]);
	if (hubs.includes(id) || hubs.length >= MAX_HUBS)
		throw new RpcError(-32600, 'This hub is one of its own servers. Take it out of its configuration.');
	return {[HUBS]: [...hubs, id]};
}

const HUBS = 'bridge/hubs';

/** Servers that can be called, and those of which it is to be said why they cannot. */
const isPack = ({state}: Member): boolean => state !== 'disabled';
