import type {JsonObject} from '../protocol/json.js';
import {Refusal} from './refusal.js';
import type {Session} from './session.js';

const RESTART = 'Close and open the connection to bridge serve to restart Codex;';

/** The rejection of all calls after Codex has ended. */
export class Death extends Refusal {
	/** What happened to Codex. */
	readonly what: string;
	/** What Codex wrote to stderr shortly before, if anything. */
	readonly stderr: string;

	constructor(what: string, stderr: string, facts: JsonObject) {
		super(
			'child_dead',
			`${what} ${RESTART} codex with a codex_id then resumes a session.${quoted(stderr)}`,
			facts,
		);
		this.what = what;
		this.stderr = stderr;
	}

	/** The same without the stderr of Codex, for callers that have seen it. */
	get known(): Death {
		return new Death(this.what, '', this.facts);
	}
}

/** The rejection of a call whose turn ended with Codex. `partial` is what the agent had said in it. */
export function lostTurn(death: Refusal, session: Session, partial: string): Refusal {
	const {codexId, identity, threadId} = session;
	const facts = {codex_id: codexId, identity, thread_id: threadId, partial};
	const [what, stderr] = death instanceof Death ? [death.what, death.stderr] : [death.message, ''];
	const said = partial === '' ? '' : ` Until then it had said:\n\n${partial}\n\n`;
	const resume = `${RESTART} codex with codex_id ${codexId} then resumes the session.`;
	const sentences = `${what} The turn of ${identity} was not completed.${said} ${resume}${quoted(stderr)}`;
	return new Refusal('child_dead', sentences, {...facts, ...death.facts});
}

const quoted = (stderr: string): string => (stderr === '' ? '' : `\nThe end of its stderr: ${stderr}\n`);
