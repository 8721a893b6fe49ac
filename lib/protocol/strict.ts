import {changed, eachObject, isObject, type JsonObject, without} from './json.js';
import type {Context, Rules, Step} from './step.js';

/** Removes from an object what a version brought, or several. */
type Removal = (kind: string) => (object: JsonObject) => JsonObject;

/** Rules that remove all members that these steps brought. For receivers that refuse what they do not know. */
export function strictRules(steps: readonly Step[]): Rules {
	const less: Removal = kind => {
		const names = steps.flatMap(({members}) => members[kind] ?? []);
		return object => without(object, ...names);
	};
	const each = (member: string, remove: (object: JsonObject) => JsonObject) => ({
		apply: (value: JsonObject): JsonObject => changed(value, member, list => eachObject(list, remove)),
	});
	const one = (member: string, remove: (object: JsonObject) => JsonObject) => ({
		apply: (value: JsonObject): JsonObject =>
			changed(value, member, object => (isObject(object) ? remove(object) : object)),
	});
	const annotated = (remove: (object: JsonObject) => JsonObject) => (object: JsonObject) =>
		changed(remove(object), 'annotations', value => (isObject(value) ? less('annotations')(value) : value));
	const content = (block: JsonObject): JsonObject =>
		changed(annotated(less('content'))(block), 'resource', value =>
			isObject(value) ? less('contents')(value) : value,
		);
	/** The content of a message, which may be a list of blocks. */
	const said = (message: JsonObject): JsonObject =>
		changed(message, 'content', blocks => (isObject(blocks) ? content(blocks) : eachObject(blocks, content)));
	const prompt = (object: JsonObject): JsonObject =>
		changed(less('prompt')(object), 'arguments', list => eachObject(list, less('argument')));
	const whole = (remove: (object: JsonObject) => JsonObject) => ({
		apply: (value: JsonObject, _context: Context): JsonObject => remove(value),
	});
	return {
		results: {
			initialize: one('serverInfo', less('implementation')),
			'tools/list': each('tools', less('tool')),
			'tools/call': whole(result => each('content', content).apply(less('toolResult')(result))),
			'resources/list': each('resources', annotated(less('resource'))),
			'resources/templates/list': each('resourceTemplates', annotated(less('template'))),
			'resources/read': each('contents', less('contents')),
			'prompts/list': each('prompts', prompt),
			'prompts/get': each('messages', said),
			'sampling/createMessage': whole(said),
			'roots/list': each('roots', less('root')),
		},
		requests: {
			initialize: one('clientInfo', less('implementation')),
			'sampling/createMessage': each('messages', said),
			'completion/complete': whole(params => one('ref', less('reference')).apply(less('completion')(params))),
		},
		notifications: {
			'notifications/progress': whole(less('progress')),
		},
	};
}
