import {Envelope, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type Log, logBug} from '../log.js';
import {nearest} from '../nearest.js';
import type {JsonObject} from '../protocol/json.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import type {Member} from './member.js';

/** Why a request is refused, as JSON-RPC has it. */
export class RpcError extends Error {
	override readonly name = 'RpcError';
	readonly code: number;

	constructor(code: number, message: string) {
		super(message);
		this.code = code;
	}
}

/** Does what a request asks for. Gives its result as JSON text. */
export type Work = (signal: AbortSignal) => Promise<string>;

/** Where a request goes, as its server is to hear it. */
export type Route = {
	readonly member: Member;
	readonly request: Envelope;
	/** Told of the answer, before the client is. */
	readonly onAnswer?: (answer: Envelope) => void;
};

/** The requests of the hub's client that are under way: each is answered once, unless it is given up. */
export class ClientRequests {
	readonly #say: (envelope: Envelope) => void;
	readonly #log: Log;
	/** What gives each of them up, by its key. There are no more than the client may wait for. */
	readonly #open = new Map<string, (reason: string) => void>();

	constructor(say: (envelope: Envelope) => void, log: Log) {
		this.#say = say;
		this.#log = log;
	}

	/** Answers a request by work that takes time. */
	later({head: {id = 'null', key = ''}, origin}: Envelope, work: Work): void {
		const control = new AbortController();
		this.#open.set(key, reason => control.abort(new DOMException(reason, 'AbortError')));
		work(control.signal).then(
			result => this.#answer(key, control, () => resultText(id, result, origin)),
			error => this.#answer(key, control, () => this.failure(id, error, origin)),
		);
	}

	/** Passes a request on to the server that `find` finds, which may take time, and what that answers back. */
	route(
		{head: {id = 'null', key = ''}, origin}: Envelope,
		find: (signal: AbortSignal) => Promise<Route>,
	): void {
		const control = new AbortController();
		this.#open.set(key, reason => control.abort(new DOMException(reason, 'AbortError')));
		find(control.signal).then(
			route => {
				if (!control.signal.aborted) this.#relay(route);
			},
			error => this.#answer(key, control, () => this.failure(id, error, origin)),
		);
	}

	#relay({request, member, onAnswer}: Route): void {
		const {head, origin} = request;
		const {id = 'null', key = ''} = head;
		const {link} = member;
		const answered = (answer: Envelope): void => {
			this.#open.delete(key);
			onAnswer?.(answer);
			// What a server refuses by an HTTP status is nothing to the client of all of them.
			this.#say(answer.relayed({name: answer.origin.name, valve: answer.origin.valve}, id));
		};
		if (!link || member.state !== 'connected') {
			answered(Envelope.failure(id, unavailable(member), origin));
			return;
		}
		this.#open.set(key, reason => {
			link.cancel(told, reason);
			onAnswer?.(Envelope.failure(id, givenUp(reason)));
		});
		const told = link.send(request, answered, id);
	}

	/** The client gives a request up. */
	cancel(cancellation: Envelope): void {
		const id = memberText(cancellation.bytes, 'params', 'requestId');
		const key = id === undefined ? '' : canonicalId(id);
		const giveUp = this.#open.get(key);
		this.#open.delete(key);
		giveUp?.('the client gave it up');
	}

	/** The client is gone. */
	close(): void {
		const all = [...this.#open.values()];
		this.#open.clear();
		for (const giveUp of all) giveUp('the client has left');
	}

	/** The answer to a request that failed. */
	failure(id: string, error: unknown, origin: Origin): Envelope {
		if (error instanceof BridgeError) return Envelope.failure(id, error, origin);
		if (!(error instanceof RpcError)) logBug(this.#log, error);
		const rpc: JsonObject =
			error instanceof RpcError
				? {code: error.code, message: error.message}
				: {code: -32603, message: 'Internal error: the log of bridge says more'};
		return Envelope.answer(id, 'error', rpc, origin);
	}

	#answer(key: string, {signal}: AbortController, make: () => Envelope): void {
		if (signal.aborted) return;
		this.#open.delete(key);
		this.#say(make());
	}
}

/** An answer with a result that is written already. */
export function resultText(id: string, result: string, origin: Origin): Envelope {
	const envelope = Envelope.fromText(`{"jsonrpc":"2.0","id":${id},"result":${result}}`, origin);
	envelope.isConclusive = true;
	return envelope;
}

/** Why nothing can be asked of a server now. */
export const unavailable = ({name, state, reason}: Member): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		state === 'connecting'
			? `Server '${name}' is still connecting.`
			: `Server '${name}' unavailable: ${state === 'disabled' ? 'it is disabled (enabled: false)' : reason}`.replace(
					/([^.!?…])$/,
					'$1.',
				),
		state === 'disabled' ? 'Enable it in the configuration.' : 'bridge keeps trying to connect.',
		{server: name},
	);

const givenUp = (reason: string): BridgeError =>
	new BridgeError('ERR_REQUEST_CANCELLED', `It was cancelled: ${reason}.`, 'Ask again.');

/** Characters of a name that are shown. */
const MAX_WORD = 200;

/** What is said of a name that nothing has. */
export const unknown = (what: string, name: string, known: readonly string[]): string =>
	`Unknown ${what}: ${name.slice(0, MAX_WORD)}. ${nearest(name, known)}`.trim();
