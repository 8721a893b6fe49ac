import {bridgeInfo} from '../bridge-version.js';
import {BridgeError} from '../core/errors.js';
import type {Endpoint} from '../core/stage.js';
import {SERVER_INFO, withRequestMeta} from '../protocol/v2026-07-28.js';
import {handshakeVersions, isHandshakeVersion, STATELESS, type Version} from '../protocol/version.js';
import {isBridgeError, type JsonObject, listOf, objectOf} from '../util/json.js';
import {RpcClient} from './rpc-client.js';

export type VersionProbe = {
	readonly requested: Version;
	readonly reported?: string;
	readonly result?: JsonObject;
	readonly reason?: string;
	/** Whether the reason is an error of bridge, whose text includes a remedy. */
	readonly hasRemedy?: boolean;
};

export type UpstreamCatalog = {
	readonly tools: readonly unknown[];
	readonly prompts: readonly unknown[];
	readonly resources: readonly unknown[];
	readonly templates: readonly unknown[];
};

/** Requests each version on a separate connection, so that no result depends on an earlier request. */
export const probeVersions = (start: () => Endpoint, timeoutMs: number): Promise<VersionProbe[]> =>
	Promise.all(
		[...handshakeVersions, STATELESS].map(version => probeVersion(start(), version as Version, timeoutMs)),
	);

async function probeVersion(
	upstream: Endpoint,
	requested: Version,
	timeoutMs: number,
): Promise<VersionProbe> {
	const client = new RpcClient(upstream, timeoutMs);
	try {
		const {result, error} = await (requested === STATELESS
			? discover(client)
			: initialize(client, requested));
		if (error !== undefined)
			return {requested, reason: String(objectOf(error).message), hasRemedy: isBridgeError(error)};
		return {requested, reported: reportedVersion(objectOf(result), requested), result: objectOf(result)};
	} catch (error) {
		// A command that cannot be run fails for all versions.
		if (error instanceof BridgeError && error.code === 'ERR_COMMAND_UNUSABLE') throw error;
		return {requested, reason: error instanceof Error ? error.message : String(error)};
	} finally {
		await upstream.close();
	}
}

const reportedVersion = ({supportedVersions, protocolVersion}: JsonObject, requested: Version): string =>
	requested === STATELESS && listOf(supportedVersions).includes(STATELESS)
		? STATELESS
		: String(protocolVersion ?? 'no version');

const initialize = (client: RpcClient, protocolVersion: string) =>
	client.request('initialize', {protocolVersion, capabilities: {}, clientInfo: bridgeInfo});

const discover = (client: RpcClient) =>
	client.request('server/discover', withRequestMeta({}, {info: bridgeInfo, capabilities: {}}));

/** Lists what an upstream offers to clients of this version. */
export async function fetchCatalog(
	upstream: Endpoint,
	version: Version,
	timeoutMs: number,
): Promise<UpstreamCatalog> {
	const client = new RpcClient(upstream, timeoutMs);
	try {
		const params = version === STATELESS ? withRequestMeta({}, {info: bridgeInfo, capabilities: {}}) : {};
		if (isHandshakeVersion(version)) {
			await initialize(client, version);
			client.notify('notifications/initialized');
		}
		return {
			tools: await client.listAll('tools/list', 'tools', params),
			prompts: await client.listAll('prompts/list', 'prompts', params),
			resources: await client.listAll('resources/list', 'resources', params),
			templates: await client.listAll('resources/templates/list', 'resourceTemplates', params),
		};
	} finally {
		await upstream.close();
	}
}

/** Returns the `serverInfo` of a result. Stateless upstreams send it in `_meta`. */
export const serverInfoOf = (result: JsonObject): JsonObject =>
	objectOf(result.serverInfo ?? objectOf(result._meta)[SERVER_INFO]);
