import {cancellingAs} from '../../change.js';
import {Envelope} from '../../envelope.js';
import {BridgeError} from '../../errors.js';
import {shortened} from '../../printable.js';
import {type JsonObject, objectOf} from '../../protocol/json.js';
import {isLevel} from '../../protocol/log-levels.js';
import {warnLimited} from '../../warn-limited.js';
import {marks} from '../../wire/marks.js';
import {memberRange, memberText} from '../../wire/member.js';
import type {SharedClient} from './client.js';
import type {Exchange} from './exchange.js';
import {ownTask, withOwnTasks} from './tasks.js';

/** What becomes of a message of a client: the server hears it so that it can be told from those of all others. */
export function fromClient(exchange: Exchange, client: SharedClient, envelope: Envelope): void {
	const {id, method} = envelope.head;
	if (method === undefined) answer(exchange, client, envelope);
	else if (id === undefined) notification(exchange, client, envelope, method);
	else request(exchange, client, envelope, id, method);
}

function request(
	exchange: Exchange,
	client: SharedClient,
	envelope: Envelope,
	id: string,
	method: string,
): void {
	switch (method) {
		case 'initialize':
			introduce(client, objectOf(envelope.body.params));
			client.hear(Envelope.answer(id, 'result', exchange.greeting, client.origin, String));
			return;
		case 'resources/subscribe':
			subscribe(exchange, client, envelope, id);
			return;
		case 'resources/unsubscribe':
			if (exchange.subscriptions.remove(client, uriOf(envelope))) ask(exchange, client, envelope);
			else client.hear(Envelope.answer(id, 'result', {}, client.origin));
			return;
		case 'logging/setLevel':
			setLevel(exchange, client, envelope, id);
			return;
		case 'tasks/list':
			ask(exchange, client, envelope, given => client.hear(withOwnTasks(exchange, client, given, id)));
			return;
		default:
			if (method.startsWith('tasks/') && !ownTask(exchange, client, envelope, id)) return;
			ask(exchange, client, envelope);
	}
}

function introduce(client: SharedClient, {clientInfo, capabilities}: JsonObject): void {
	client.info = objectOf(clientInfo);
	client.capabilities = objectOf(capabilities);
	client.isGreeted = true;
}

/** Asks the server, under an id and a progress token that no other client has. */
function ask(
	exchange: Exchange,
	client: SharedClient,
	envelope: Envelope,
	onAnswer?: (answer: Envelope) => void,
): void {
	const {id = '', method = ''} = envelope.head;
	const {origin} = envelope;
	const asked = exchange.inFlight.add({id, client, origin, method, onAnswer});
	const at = progressToken(envelope);
	if (at) asked.token = exchange.tokens.rename(client, envelope.line.toString('utf8', ...at));
	const renamed = at ? envelope.replaced(at, JSON.stringify(asked.token)) : envelope;
	exchange.tell(renamed.relayed(origin, asked.told));
}

/** Where a request has its progress token. Most have none, and are not looked through for it. */
function progressToken(envelope: Envelope): readonly [start: number, end: number] | undefined {
	const {head, line} = envelope;
	if ((head.marks & marks.progressToken) === 0) return;
	const range = memberRange(envelope.bytes, 'params', '_meta', 'progressToken');
	return range && /["\d-]/.test(String.fromCharCode(line[range[0]] ?? 0)) ? range : undefined;
}

const uriOf = ({body: {params}}: Envelope): string => String(objectOf(params).uri);

function subscribe(exchange: Exchange, client: SharedClient, envelope: Envelope, id: string): void {
	const {subscriptions} = exchange;
	const added = subscriptions.add(client, uriOf(envelope), answer =>
		client.hear(answer?.relayed(client.origin, id) ?? Envelope.answer(id, 'result', {}, client.origin)),
	);
	if (!added) return;
	try {
		ask(exchange, client, envelope, answer => subscriptions.settle(added, answer));
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		subscriptions.settle(added, Envelope.failure(id, error));
	}
}

/** The server is told what lets through all that any client wants. */
function setLevel(exchange: Exchange, client: SharedClient, envelope: Envelope, id: string): void {
	const {levels, clients} = exchange;
	const {level} = objectOf(envelope.body.params);
	if (!isLevel(level)) {
		ask(exchange, client, envelope);
		return;
	}
	levels.set(client, level);
	const all = levels.forAll(clients);
	if (all === levels.told) {
		client.hear(Envelope.answer(id, 'result', {}, client.origin));
		return;
	}
	const at = memberRange(envelope.bytes, 'params', 'level');
	const told = at && all !== level ? envelope.replaced(at, JSON.stringify(all)) : envelope;
	ask(exchange, client, told, answer => {
		if (answer.head.hasError) levels.unset(client);
		else levels.told = all;
		client.hear(answer.relayed(client.origin, id));
	});
}

/** Only who was asked can answer. */
function answer({questions, log, tell, name}: Exchange, client: SharedClient, envelope: Envelope): void {
	const {key} = envelope.head;
	const question = key === undefined ? undefined : questions.take(client, key);
	if (question) {
		tell(envelope.relayed(envelope.origin, question.id));
		return;
	}
	const sentence = `${client.label} sent a response to a request that ${name} has not sent; it was dropped.`;
	const fields = {id: shortened(key ?? 'null'), server: name};
	warnLimited(log, 'rpc.orphan_response', sentence, fields, name);
}

function notification(exchange: Exchange, client: SharedClient, envelope: Envelope, method: string): void {
	switch (method) {
		case 'notifications/initialized':
			client.isInitialized = true;
			exchange.tellLevel();
			return;
		case 'notifications/cancelled': {
			const id = memberText(envelope.bytes, 'params', 'requestId');
			const asked = id === undefined ? undefined : exchange.inFlight.cancel(client, id);
			if (asked) exchange.tell(cancellingAs(envelope, asked.told));
			return;
		}
		case 'notifications/progress': {
			const token = memberText(envelope.bytes, 'params', 'progressToken');
			if (token !== undefined && exchange.questions.hasToken(client, token)) exchange.tell(envelope);
			return;
		}
		default:
			exchange.tell(envelope);
	}
}
