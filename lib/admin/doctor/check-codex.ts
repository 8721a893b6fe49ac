import {BridgeError} from '../../core/errors.js';
import {probeCodex} from '../../serve/codex/probe-codex.js';
import {child} from '../../transports/process/child.js';
import {pause} from '../../util/pause.js';
import {type DoctorFinding, errorFinding, infoFinding, okFinding} from './finding.js';

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_LENGTH = 200;

/** Finds the Codex program and its interface. A missing Codex is only an error if sessions are in use. */
export async function checkCodex(command: string, cwd: string, isUsed: boolean): Promise<DoctorFinding[]> {
	try {
		const {program, kind} = await probeCodex({command, cwd});
		return [okFinding('Codex', `${await versionOf(program, cwd)} by ${kind}: ${program}`)];
	} catch (reason) {
		if (!(reason instanceof BridgeError)) throw reason;
		return [
			isUsed
				? errorFinding('Codex', reason.message, reason.remedy)
				: infoFinding('Codex', 'not found, which only bridge serve needs'),
		];
	}
}

async function versionOf(program: string, cwd: string): Promise<string> {
	let output = '';
	const codex = child({name: 'codex', command: program, args: ['--version'], cwd, onStderr: () => {}});
	codex.incoming.subscribe({
		next: ({line}) => {
			output = (output + line.toString()).slice(0, MAX_OUTPUT_LENGTH);
		},
		error: () => {},
	});
	codex.outgoing.complete();
	const hasExited = await Promise.race([
		codex.disconnected.then(() => true),
		pause(TIMEOUT_MS).then(() => false),
	]);
	if (!hasExited) codex.kill();
	return output.trim() || 'of an unknown version';
}
