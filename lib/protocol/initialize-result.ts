import {isObject, type JsonObject, objectOf} from '../util/json.js';

/** An `initialize` result that clients accept, and the members that were invalid in the original. */
type RepairedInitialize = {readonly result: JsonObject; readonly members: readonly string[]};

/** Limits for reported members, and for depth in capabilities: `tasks.requests.tools.call` is the deepest. */
const [MAX_REPORTED, MAX_DEPTH] = [20, 4];

/** Members of capabilities whose values are booleans. All others are objects. */
const booleanMembers: readonly string[] = ['listChanged', 'subscribe'];

/** Capabilities that contain objects at any depth. Unknown members of the other ones are not validated. */
const nestedCapabilities: readonly string[] = ['tasks', 'experimental', 'extensions'];

/** Capabilities that clients validate. Others are forwarded unchanged. */
const validatedCapabilities: readonly string[] = [
	'tools',
	'resources',
	'prompts',
	'completions',
	'logging',
	...nestedCapabilities,
];

/**
 * Repairs members that are missing, `null` or of the wrong type, which make clients reject the whole
 * handshake. A capability that is `null` or `false` is removed. Other values of the wrong type become empty
 * objects.
 */
export function repairInitialize(original: JsonObject): RepairedInitialize {
	const members: string[] = [];
	const report = (member: string): void => void (members.length < MAX_REPORTED && members.push(member));
	const {capabilities, serverInfo, instructions, _meta, ...rest} = original;
	if (!isObject(capabilities)) report('capabilities');
	if (!isObject(serverInfo)) report('serverInfo');
	const isText = typeof instructions === 'string';
	if (!isText && instructions !== undefined) report('instructions');
	if (!isObject(_meta) && _meta !== undefined) report('_meta');
	const result = {
		...rest,
		capabilities: repairCapabilities(objectOf(capabilities), report),
		serverInfo: isObject(serverInfo) ? repairInfo(serverInfo, report) : {name: 'unknown', version: '0'},
		...(isText ? {instructions} : {}),
		...(isObject(_meta) ? {_meta} : {}),
	};
	return {result: members.length === 0 ? original : result, members};
}

type ReportMember = (member: string) => void;

function repairInfo(info: JsonObject, report: ReportMember): JsonObject {
	const valid = Object.entries(info).filter(([name, value]) => {
		const isValid =
			name === 'icons' ? areIcons(value) : !textMembers.includes(name) || typeof value === 'string';
		if (!isValid || value === null) report(`serverInfo.${name}`);
		return isValid && value !== null;
	});
	const {name, version, ...others} = Object.fromEntries(valid) as JsonObject;
	if (!('name' in info)) report('serverInfo.name');
	if (!('version' in info)) report('serverInfo.version');
	// Some servers send their version as a number, such as 1.2.
	const release = typeof info.version === 'number' ? String(info.version) : '0';
	return {name: name ?? 'unknown', version: version ?? release, ...others};
}

const textMembers: readonly string[] = ['name', 'version', 'title', 'description', 'websiteUrl'];

const areIcons = (value: unknown): boolean => Array.isArray(value) && value.every(isIcon);

/** Clients reject icons with a member of the wrong type, such as `sizes` as one string. */
const isIcon = (icon: unknown): boolean =>
	isObject(icon) &&
	typeof icon.src === 'string' &&
	['string', 'undefined'].includes(typeof icon.mimeType) &&
	[undefined, 'light', 'dark'].some(theme => theme === icon.theme) &&
	(icon.sizes === undefined ||
		(Array.isArray(icon.sizes) && icon.sizes.every(size => typeof size === 'string')));

function repairCapabilities(capabilities: JsonObject, report: ReportMember): JsonObject {
	const entries = Object.entries(capabilities).flatMap(([name, value]) => {
		const path = `capabilities.${name}`;
		if (!validatedCapabilities.includes(name)) return [[name, value]];
		if (value === null || value === false) {
			report(path);
			return [];
		}
		if (!isObject(value)) report(path);
		const members = objectOf(value);
		return [
			[
				name,
				nestedCapabilities.includes(name)
					? repairObjects(members, path, report, 1)
					: repairBooleans(members, path, report),
			],
		];
	});
	return Object.fromEntries(entries) as JsonObject;
}

/** Removes switches that are not booleans. Clients do not validate other members of these capabilities. */
function repairBooleans(capability: JsonObject, path: string, report: ReportMember): JsonObject {
	const entries = Object.entries(capability).filter(([name, value]) => {
		const isValid = !booleanMembers.includes(name) || typeof value === 'boolean';
		if (!isValid) report(`${path}.${name}`);
		return isValid;
	});
	return Object.fromEntries(entries) as JsonObject;
}

/** Repairs an object whose members must be objects. Only `tasks` is validated at greater depth. */
function repairObjects(value: JsonObject, path: string, report: ReportMember, depth: number): JsonObject {
	const isTasks = path.startsWith('capabilities.tasks');
	const entries = Object.entries(value).flatMap(([name, member]) => {
		const at = `${path}.${name}`;
		if (!isObject(member)) report(at);
		if (member === null || member === false) return [];
		const object = objectOf(member);
		return [[name, isTasks && depth < MAX_DEPTH ? repairObjects(object, at, report, depth + 1) : object]];
	});
	return Object.fromEntries(entries) as JsonObject;
}
