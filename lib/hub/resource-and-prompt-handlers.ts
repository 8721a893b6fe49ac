import type {Envelope} from '../core/envelope.js';
import {objectOf} from '../util/json.js';
import {memberRange, memberText} from '../wire/member.js';
import type {HubUpstreams} from './hub-upstreams.js';
import type {MergedListKind, MergedLists} from './merged-lists.js';
import {type PendingClientRequests, RpcError} from './pending-client-requests.js';

export type HubRequestHandler = (request: Envelope, id: string) => void;

type ResourceAndPromptHandlersOptions = {
	readonly upstreams: HubUpstreams;
	readonly mergedLists: MergedLists;
	readonly clientRequests: PendingClientRequests;
};

/**
 * The handlers of requests for resources and prompts, by method. They wait until the upstreams have settled.
 */
export function resourceAndPromptHandlers({
	upstreams,
	mergedLists,
	clientRequests,
}: ResourceAndPromptHandlersOptions): {
	readonly [method: string]: HubRequestHandler;
} {
	const listHandler =
		(kind: MergedListKind): HubRequestHandler =>
		request =>
			clientRequests.respondAsync(request, async signal => {
				await upstreams.settled;
				return mergedLists.resultJson(kind, signal);
			});
	const resourceHandler =
		(...path: readonly string[]): HubRequestHandler =>
		request => {
			const uri = stringParam(request, ...path);
			clientRequests.forward(request, async signal => {
				await upstreams.settled;
				return {upstream: await mergedLists.upstreamOfResource(uri, signal), request};
			});
		};
	/** Replaces the name in the merged list with the upstream's name. */
	const promptHandler =
		(...path: readonly string[]): HubRequestHandler =>
		request => {
			const unifiedName = stringParam(request, ...path);
			clientRequests.forward(request, async signal => {
				await upstreams.settled;
				const {upstream, name} = await mergedLists.findPrompt(unifiedName, signal);
				const range = memberRange(request.bytes, 'params', ...path);
				return {upstream, request: range ? request.withTextAt(range, JSON.stringify(name)) : request};
			});
		};
	const completeHandler: HubRequestHandler = (request, id) => {
		const {type} = objectOf(objectOf(request.body.params).ref);
		if (type === 'ref/prompt') promptHandler('ref', 'name')(request, id);
		else if (type === 'ref/resource') resourceHandler('ref', 'uri')(request, id);
		else throw new RpcError(-32602, 'Invalid params: completion/complete needs a ref');
	};
	return {
		'resources/list': listHandler('resources'),
		'resources/templates/list': listHandler('resourceTemplates'),
		'resources/read': resourceHandler('uri'),
		'resources/subscribe': resourceHandler('uri'),
		'resources/unsubscribe': resourceHandler('uri'),
		'prompts/list': listHandler('prompts'),
		'prompts/get': promptHandler('name'),
		'completion/complete': completeHandler,
	};
}

export function stringParam(request: Envelope, ...path: readonly string[]): string {
	const value: unknown = JSON.parse(memberText(request.bytes, 'params', ...path) ?? 'null');
	if (typeof value === 'string') return value;
	throw new RpcError(-32602, `Invalid params: ${request.head.method} needs ${path.join('.')}`);
}
