import type {Stage} from '../lib/core/stage.js';
import {type WrapPipelineOptions, wrapStages} from './wrap.js';

type AtmToolsPipelineOptions = Pick<
	WrapPipelineOptions,
	'log' | 'trace' | 'taps' | 'pending' | 'clientVersion'
>;

/**
 * The stages between an agent and its mail, an endpoint in this process whose calls have their own limits.
 */
export const atmToolsStages = (options: AtmToolsPipelineOptions): Stage[] =>
	wrapStages({...options, upstream: 'atm-tools', transport: 'atm-tools', timeoutMs: 0});
