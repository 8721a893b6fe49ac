import type {Log} from '../lib/core/log.js';
import type {Stage} from '../lib/core/stage.js';
import {parse} from '../lib/operators/parse.js';
import {
	type RewriteVersionOneWayOptions,
	rewriteVersionOneWay,
} from '../lib/operators/rewrite-version-one-way.js';
import {trace} from '../lib/operators/trace.js';
import type {Taps} from '../lib/traffic-log/record-messages.js';

type FilterPipelineOptions = RewriteVersionOneWayOptions & {
	readonly log: Log;
	/** Shows each message to people. */
	readonly trace?: Parameters<typeof trace>[0] | undefined;
	/** The traffic log. */
	readonly taps?: Taps | undefined;
};

/** What one side said, on its way through a shell's pipe. There is no way back, so nothing is answered. */
export function filterStages({log, trace: traceOptions, taps, ...versions}: FilterPipelineOptions): Stage[] {
	return [
		traceOptions ? trace({...traceOptions, isOneWay: true}) : {}, // what passes, for people
		taps?.client ?? {}, //                           the traffic log
		parse({log, from: 'client', isOneWay: true}), // what is no message goes no further
		rewriteVersionOneWay(versions), //              --client-version and --target-version, as far as they go
	];
}
