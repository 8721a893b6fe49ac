import type {Stage} from '../lib/stage.js';
import {type WrapOptions, wrap} from './wrap.js';

export type AtmToolsOptions = Pick<WrapOptions, 'log' | 'trace' | 'taps' | 'waiting' | 'clientVersion'>;

/** An agent in front of its mail, which is an endpoint in this process. What is asked there has limits of its own. */
export const atmTools = (options: AtmToolsOptions): Stage[] =>
	wrap({...options, upstream: 'atm-tools', transport: 'atm-tools', timeoutMs: 0});
