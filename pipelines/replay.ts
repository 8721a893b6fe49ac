import type {Log} from '../lib/core/log.js';
import type {Stage} from '../lib/core/stage.js';
import {MESSAGE_LIMIT} from '../lib/operators/frame.js';
import {parse} from '../lib/operators/parse.js';
import {type TraceOptions, trace} from '../lib/operators/trace.js';
import type {Taps} from '../lib/traffic-log/record-messages.js';

type ReplayPipelineOptions = {
	readonly log: Log;
	readonly trace?: TraceOptions | undefined;
	readonly taps?: Taps | undefined;
};

/** The stages of a replay, between the recorded client and a live server. They do not change messages. */
export const replayStages = ({log, trace: traceOptions, taps}: ReplayPipelineOptions): Stage[] => [
	traceOptions ? trace(traceOptions) : {}, // prints each message
	taps?.client ?? {}, // writes the new recording
	parse({log, from: 'upstream', maxBytes: MESSAGE_LIMIT}), // drops invalid messages
	taps?.upstream ?? {}, // records output of the server that is not a message
];
