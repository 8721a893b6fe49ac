import {cancellingAs} from '../../change.js';
import {Envelope} from '../../envelope.js';
import {BridgeError} from '../../errors.js';
import {shortened} from '../../printable.js';
import {listOf, objectOf} from '../../protocol/json.js';
import {warnLimited} from '../../warn-limited.js';
import {marks} from '../../wire/marks.js';
import {memberRange, memberText} from '../../wire/member.js';
import type {SharedClient} from './client.js';
import type {Exchange} from './exchange.js';
import {neededFor, unanswerable} from './questions.js';

/** What becomes of a message of the server: it is heard by those whom it is for, as if they were the only ones. */
export function fromServer(exchange: Exchange, envelope: Envelope): void {
	const {id, key, method} = envelope.head;
	if (method === undefined) answer(exchange, envelope, key);
	else if (id === undefined) notification(exchange, envelope, method);
	else question(exchange, envelope, id, method);
}

function answer(exchange: Exchange, envelope: Envelope, key: string | undefined): void {
	const asked = key === undefined ? undefined : exchange.inFlight.take(key);
	if (!asked) {
		orphan(exchange, key);
		return;
	}
	const {client, id, token, onAnswer} = asked;
	const isTask = client !== undefined && noteOwned(exchange, client, envelope);
	// The progress of a task goes on after the answer that it has begun.
	if (token !== undefined && !isTask) exchange.tokens.forget(token);
	if (onAnswer) onAnswer(envelope);
	else client?.hear(envelope.relayed(client.origin, id));
}

function orphan({inFlight, log, name}: Exchange, key: string | undefined): void {
	const fields = {id: shortened(key ?? 'null'), server: name};
	if (key !== undefined && inFlight.isForsaken(key))
		log.debug('rpc.late_response', `${name} answered a request of a client that has left.`, fields);
	else {
		const sentence = `${name} sent a response that no client waits for; it was dropped.`;
		warnLimited(log, 'rpc.orphan_response', sentence, fields, name);
	}
}

/** Remembers whose a task is, or a page that a client is asked to open. Returns whether it is a task. */
function noteOwned({tasks, elicitations}: Exchange, client: SharedClient, envelope: Envelope): boolean {
	const {head} = envelope;
	if (head.hasError && envelope.line.includes('-32042')) {
		const {data} = objectOf(envelope.body.error);
		for (const one of listOf(objectOf(data).elicitations))
			elicitations.set(objectOf(one).elicitationId, client);
	}
	if (!head.hasResult || (head.marks & marks.task) === 0) return false;
	const taskId = memberText(envelope.bytes, 'result', 'task', 'taskId');
	if (taskId === undefined) return false;
	tasks.set(JSON.parse(taskId), client);
	return true;
}

/** Asks one client: nothing else can know what the server means. */
function question(exchange: Exchange, envelope: Envelope, id: string, method: string): void {
	if (method === 'ping') {
		exchange.tell(Envelope.answer(id, 'result', {}, envelope.origin));
		return;
	}
	const client = addressee(exchange, envelope, method);
	if (!client) {
		exchange.tell(
			unanswerable(id, method, 'no client that has a call under way can do that', envelope.origin),
		);
		return;
	}
	try {
		const {told} = exchange.questions.add(client, envelope);
		const {elicitationId} = method === 'elicitation/create' ? objectOf(envelope.body.params) : {};
		if (elicitationId !== undefined) exchange.elicitations.set(elicitationId, client);
		client.hear(envelope.relayed(client.origin, told));
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		exchange.tell(Envelope.failure(id, error, envelope.origin));
	}
}

const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/**
 * Whom a question is for: whose task it is about, or whose call it came within, where that is told; else who of those that
 * can answer has asked the server something last.
 */
function addressee(exchange: Exchange, {origin, body}: Envelope, method: string): SharedClient | undefined {
	const {inFlight, tasks, log, name} = exchange;
	const need = neededFor(method);
	const canAnswer = (client: SharedClient): boolean => need === undefined || need in client.capabilities;
	const {taskId} = objectOf(objectOf(objectOf(body.params)._meta)[RELATED_TASK]);
	const owner = tasks.get(taskId);
	if (owner) return !owner.isGone && canAnswer(owner) ? owner : undefined;
	const [within, calls, all] = inFlight.latest(
		asked => asked.told === origin.within || asked.origin === origin,
		(asked, client) => asked.mayNeedInput && canAnswer(client),
		(_asked, client) => canAnswer(client),
	);
	if (within?.client) return canAnswer(within.client) ? within.client : undefined;
	const {client, count = 0} = (calls?.client ? calls : all) ?? {};
	if (count > 1) {
		const sentence = `${name} sent ${shortened(method)}, and ${count} waiting clients could be meant; the client of the latest request gets it.`;
		const fields = {server: name, method: shortened(method), clients: count};
		warnLimited(log, 'shared.question.ambiguous', sentence, fields, name);
	}
	return client;
}

function notification(exchange: Exchange, envelope: Envelope, method: string): void {
	switch (method) {
		case 'notifications/progress':
			progress(exchange, envelope);
			return;
		case 'notifications/cancelled':
			withdrawn(exchange, envelope);
			return;
		case 'notifications/message': {
			const level = paramOf(envelope, 'level');
			exchange.tellAll(envelope, client => exchange.levels.hears(client, level));
			return;
		}
		case 'notifications/resources/updated': {
			const receivers = exchange.subscriptions.receivers(String(paramOf(envelope, 'uri')));
			exchange.tellAll(envelope, client => receivers.has(client));
			return;
		}
		case 'notifications/tasks/status':
			tellOwner(exchange, envelope, exchange.tasks.get(paramOf(envelope, 'taskId')));
			return;
		case 'notifications/elicitation/complete':
			tellOwner(exchange, envelope, exchange.elicitations.get(paramOf(envelope, 'elicitationId')));
			return;
		default:
			exchange.tellAll(envelope);
	}
}

/** A member of a notification's params. */
function paramOf({bytes}: Envelope, name: string): unknown {
	const text = memberText(bytes, 'params', name);
	return text === undefined ? undefined : JSON.parse(text);
}

/** Who it belongs to, where that is known, else all. */
const tellOwner = (exchange: Exchange, envelope: Envelope, owner: SharedClient | undefined): void =>
	exchange.tellAll(envelope, client => owner === undefined || client === owner);

/** Progress that nobody waits for is nobody's. */
function progress({tokens, log, name}: Exchange, envelope: Envelope): void {
	const at = memberRange(envelope.bytes, 'params', 'progressToken');
	const found = at && tokens.ownerOf(JSON.parse(envelope.bytes.toString('utf8', ...at)));
	if (at && found) found.owner.hear(envelope.replaced(at, String(found.token)).relayed(found.owner.origin));
	else log.debug('rpc.dropped', `${name} told of progress that nobody waits for.`, {server: name});
}

/** The server wants no answer to a question any more. */
function withdrawn({questions, log, name}: Exchange, envelope: Envelope): void {
	const id = memberText(envelope.bytes, 'params', 'requestId');
	const found = id === undefined ? undefined : questions.withdraw(id);
	if (found) found.client.hear(cancellingAs(envelope, found.told).relayed(found.client.origin));
	else log.debug('rpc.dropped', `${name} cancelled what it has not asked.`, {server: name});
}
