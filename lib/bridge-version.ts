import {readFileSync} from 'node:fs';

/** Defined at build time. Code that embeds the bundle may sit next to another package.json. */
declare const BRIDGE_VERSION: string | undefined;

const manifest = new URL('../../package.json', import.meta.url);

export const bridgeVersion: string =
	typeof BRIDGE_VERSION === 'string' ? BRIDGE_VERSION : JSON.parse(readFileSync(manifest, 'utf8')).version;

/** The `clientInfo` that bridge sends to upstreams. */
export const bridgeInfo = {name: 'bridge', version: bridgeVersion};
