import type {JsonObject} from '../../util/json.js';
import type {CodexSession} from './codex-session.js';
import {ToolError} from './tool-error.js';

const RESTART_ADVICE = 'Reconnect to bridge serve to restart Codex;';

/** The error of all calls after Codex has exited. */
export class CodexExitedError extends ToolError {
	/** How Codex exited. */
	readonly reason: string;
	/** The end of Codex's stderr, or an empty string. */
	readonly stderr: string;

	constructor(reason: string, stderr: string, details: JsonObject) {
		super(
			'child_dead',
			`${reason} ${RESTART_ADVICE} codex with a codex_id then resumes a session.${stderrNote(stderr)}`,
			details,
		);
		this.reason = reason;
		this.stderr = stderr;
	}

	/** The same error without stderr, which only the first caller receives. */
	get withoutStderr(): CodexExitedError {
		return new CodexExitedError(this.reason, '', this.details);
	}
}

/** The error of a turn that Codex's exit interrupted. `partialText` is the agent's output until then. */
export function lostTurnError(exitError: ToolError, session: CodexSession, partialText: string): ToolError {
	const {codexId, identity, threadId} = session;
	const sessionDetails = {codex_id: codexId, identity, thread_id: threadId, partial: partialText};
	const [reason, stderr] =
		exitError instanceof CodexExitedError ? [exitError.reason, exitError.stderr] : [exitError.message, ''];
	const partialNote = partialText === '' ? '' : ` Its output until then:\n\n${partialText}\n\n`;
	const advice = `${RESTART_ADVICE} codex with codex_id ${codexId} then resumes the session.`;
	const sentences = `${reason} The turn of ${identity} was not completed.${partialNote} ${advice}${stderrNote(stderr)}`;
	return new ToolError('child_dead', sentences, {...sessionDetails, ...exitError.details});
}

const stderrNote = (stderr: string): string => (stderr === '' ? '' : `\nThe end of its stderr: ${stderr}\n`);
