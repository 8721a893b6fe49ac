import type {JsonObject} from '../../util/json.js';
import type {CodexSession} from './codex-session.js';
import {ToolError} from './tool-error.js';

const RESTART_ADVICE = 'Close and open the connection to bridge serve to restart Codex;';

/** The rejection of all calls after Codex has ended. */
export class CodexExitedError extends ToolError {
	/** What happened to Codex. */
	readonly reason: string;
	/** What Codex wrote to stderr shortly before, if anything. */
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

	/** The same without the stderr of Codex, for callers that have seen it. */
	get withoutStderr(): CodexExitedError {
		return new CodexExitedError(this.reason, '', this.details);
	}
}

/** The rejection of a call whose turn ended with Codex. `partial` is what the agent had said in it. */
export function lostTurnError(exitError: ToolError, session: CodexSession, partialText: string): ToolError {
	const {codexId, identity, threadId} = session;
	const sessionDetails = {codex_id: codexId, identity, thread_id: threadId, partial: partialText};
	const [reason, stderr] =
		exitError instanceof CodexExitedError ? [exitError.reason, exitError.stderr] : [exitError.message, ''];
	const partialNote = partialText === '' ? '' : ` Until then it had said:\n\n${partialText}\n\n`;
	const advice = `${RESTART_ADVICE} codex with codex_id ${codexId} then resumes the session.`;
	const sentences = `${reason} The turn of ${identity} was not completed.${partialNote} ${advice}${stderrNote(stderr)}`;
	return new ToolError('child_dead', sentences, {...sessionDetails, ...exitError.details});
}

const stderrNote = (stderr: string): string => (stderr === '' ? '' : `\nThe end of its stderr: ${stderr}\n`);
