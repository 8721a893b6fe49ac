import type {Version} from './eras.js';

/* The responses of clients to server requests, identical in all versions. */

export const roots = [{uri: 'file:///first', name: 'First'}];

/** The handlers of the server requests that exist in a version, by method. */
export type ServerRequestHandlers = Readonly<Record<string, (params: unknown) => object>>;

const known: Readonly<Record<string, string>> = {
	username: 'ada',
	email: 'ada@example.com',
	name: 'Ada',
	color: 'blue',
};

function member(value: unknown, name: string): unknown {
	return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function firstConst(options: unknown): unknown {
	return Array.isArray(options) ? member(options[0], 'const') : undefined;
}

/** The value for one field of a form: the first option of a list, and only "left" of multiple choices. */
function fieldValue(name: string, schema: unknown): unknown {
	if (known[name] !== undefined) {
		return known[name];
	}

	switch (member(schema, 'type')) {
		case 'boolean':
			return name.includes('left');
		case 'array':
			return [firstConst(member(member(schema, 'items'), 'anyOf'))];
		default:
			return firstConst(member(schema, 'oneOf')) ?? Object(member(schema, 'enum'))[0];
	}
}

function fillForm(params: unknown): object {
	const fields = Object.entries(Object(member(member(params, 'requestedSchema'), 'properties')));
	const content = Object.fromEntries(fields.map(([name, schema]) => [name, fieldValue(name, schema)]));
	return {action: 'accept', content};
}

function sample(params: unknown): object {
	const messages = member(params, 'messages');
	const prompt = member(member(Array.isArray(messages) ? messages[0] : undefined, 'content'), 'text');
	return {role: 'assistant', model: 'none', content: {type: 'text', text: `Said: ${String(prompt)}`}};
}

/** Elicitation exists since 2025-06-18; sampling and roots exist in all versions. */
export function handlersOf(version: Version): ServerRequestHandlers {
	return {
		'roots/list': () => ({roots}),
		'sampling/createMessage': sample,
		...(version >= '2025-06-18' ? {'elicitation/create': fillForm} : {}),
	};
}

/** The capabilities that match these handlers, in the spelling of that version. */
export function capabilitiesOf(version: Version): object {
	const elicitation = version >= '2025-11-25' ? {form: {}} : {};
	return {
		roots: version >= '2026-07-28' ? {} : {listChanged: true},
		sampling: {},
		...(version >= '2025-06-18' ? {elicitation} : {}),
	};
}
