import type {Log} from '../lib/log.js';
import {matchAnswers} from '../lib/operators/match-answers.js';
import {parse} from '../lib/operators/parse.js';
import type {Taps} from '../lib/operators/record.js';
import {timeLimit} from '../lib/operators/time-limit.js';
import {trace} from '../lib/operators/trace.js';
import type {Stage} from '../lib/stage.js';
import {WaitingRequests} from '../lib/waiting-requests.js';

export type WrapOptions = {
	readonly log: Log;
	/** The server's name, for people. */
	readonly upstream: string;
	readonly timeoutMs: number;
	/** Shows each message to people. */
	readonly trace?: Parameters<typeof trace>[0] | undefined;
	/** The traffic log. */
	readonly taps?: Taps | undefined;
};

/** A client in front of one server. Read it down as a request flows, and up as its answer does. */
export function wrap({log, upstream, timeoutMs, trace: show, taps}: WrapOptions): Stage[] {
	const waiting = new WaitingRequests();
	return [
		show ? trace(show) : {}, //                    what passes, for people
		taps?.client ?? {}, //                         what the client says and hears, for the traffic log
		parse({log, from: 'client'}), //               what is no message goes no further
		matchAnswers({log, upstream, waiting}), //     one answer a request, also when the server died
		timeLimit({timeoutMs, upstream, waiting}), //  an error in time, rather than no answer
		parse({log, from: 'upstream'}), //             what is no message goes no further
		taps?.upstream ?? {}, //                       what the server hears and says, where that differs
	];
}
