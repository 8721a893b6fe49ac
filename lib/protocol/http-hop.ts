import {handshakeVersions, isVersion, type Version} from './version.js';

/** Headers of HTTP that belong to one hop: the version that is spoken on it, and the session. */
export type HopHeaders = {readonly [name: string]: string};

/** The headers of a request on its way to an upstream: version and session are those of that hop. */
export function toHop(
	headers: HopHeaders,
	hop: {readonly version?: Version; readonly session?: string},
): HopHeaders {
	const {'mcp-protocol-version': _version, 'mcp-session-id': _session, ...rest} = headers;
	return {
		...rest,
		// None in a handshake, which is about just that.
		...(hop.version === undefined ? {} : {'mcp-protocol-version': hop.version}),
		...(hop.session === undefined ? {} : {'mcp-session-id': hop.session}),
	};
}

/** Why a request with this version is answered with status 400; undefined if it is not. */
export function versionProblem(version: string | undefined): string | undefined {
	if (version === undefined || isVersion(version)) return;
	const supported = handshakeVersions.toReversed().join(', ');
	return `Bad Request: unsupported protocol version ${version} (supported: ${supported})`;
}

/** Whether a client takes an event without data, which only says where its stream can be taken up again. */
export const takesPriming = (version: Version): boolean => version >= '2025-11-25';
