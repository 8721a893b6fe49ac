import type {Envelope} from '../envelope.js';
import {objectOf} from '../protocol/json.js';
import {memberRange, memberText} from '../wire/member.js';
import {type ClientRequests, RpcError} from './client-requests.js';
import type {Members} from './members.js';
import type {Kind, MergedLists} from './merged-lists.js';

/** Sees to a request, which has this id. */
export type Handler = (request: Envelope, id: string) => void;

export type ListRequestsOptions = {
	readonly members: Members;
	readonly lists: MergedLists;
	readonly requests: ClientRequests;
};

/** What is done with requests for resources and prompts, by their methods. They wait until it is known which servers are there. */
export function listRequests({members, lists, requests}: ListRequestsOptions): {
	readonly [method: string]: Handler;
} {
	const list =
		(kind: Kind): Handler =>
		request =>
			requests.later(request, async signal => {
				await members.settled;
				return lists.text(kind, signal);
			});
	const ofOwner =
		(...path: readonly string[]): Handler =>
		request => {
			const uri = textIn(request, ...path);
			requests.route(request, async signal => {
				await members.settled;
				return {member: await lists.owner(uri, signal), request};
			});
		};
	/** Under the name that its server knows the prompt by. */
	const ofPrompt =
		(...path: readonly string[]): Handler =>
		request => {
			const given = textIn(request, ...path);
			requests.route(request, async signal => {
				await members.settled;
				const {member, name} = await lists.prompt(given, signal);
				const at = memberRange(request.bytes, 'params', ...path);
				return {member, request: at ? request.replaced(at, JSON.stringify(name)) : request};
			});
		};
	const complete: Handler = (request, id) => {
		const {type} = objectOf(objectOf(request.body.params).ref);
		if (type === 'ref/prompt') ofPrompt('ref', 'name')(request, id);
		else if (type === 'ref/resource') ofOwner('ref', 'uri')(request, id);
		else throw new RpcError(-32602, 'Invalid params: completion/complete needs a ref');
	};
	return {
		'resources/list': list('resources'),
		'resources/templates/list': list('resourceTemplates'),
		'resources/read': ofOwner('uri'),
		'resources/subscribe': ofOwner('uri'),
		'resources/unsubscribe': ofOwner('uri'),
		'prompts/list': list('prompts'),
		'prompts/get': ofPrompt('name'),
		'completion/complete': complete,
	};
}

/** A text in the params of a request, which has to be there. */
export function textIn(request: Envelope, ...path: readonly string[]): string {
	const value: unknown = JSON.parse(memberText(request.bytes, 'params', ...path) ?? 'null');
	if (typeof value === 'string') return value;
	throw new RpcError(-32602, `Invalid params: ${request.head.method} needs ${path.join('.')}`);
}
