import {randomBytes} from 'node:crypto';
import {Envelope, local} from '../../envelope.js';
import type {BridgeError} from '../../errors.js';
import type {Log} from '../../log.js';
import {shortened} from '../../printable.js';
import {type JsonObject, objectOf, worded} from '../../protocol/json.js';
import {ProgressTokens} from '../../protocol/progress-tokens.js';
import type {SharedClient} from './client.js';
import {InFlight} from './in-flight.js';
import {Owners} from './kept-names.js';
import {Questions, unanswerable} from './questions.js';
import {Subscriptions} from './subscriptions.js';
import {WantedLevels} from './wanted-levels.js';

export type ExchangeOptions = {
	readonly name: string;
	readonly log: Log;
	/** Says something to the server as it is now. */
	readonly tell: (envelope: Envelope) => void;
};

/** What is under way between a shared server and its clients: who has asked what, wants what, and is to hear what. */
export class Exchange {
	readonly name: string;
	readonly log: Log;
	readonly tell: (envelope: Envelope) => void;
	/** The result of the one `initialize`, as the server wrote it. */
	greeting = '{}';
	readonly clients = new Set<SharedClient>();
	readonly inFlight = new InFlight<SharedClient>();
	readonly questions = new Questions<SharedClient>();
	readonly subscriptions = new Subscriptions<SharedClient>();
	readonly levels = new WantedLevels<SharedClient>();
	/** No client can think of a token that another one's progress comes with. */
	readonly tokens = new ProgressTokens<SharedClient>(`b${randomBytes(6).toString('hex')}-`);
	readonly tasks = new Owners<SharedClient>();
	readonly elicitations = new Owners<SharedClient>();

	constructor({name, log, tell}: ExchangeOptions) {
		this.name = name;
		this.log = log;
		this.tell = tell;
	}

	/** Tells all clients that are ready to hear. */
	tellAll(envelope: Envelope, isMeant: (client: SharedClient) => boolean = () => true): void {
		for (const client of this.clients)
			if (client.isInitialized && isMeant(client)) client.hear(envelope.relayed(client.origin));
	}

	/** Asks the server something that no client waits for. */
	ask(method: string, params: JsonObject, onResult: () => void = () => {}): void {
		const onAnswer = ({head, body}: Envelope): void => {
			if (!head.hasError) onResult();
			else
				this.log.warn('shared.refused', `${this.name} refused ${method}.`, {
					server: this.name,
					reason: shortened(worded(objectOf(body.error).message)),
				});
		};
		const {told} = this.inFlight.add({id: '""', client: undefined, origin: local, method, onAnswer});
		this.tell(Envelope.of({jsonrpc: '2.0', id: Number(told), method, params}));
	}

	/** Gives back all that a client had, when it has left. */
	left(client: SharedClient, isReady: boolean): void {
		this.clients.delete(client);
		const asked = this.inFlight.leave(client);
		for (const {token} of asked) if (token !== undefined) this.tokens.forget(token);
		const questions = this.questions.leave(client);
		const uris = this.subscriptions.leave(client);
		this.levels.unset(client);
		if (!isReady) return;
		for (const {told} of asked) this.tell(cancelled(told, 'The client has left.'));
		for (const {id, method} of questions) this.tell(unanswerable(id, method, 'the client has left'));
		for (const uri of uris) this.ask('resources/unsubscribe', {uri});
		this.tellLevel();
	}

	/** Tells the server of the level that all clients want now, if it knows another. */
	tellLevel(): void {
		const level = this.levels.forAll(this.clients);
		if (level === undefined || level === this.levels.told) return;
		this.ask('logging/setLevel', {level}, () => {
			this.levels.told = level;
		});
	}

	/** The server is gone, with all that it knew. Whoever waits for it is told. */
	serverGone(error: BridgeError): void {
		for (const {id, client, token, onAnswer} of this.inFlight.takeAll()) {
			const answer = Envelope.failure(id, error, client?.origin);
			if (token !== undefined) this.tokens.forget(token);
			if (onAnswer) onAnswer(answer);
			else client?.hear(answer);
		}
		for (const {told, client} of this.questions.takeAll())
			client.hear(cancelled(told, 'The server is gone.').relayed(client.origin));
		this.tasks.clear();
		this.elicitations.clear();
		this.levels.told = undefined;
	}

	/** Another server has taken its place, and is told what the clients want to hear of. */
	serverBack(): void {
		for (const uri of this.subscriptions.uris) this.ask('resources/subscribe', {uri});
		this.tellLevel();
	}
}

const cancelled = (id: string, reason: string): Envelope =>
	Envelope.fromText(
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":${JSON.stringify(reason)}}}`,
	);
