import {MAX_WORD} from '../awaited-progress.js';
import {BoundedMap} from '../bounded-map.js';
import {cancellingAs} from '../change.js';
import {Envelope} from '../envelope.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import type {Member} from './member.js';

type Question = {
	readonly member: Member;
	/** The id of the server request, as text, and its key, the same for all spellings of it. */
	readonly id: string;
	readonly key: string;
	/** What the progress of the answer is told under, if it is to be. */
	readonly token: string | undefined;
};

/** Questions of servers that the client has not answered yet; the oldest is forgotten for the next, and its server waits in vain. */
const MAX_QUESTIONS = 1000;

/** What servers ask the client: each under an id of the hub's own, so that two servers' never meet. */
export class Questions {
	readonly #open = new BoundedMap<string, Question>(MAX_QUESTIONS);
	#ids = 0;

	/**
	 * Takes a question in. Returns it as the client is to be asked, in the course of the request that it came with; nothing
	 * for one whose progress token is too long to be kept. A stage before has rejected ids that are.
	 */
	ask(member: Member, envelope: Envelope, within: string | undefined): Envelope | undefined {
		const {id = 'null', key = 'null'} = envelope.head;
		const token = memberText(envelope.bytes, 'params', '_meta', 'progressToken');
		if (token !== undefined && token.length > MAX_WORD) return;
		const told = `"${member.name}-${++this.#ids}"`;
		this.#open.set(told, {member, id, key, token});
		const {name, valve} = envelope.origin;
		return envelope.relayed({name, valve, ...(within === undefined ? {} : {within})}, told);
	}

	/** Gives an answer to who asked. Returns whether anybody did. */
	answer(envelope: Envelope): boolean {
		const question = this.#open.take(envelope.head.key ?? '');
		question?.member.link?.tell(envelope.relayed(envelope.origin, question.id));
		return question !== undefined;
	}

	/** Tells who asked how the client gets on with it. */
	progress(envelope: Envelope): boolean {
		const token = memberText(envelope.bytes, 'params', 'progressToken');
		const asked = [...this.#open.values()].find(question => token !== undefined && question.token === token);
		asked?.member.link?.tell(envelope);
		return asked !== undefined;
	}

	/** The server no longer wants to know. Returns what the client is to be told then. */
	withdraw(member: Member, envelope: Envelope): Envelope | undefined {
		const id = memberText(envelope.bytes, 'params', 'requestId') ?? '""';
		if (id.length > MAX_WORD) return;
		const key = canonicalId(id);
		for (const [told, question] of this.#open) {
			if (question.member !== member || question.key !== key) continue;
			this.#open.delete(told);
			return cancellingAs(envelope, told);
		}
		return;
	}

	/** A server is gone, and with it what it asked. Returns what the client is to be told then. */
	leave(member: Member): Envelope[] {
		const left = [...this.#open].filter(([, question]) => question.member === member);
		return left.map(([told]) => {
			this.#open.delete(told);
			const params = {requestId: JSON.parse(told), reason: `${member.name} is gone`};
			return Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params});
		});
	}
}
