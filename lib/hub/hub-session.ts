import {type Observer, Subject} from 'rxjs';
import type {ExposeMode} from '../config/schema.js';
import {Envelope} from '../core/envelope.js';
import {type Log, logBug} from '../core/log.js';
import type {Endpoint} from '../core/stage.js';
import type {StartConversation} from '../upstream/conversation.js';
import type {Service} from '../upstream/service.js';
import {type JsonObject, listOf, objectOf} from '../util/json.js';
import {stringifyWithBigInts} from '../wire/bigint-json.js';
import {hubInitializeResult} from './hub-initialize-result.js';
import type {HubUpstream} from './hub-upstream.js';
import {HubUpstreams} from './hub-upstreams.js';
import {MergedLists} from './merged-lists.js';
import {MergedTools} from './merged-tools.js';
import {PendingClientRequests, RpcError} from './pending-client-requests.js';
import {
	type HubRequestHandler,
	resourceAndPromptHandlers,
	stringParam,
} from './resource-and-prompt-handlers.js';
import type {RunTool} from './run-tool.js';
import {
	callSpan,
	endCallSpan,
	forwardedCapabilities,
	toUpstreamCall,
	traceContextOf,
} from './tool-call-spans.js';
import {UpstreamLogLevel} from './upstream-log-level.js';
import {UpstreamMessages} from './upstream-messages.js';
import type {ProgramContext} from './upstream-pack.js';
import {serverState, upstreamPack} from './upstream-pack.js';

type HubSessionOptions = {
	readonly log: Log;
	readonly services: ReadonlyMap<string, Service>;
	readonly startConversation: StartConversation;
	readonly startupTimeoutMs: number;
	readonly expose: () => ExposeMode;
	readonly runTool: RunTool;
	readonly version: string;
	/** Identifies this hub, to detect loops. */
	readonly hubId: string;
	readonly clientToken: string;
};

/** All services as one MCP server, for one client. It speaks the newest handshake version. */
export class HubSession implements Endpoint {
	readonly name = 'hub';
	readonly incoming = new Subject<Envelope>();
	readonly outgoing: Observer<Envelope>;
	readonly disconnected: Promise<void>;
	readonly #options: HubSessionOptions;
	readonly #clientRequests: PendingClientRequests;
	readonly #upstreams: HubUpstreams;
	readonly #mergedTools: MergedTools;
	readonly #mergedLists: MergedLists;
	readonly #upstreamMessages: UpstreamMessages;
	readonly #handlers: ReadonlyMap<string, HubRequestHandler>;
	#resolveDisconnected: () => void = () => {};
	#closed: Promise<void> | undefined;
	readonly #logLevel = new UpstreamLogLevel();

	constructor(options: HubSessionOptions) {
		const {log, services, startConversation, startupTimeoutMs, expose} = options;
		const send = (envelope: Envelope): void => this.incoming.next(envelope);
		this.#options = options;
		this.#clientRequests = new PendingClientRequests(send, log);
		this.#upstreams = new HubUpstreams(services, {
			log,
			startConversation,
			startupTimeoutMs,
			clientToken: options.clientToken,
			onChange: upstream => this.#onUpstreamChange(upstream),
			onMessage: (upstream, envelope) => this.#upstreamMessages.receive(upstream, envelope),
		});
		const upstreams = this.#upstreams;
		this.#mergedTools = new MergedTools({upstreams, expose, runToolJson: () => this.#runToolJson()});
		this.#mergedLists = new MergedLists(upstreams, log);
		this.#upstreamMessages = new UpstreamMessages({
			log,
			send,
			upstreams,
			mergedTools: this.#mergedTools,
			mergedLists: this.#mergedLists,
			expose,
		});
		this.#handlers = new Map(Object.entries(this.#createHandlers()));
		this.disconnected = new Promise(resolve => {
			this.#resolveDisconnected = resolve;
		});
		this.outgoing = {
			next: envelope => this.#receive(envelope),
			error: () => void this.close(),
			complete: () => {},
		};
	}

	/** Replaces the services. Unchanged ones stay connected. */
	async update(services: ReadonlyMap<string, Service>): Promise<void> {
		await this.#upstreams.update(services);
		this.invalidateLists();
	}

	/** Reads all lists again, after a change of upstreams or local packs. */
	invalidateLists(): void {
		this.#mergedTools.invalidate();
		this.#mergedLists.invalidate();
		this.#upstreamMessages.listChanges.schedule();
	}

	close(): Promise<void> {
		this.#closed ??= this.#close();
		return this.#closed;
	}

	async #close(): Promise<void> {
		this.#clientRequests.close();
		this.#upstreamMessages.close();
		await this.#upstreams.close();
		this.incoming.complete();
		this.#resolveDisconnected();
	}

	#receive(envelope: Envelope): void {
		const {id, method} = envelope.head;
		try {
			if (method === undefined) this.#upstreamMessages.receiveResponse(envelope);
			else if (id === undefined) this.#receiveNotification(envelope, method);
			else (this.#handlers.get(method) ?? this.#rejectUnknownMethod)(envelope, id);
		} catch (error) {
			if (id !== undefined && method !== undefined)
				this.incoming.next(this.#clientRequests.errorResponse(id, error, envelope.origin));
			else logBug(this.#options.log, error);
		}
	}

	readonly #rejectUnknownMethod: HubRequestHandler = ({head}) => {
		throw new RpcError(-32601, `Method not found: ${head.method}`);
	};

	#createHandlers(): {readonly [method: string]: HubRequestHandler} {
		const upstreams = this.#upstreams;
		const mergedLists = this.#mergedLists;
		return {
			initialize: (request, id) => this.#initialize(request, id),
			ping: ({origin}, id) => this.incoming.next(Envelope.response(id, 'result', {}, origin)),
			'tools/list': request => this.#listTools(request),
			'tools/call': request => this.#callTool(request),
			'logging/setLevel': (request, id) => {
				this.#logLevel.setLevel(stringParam(request, 'level'), upstreams.connected);
				this.incoming.next(Envelope.response(id, 'result', {}, request.origin));
			},
			...(this.#options.expose() === 'run'
				? {}
				: resourceAndPromptHandlers({upstreams, mergedLists, clientRequests: this.#clientRequests})),
		};
	}

	/** Responds at once, whatever the state of the upstreams: some clients time out after a second. */
	#initialize({body, origin}: Envelope, id: string): void {
		const {clientInfo, capabilities, _meta} = objectOf(body.params);
		const hubs = extendHubChain(_meta, this.#options.hubId);
		const {expose, version} = this.#options;
		const result = hubInitializeResult({serverNames: this.#upstreams.names, expose: expose(), version});
		this.incoming.next(Envelope.response(id, 'result', result, origin));
		this.#upstreams.start(
			{info: objectOf(clientInfo), capabilities: forwardedCapabilities(capabilities)},
			hubs,
		);
	}

	#listTools(request: Envelope): void {
		this.#clientRequests.respondAsync(request, async () => {
			await this.#options.runTool.ready;
			await this.#upstreams.settled;
			const text = this.#mergedTools.resultJson();
			this.#upstreamMessages.listChanges.lastToolList = text;
			return text;
		});
	}

	/** Forwards a tool call. It waits until the tools are known. */
	#callTool(request: Envelope): void {
		const name = stringParam(request, 'name');
		if (name === 'run' && this.#mergedTools.hasRunTool) {
			this.#callRunTool(request);
			return;
		}
		this.#clientRequests.forward(request, async signal => {
			await this.#upstreams.settled;
			await this.#mergedTools.waitForTool(name, signal);
			const {upstream, tool} = this.#mergedTools.find(name);
			const span = callSpan(this.#options.log, upstream.name, tool.name, traceContextOf(request.body.params));
			return {
				upstream,
				request: toUpstreamCall(request, tool, span.traceContext),
				onResponse: response => endCallSpan(span, `${upstream.name}.${tool.name}`, response),
			};
		});
	}

	#callRunTool(request: Envelope): void {
		const {log, runTool, clientToken} = this.#options;
		const {id: relatedRequestId = ''} = request.head;
		const {params} = request.body;
		const {responseLimits} = runTool;
		const context: ProgramContext = {
			log,
			relatedRequestId,
			traceContext: traceContextOf(params),
			responseLimits,
		};
		const packs = () =>
			this.#upstreams.all.filter(isEnabled).map(upstream => upstreamPack(upstream, context));
		const servers = () => this.#upstreams.all.map(serverState);
		this.#clientRequests.respondAsync(request, async signal => {
			await this.#upstreams.settled;
			return stringifyWithBigInts(
				await runTool.call(objectOf(params), {packs, servers, clientToken}, signal),
			);
		});
	}

	#runToolJson(): string {
		const {log, runTool} = this.#options;
		const context: ProgramContext = {
			log,
			relatedRequestId: '',
			traceContext: {},
			responseLimits: runTool.responseLimits,
		};
		return runTool.toolJson(this.#upstreams.connected.map(upstream => upstreamPack(upstream, context)));
	}

	#receiveNotification(envelope: Envelope, method: string): void {
		if (method === 'notifications/cancelled') this.#clientRequests.cancel(envelope);
		else if (method === 'notifications/progress') this.#upstreamMessages.receiveProgress(envelope);
		else if (method === 'notifications/roots/list_changed')
			for (const {rpc} of this.#upstreams.connected) rpc?.sendMessage(envelope);
	}

	#onUpstreamChange(upstream: HubUpstream): void {
		if (upstream.state === 'connected') this.#logLevel.sendTo(upstream);
		else {
			this.#logLevel.reset(upstream);
			this.#upstreamMessages.cancelRequestsOf(upstream);
		}
		this.#mergedTools.invalidate();
		this.#mergedLists.invalidate();
		this.#upstreamMessages.listChanges.onUpstreamChange(upstream);
	}
}

/** A longer chain of hubs is rejected as a loop. */
const MAX_HUBS = 8;

/**
 * Returns the hubs that the handshake has passed, including this one. A hub that is its own upstream would
 * otherwise start connections without end.
 */
function extendHubChain(meta: unknown, id: string): JsonObject {
	const hubs = listOf(objectOf(meta)[HUBS_META_KEY]);
	if (hubs.includes(id) || hubs.length >= MAX_HUBS)
		throw new RpcError(-32600, 'This hub is one of its own servers. Remove it from its configuration.');
	return {[HUBS_META_KEY]: [...hubs, id]};
}

const HUBS_META_KEY = 'bridge/hubs';

/** Includes upstreams that are not connected: calls of their tools fail with the reason. */
const isEnabled = ({state}: HubUpstream): boolean => state !== 'disabled';
