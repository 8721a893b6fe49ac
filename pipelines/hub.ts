import {HUB} from '../lib/protocol/report.js';
import type {HandshakeVersion} from '../lib/protocol/version.js';
import type {Stage} from '../lib/stage.js';
import {type WrapOptions, wrap} from './wrap.js';

export type HubPipelineOptions = Pick<WrapOptions, 'log' | 'trace' | 'taps' | 'waiting' | 'maxBytes'> & {
	readonly clientVersion: HandshakeVersion | undefined;
};

/**
 * A client in front of all servers as one, which is an endpoint in this process. Behind it, each server has the pipeline
 * of the gateway, with the hub for its client; so nothing here has a time limit: the servers' own hold.
 */
export const hub = (options: HubPipelineOptions): Stage[] =>
	wrap({...options, upstream: 'hub', transport: HUB, timeoutMs: 0});
