import {NEVER} from 'rxjs';
import {BridgeError} from '../lib/errors.js';
import {MODERN} from '../lib/protocol/version.js';
import {connect} from '../lib/stage.js';
import {ownStdio} from '../lib/transports/own-stdio.js';
import {filter} from '../pipelines/filter.js';
import type {Flags} from './flags.js';
import {checkLog, failed, observers} from './observers.js';
import type {Stop} from './signals.js';

/** `… | bridge`: what one side said, from stdin to stdout. */
export async function runFilter(flags: Flags, stop: Stop): Promise<number> {
	if (flags.timeoutMs !== undefined)
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			'--timeout has no meaning in a filter: there is no way back for an answer.',
			'Leave it out, or wrap the server: bridge --timeout SECONDS -- COMMAND.',
		);
	if (flags.cacheTools)
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			'--cache-tools has no meaning in a filter: there is no server to ask, and no way back for an answer.',
			'Leave it out, or wrap the server: bridge --cache-tools -- COMMAND.',
		);
	if (Object.keys(flags.env).length > 0)
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			'--env has no meaning in a filter: no server is started.',
			'Leave it out, or wrap the server: bridge --env NAME=VALUE -- COMMAND.',
		);
	if (flags.targetVersion === MODERN)
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			`--target-version ${MODERN} has no meaning in a filter: that version has no initialize to rewrite.`,
			'Leave it out, or wrap the server: bridge --target-version VERSION -- COMMAND.',
		);
	await checkLog(flags);
	const {log, trace, taps: tapsFor, close} = observers(flags);
	const stdio = ownStdio({name: 'stdin'});
	const taps = tapsFor('stdin', 'stdout');
	const nobody = {next: () => {}, error: () => {}, complete: () => {}};
	const {outgoing} = stdio;
	const passed = new Promise<void>(resolve => {
		const end = {error: () => resolve(), complete: () => resolve()};
		const output = {next: outgoing.next.bind(outgoing), ...end};
		const {clientVersion, targetVersion} = flags;
		connect({...stdio, outgoing: nobody}, filter({log, trace, taps, clientVersion, targetVersion}), {
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
