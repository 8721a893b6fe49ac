import {readFileSync} from 'node:fs';

/** Replaced in the bundle, whose users may bundle it into a package with another package.json. */
declare const BRIDGE_VERSION: string | undefined;

const manifest = new URL('../../package.json', import.meta.url);

/** The version of bridge, from package.json. */
export const bridgeVersion: string =
	typeof BRIDGE_VERSION === 'string' ? BRIDGE_VERSION : JSON.parse(readFileSync(manifest, 'utf8')).version;

/** The name and version that bridge sends to upstreams as their client. */
export const bridgeInfo = {name: 'bridge', version: bridgeVersion};
