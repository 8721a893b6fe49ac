import {probeCodex} from '../codex/probe.js';
import {BridgeError} from '../errors.js';
import {pause} from '../pause.js';
import {child} from '../transports/child.js';
import {error, type Finding, info, ok} from './finding.js';

const TIMEOUT_MS = 10_000;
const MAX_WORDS = 200;

/** Which Codex would be run, and by which of its interfaces. Without sessions, a missing Codex is not a mistake. */
export async function lookAtCodex(command: string, cwd: string, isUsed: boolean): Promise<Finding[]> {
	try {
		const {program, kind} = await probeCodex({command, cwd});
		return [ok('Codex', `${await versionOf(program, cwd)} by ${kind}: ${program}`)];
	} catch (reason) {
		if (!(reason instanceof BridgeError)) throw reason;
		return [
			isUsed
				? error('Codex', reason.message, reason.remedy)
				: info('Codex', 'not found, which only bridge serve needs'),
		];
	}
}

/** What it says of itself. */
async function versionOf(program: string, cwd: string): Promise<string> {
	let words = '';
	const codex = child({name: 'codex', command: program, args: ['--version'], cwd, onStderr: () => {}});
	codex.incoming.subscribe({
		next: ({line}) => {
			words = (words + line.toString()).slice(0, MAX_WORDS);
		},
		error: () => {},
	});
	codex.outgoing.complete();
	const isOver = await Promise.race([codex.gone.then(() => true), pause(TIMEOUT_MS).then(() => false)]);
	if (!isOver) codex.kill();
	return words.trim() || 'of an unknown version';
}
