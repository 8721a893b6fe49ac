import {NEVER} from 'rxjs';
import {handshakeVersions} from '../../lib/protocol/version.js';
import {connect} from '../../lib/stage.js';
import {ownStdio} from '../../lib/transports/own-stdio.js';
import {filter} from '../../pipelines/filter.js';
import {defineCommand} from '../cli/command.js';
import {choice, type Options, type Values} from '../cli/option.js';
import {logOptions, versionOptions} from '../cli/options.js';
import {checkLog, failed, observers} from '../common/observers.js';
import {explainWait} from '../common/on-terminal.js';
import type {Stop} from '../common/signals.js';

const options = {
	...logOptions,
	clientVersion: versionOptions.clientVersion,
	targetVersion: choice(
		'V',
		handshakeVersions,
		'protocol version that initialize requests: 2024-11-05 to 2025-11-25, as 2026-07-28 has no initialize',
	),
} satisfies Options;

export const command = defineCommand({
	summary: 'a filter: messages from stdin, checked, to stdout',
	usage: [['… | bridge [flags]']],
	options,
	examples: ['some-server | bridge --log traffic.ndjson | head -1'],
	exitCodes: '0 stdin ended, 1 stdin or stdout failed, 2 wrong arguments',
	run: ({options}, {stop}) => filterStdin(options, stop),
});

/** What one side sent, from stdin to stdout. There is no way back in a pipe, so nothing gets a response. */
async function filterStdin(flags: Values<typeof options>, stop: Stop): Promise<number> {
	explainWait('Waiting for messages on stdin, one per line. To wrap a server, write: bridge -- COMMAND');
	await checkLog(flags);
	const {log, trace, taps: tapsFor, close} = observers(flags);
	const stdio = ownStdio({name: 'stdin'});
	const taps = tapsFor('stdin', 'stdout');
	const discard = {next: () => {}, error: () => {}, complete: () => {}};
	const {outgoing} = stdio;
	const passed = new Promise<void>(resolve => {
		const end = {error: () => resolve(), complete: () => resolve()};
		const output = {next: outgoing.next.bind(outgoing), ...end};
		const {clientVersion, targetVersion} = flags;
		connect({...stdio, outgoing: discard}, filter({log, trace, taps, clientVersion, targetVersion}), {
			...stdio,
			incoming: NEVER,
			outgoing: output,
		});
	});
	try {
		await Promise.race([passed, stdio.gone, stop.asked]);
		await Promise.race([stdio.close(), stop.urged]);
		taps?.closed('client');
		return failed(stdio, log) ? 1 : 0;
	} finally {
		await close();
	}
}
