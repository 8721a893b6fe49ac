import {NEVER} from 'rxjs';
import {connect} from '../../lib/core/stage.js';
import {handshakeVersions} from '../../lib/protocol/version.js';
import {stdioEndpoint} from '../../lib/transports/stdio/stdio.js';
import {filterStages} from '../../pipelines/filter.js';
import {defineCommand} from '../shared/cli/command.js';
import {choiceFlag, type Options, type OptionValues} from '../shared/cli/option.js';
import {logOptions, versionOptions} from '../shared/cli/options.js';
import {explainWait} from '../shared/explain-wait.js';
import {checkTrafficLog, createObservers, logStdioFailure} from '../shared/observers.js';
import type {StopSignals} from '../shared/stop-signals.js';

const options = {
	...logOptions,
	clientVersion: versionOptions.clientVersion,
	targetVersion: choiceFlag(
		'V',
		handshakeVersions,
		'protocol version that initialize requests: 2024-11-05 to 2025-11-25, as 2026-07-28 has no initialize',
	),
} satisfies Options;

export const command = defineCommand({
	summary: 'validates messages from stdin and writes them to stdout',
	usage: [['… | bridge [flags]']],
	options,
	examples: ['some-server | bridge --log traffic.ndjson | head -1'],
	exitCodes: '0 stdin ended, 1 stdin or stdout failed, 2 invalid arguments',
	run: ({options}, {stop}) => filterStdin(options, stop),
});

/** Forwards messages from stdin to stdout. A pipe has no way back, so requests get no responses. */
async function filterStdin(flags: OptionValues<typeof options>, stop: StopSignals): Promise<number> {
	explainWait('Waiting for messages on stdin, one per line. To wrap a server, write: bridge -- COMMAND');
	await checkTrafficLog(flags);
	const {log, trace, createTaps, close} = createObservers(flags);
	const stdio = stdioEndpoint({name: 'stdin'});
	const taps = createTaps('stdin', 'stdout');
	const discard = {next: () => {}, error: () => {}, complete: () => {}};
	const {outgoing} = stdio;
	const inputEnded = new Promise<void>(resolve => {
		const end = {error: () => resolve(), complete: () => resolve()};
		const output = {next: outgoing.next.bind(outgoing), ...end};
		const {clientVersion, targetVersion} = flags;
		connect({...stdio, outgoing: discard}, filterStages({log, trace, taps, clientVersion, targetVersion}), {
			...stdio,
			incoming: NEVER,
			outgoing: output,
		});
	});
	try {
		await Promise.race([inputEnded, stdio.disconnected, stop.requested]);
		await Promise.race([stdio.close(), stop.forced]);
		taps?.closed('client');
		return logStdioFailure(stdio, log) ? 1 : 0;
	} finally {
		await close();
	}
}
