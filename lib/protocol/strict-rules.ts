import {isObject, type JsonObject, mapMember, mapObjects, without} from '../util/json.js';
import type {RuleContext, TranslationRules, VersionStep} from './translation-rule.js';

/** Removes the members that these steps added to a kind of object. */
type Removal = (kind: string) => (object: JsonObject) => JsonObject;

/** Rules that remove all members that these steps added, for receivers that reject unknown members. */
export function strictRules(steps: readonly VersionStep[]): TranslationRules {
	const stripMembers: Removal = kind => {
		const names = steps.flatMap(({members}) => members[kind] ?? []);
		return object => without(object, ...names);
	};
	const onEachItem = (member: string, remove: (object: JsonObject) => JsonObject) => ({
		apply: (value: JsonObject): JsonObject => mapMember(value, member, list => mapObjects(list, remove)),
	});
	const onMember = (member: string, remove: (object: JsonObject) => JsonObject) => ({
		apply: (value: JsonObject): JsonObject =>
			mapMember(value, member, object => (isObject(object) ? remove(object) : object)),
	});
	const stripAnnotated = (remove: (object: JsonObject) => JsonObject) => (object: JsonObject) =>
		mapMember(remove(object), 'annotations', value =>
			isObject(value) ? stripMembers('annotations')(value) : value,
		);
	const stripContent = (block: JsonObject): JsonObject =>
		mapMember(stripAnnotated(stripMembers('content'))(block), 'resource', value =>
			isObject(value) ? stripMembers('contents')(value) : value,
		);
	/** `content` is one block or a list of blocks. */
	const stripMessage = (message: JsonObject): JsonObject =>
		mapMember(message, 'content', blocks =>
			isObject(blocks) ? stripContent(blocks) : mapObjects(blocks, stripContent),
		);
	const stripPrompt = (object: JsonObject): JsonObject =>
		mapMember(stripMembers('prompt')(object), 'arguments', list =>
			mapObjects(list, stripMembers('argument')),
		);
	const onValue = (remove: (object: JsonObject) => JsonObject) => ({
		apply: (value: JsonObject, _context: RuleContext): JsonObject => remove(value),
	});
	return {
		results: {
			initialize: onMember('serverInfo', stripMembers('implementation')),
			'tools/list': onEachItem('tools', stripMembers('tool')),
			'tools/call': onValue(result =>
				onEachItem('content', stripContent).apply(stripMembers('toolResult')(result)),
			),
			'resources/list': onEachItem('resources', stripAnnotated(stripMembers('resource'))),
			'resources/templates/list': onEachItem('resourceTemplates', stripAnnotated(stripMembers('template'))),
			'resources/read': onEachItem('contents', stripMembers('contents')),
			'prompts/list': onEachItem('prompts', stripPrompt),
			'prompts/get': onEachItem('messages', stripMessage),
			'sampling/createMessage': onValue(stripMessage),
			'roots/list': onEachItem('roots', stripMembers('root')),
		},
		requests: {
			initialize: onMember('clientInfo', stripMembers('implementation')),
			'sampling/createMessage': onEachItem('messages', stripMessage),
			'completion/complete': onValue(params =>
				onMember('ref', stripMembers('reference')).apply(stripMembers('completion')(params)),
			),
		},
		notifications: {
			'notifications/progress': onValue(stripMembers('progress')),
		},
	};
}
