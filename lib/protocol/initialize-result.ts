import {isObject, type JsonObject, objectOf} from './json.js';

/** A result of `initialize` that clients accept, and the members that were not valid in the one of the upstream. */
export type Repaired = {readonly result: JsonObject; readonly members: readonly string[]};

/** Members that are reported, and how deep capabilities are looked into: `tasks.requests.tools.call` is the deepest. */
const [MAX_REPORTED, MAX_DEPTH] = [20, 4];

/** Members of capabilities whose values are booleans; those of all others are objects. */
const switches: readonly string[] = ['listChanged', 'subscribe'];

/**
 * Capabilities whose members are objects themselves, at any depth. In the others, unknown members are the business of
 * whoever knows them.
 */
const nested: readonly string[] = ['tasks', 'experimental', 'extensions'];

/** Capabilities that clients validate. Others pass as they are. */
const known: readonly string[] = ['tools', 'resources', 'prompts', 'completions', 'logging', ...nested];

/**
 * Repairs the faults of servers that make clients reject a whole handshake: members that are missing, `null` or of another
 * type. `null` and `false` mean that there is no such member; any other value of another type is an empty object.
 */
export function repairInitialize(given: JsonObject): Repaired {
	const members: string[] = [];
	const note = (member: string): void => void (members.length < MAX_REPORTED && members.push(member));
	const {capabilities, serverInfo, instructions, _meta, ...rest} = given;
	if (!isObject(capabilities)) note('capabilities');
	if (!isObject(serverInfo)) note('serverInfo');
	const isText = typeof instructions === 'string';
	if (!isText && instructions !== undefined) note('instructions');
	if (!isObject(_meta) && _meta !== undefined) note('_meta');
	const result = {
		...rest,
		capabilities: capabilitiesOf(objectOf(capabilities), note),
		serverInfo: isObject(serverInfo) ? infoOf(serverInfo, note) : {name: 'unknown', version: '0'},
		...(isText ? {instructions} : {}),
		...(isObject(_meta) ? {_meta} : {}),
	};
	return {result: members.length === 0 ? given : result, members};
}

type Note = (member: string) => void;

function infoOf(info: JsonObject, note: Note): JsonObject {
	const kept = Object.entries(info).filter(([name, value]) => {
		const isKept = name === 'icons' ? areIcons(value) : !texts.includes(name) || typeof value === 'string';
		if (!isKept || value === null) note(`serverInfo.${name}`);
		return isKept && value !== null;
	});
	const {name, version, ...others} = Object.fromEntries(kept) as JsonObject;
	if (!('name' in info)) note('serverInfo.name');
	if (!('version' in info)) note('serverInfo.version');
	// 1.2 is a number in the configuration of many a server.
	const release = typeof info.version === 'number' ? String(info.version) : '0';
	return {name: name ?? 'unknown', version: version ?? release, ...others};
}

const texts: readonly string[] = ['name', 'version', 'title', 'description', 'websiteUrl'];

const areIcons = (value: unknown): boolean => Array.isArray(value) && value.every(isIcon);

/** Clients reject icons with a member of another type, such as sizes that are one text. */
const isIcon = (icon: unknown): boolean =>
	isObject(icon) &&
	typeof icon.src === 'string' &&
	['string', 'undefined'].includes(typeof icon.mimeType) &&
	[undefined, 'light', 'dark'].some(theme => theme === icon.theme) &&
	(icon.sizes === undefined ||
		(Array.isArray(icon.sizes) && icon.sizes.every(size => typeof size === 'string')));

function capabilitiesOf(capabilities: JsonObject, note: Note): JsonObject {
	const entries = Object.entries(capabilities).flatMap(([name, value]) => {
		const path = `capabilities.${name}`;
		if (!known.includes(name)) return [[name, value]];
		if (value === null || value === false) {
			note(path);
			return [];
		}
		if (!isObject(value)) note(path);
		const members = objectOf(value);
		return [
			[name, nested.includes(name) ? objectsOf(members, path, note, 1) : optionsOf(members, path, note)],
		];
	});
	return Object.fromEntries(entries) as JsonObject;
}

/** What a capability has in it: switches are booleans. Clients do not validate other members. */
function optionsOf(capability: JsonObject, path: string, note: Note): JsonObject {
	const entries = Object.entries(capability).filter(([name, value]) => {
		const isValid = !switches.includes(name) || typeof value === 'boolean';
		if (!isValid) note(`${path}.${name}`);
		return isValid;
	});
	return Object.fromEntries(entries) as JsonObject;
}

/** An object all of whose members are such objects. */
function objectsOf(value: JsonObject, path: string, note: Note, depth: number): JsonObject {
	const isTasks = path.startsWith('capabilities.tasks');
	const entries = Object.entries(value).flatMap(([name, member]) => {
		const at = `${path}.${name}`;
		if (!isObject(member)) note(at);
		if (member === null || member === false) return [];
		const whole = objectOf(member);
		return [[name, isTasks && depth < MAX_DEPTH ? objectsOf(whole, at, note, depth + 1) : whole]];
	});
	return Object.fromEntries(entries) as JsonObject;
}
