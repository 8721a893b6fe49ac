import {Asker} from '../asker.js';
import {BridgeError} from '../errors.js';
import {ownInfo} from '../own-version.js';
import type {Endpoint} from '../stage.js';
import {isOfBridge, type JsonObject, listOf, objectOf} from './json.js';
import {SERVER_INFO, withEnvelope} from './v2026-07-28.js';
import {handshakeVersions, isHandshakeVersion, MODERN, type Version} from './version.js';

/** What a server answers when it is asked to speak a version. */
export type Spoken = {
	readonly asked: Version;
	/** What it answered, if it did. */
	readonly answered?: string;
	readonly result?: JsonObject;
	/** Why it did not. */
	readonly reason?: string;
	/** Whether the reason is an error of bridge, with what to do about it. */
	readonly hasRemedy?: boolean;
};

/** What a server has to offer. */
export type Offer = {
	readonly tools: readonly unknown[];
	readonly prompts: readonly unknown[];
	readonly resources: readonly unknown[];
	readonly templates: readonly unknown[];
};

/** Asks a server of its own for each version, so that no answer depends on what was asked before. */
export const survey = (start: () => Endpoint, timeoutMs: number): Promise<Spoken[]> =>
	Promise.all([...handshakeVersions, MODERN].map(version => askOne(start(), version as Version, timeoutMs)));

async function askOne(server: Endpoint, asked: Version, timeoutMs: number): Promise<Spoken> {
	const asker = new Asker(server, timeoutMs);
	try {
		const {result, error} = await (asked === MODERN ? discover(asker) : initialize(asker, asked));
		if (error !== undefined)
			return {asked, reason: String(objectOf(error).message), hasRemedy: isOfBridge(error)};
		return {asked, answered: answeredVersion(objectOf(result), asked), result: objectOf(result)};
	} catch (error) {
		// A command that cannot be run at all has nothing to do with versions.
		if (error instanceof BridgeError && error.code === 'ERR_COMMAND_UNUSABLE') throw error;
		return {asked, reason: error instanceof Error ? error.message : String(error)};
	} finally {
		await server.close();
	}
}

const answeredVersion = ({supportedVersions, protocolVersion}: JsonObject, asked: Version): string =>
	asked === MODERN && listOf(supportedVersions).includes(MODERN)
		? MODERN
		: String(protocolVersion ?? 'no version');

const initialize = (asker: Asker, protocolVersion: string) =>
	asker.ask('initialize', {protocolVersion, capabilities: {}, clientInfo: ownInfo});

const discover = (asker: Asker) =>
	asker.ask('server/discover', withEnvelope({}, {info: ownInfo, capabilities: {}}));

/** What a server offers to whom speaks this version. */
export async function offerOf(server: Endpoint, version: Version, timeoutMs: number): Promise<Offer> {
	const asker = new Asker(server, timeoutMs);
	try {
		const params = version === MODERN ? withEnvelope({}, {info: ownInfo, capabilities: {}}) : {};
		if (isHandshakeVersion(version)) {
			await initialize(asker, version);
			asker.tell('notifications/initialized');
		}
		return {
			tools: await asker.list('tools/list', 'tools', params),
			prompts: await asker.list('prompts/list', 'prompts', params),
			resources: await asker.list('resources/list', 'resources', params),
			templates: await asker.list('resources/templates/list', 'resourceTemplates', params),
		};
	} finally {
		await server.close();
	}
}

/** Who a server says it is. */
export const identityOf = (result: JsonObject): JsonObject =>
	objectOf(result.serverInfo ?? objectOf(result._meta)[SERVER_INFO]);
