import assert from 'node:assert/strict';
import test from 'ava';
import fc from 'fast-check';
import {type TranslatedMessage, Translator} from '../../lib/protocol/translator.js';
import {type HandshakeVersion, handshakeVersions} from '../../lib/protocol/version.js';
import {messagesOf, methodsOf, type Sample} from '../helpers/mcp-arbitrary.js';
import type {McpVersion, Sender} from '../helpers/mcp-version.js';
import type {SentRequest} from '../helpers/validity/rules.js';
import {type Validator, validators} from '../helpers/validity/validators.js';

type Json = {readonly [key: string]: unknown};
type Pair = {readonly from: HandshakeVersion; readonly to: HandshakeVersion};

const RUNS = 300;

function translated(
	sample: Sample,
	from: HandshakeVersion,
	to: HandshakeVersion,
	isStrict = false,
): {outcome: TranslatedMessage | undefined; losses: string[]} {
	const direction = sample.sender === 'client' ? 'toUpstream' : 'toClient';
	const [client, upstream] = sample.sender === 'client' ? [from, to] : [to, from];
	const losses: string[] = [];
	const translator = new Translator({client, upstream, isStrict, onLoss: feature => losses.push(feature)});
	const outcome = translator.translate(direction, sample.kind, methodOf(sample), sample.message as Json, 'i');
	return {outcome, losses};
}

/** The method of a message. An error without an id belongs to no request. */
const methodOf = ({kind, method, message}: Sample): string =>
	kind === 'error' && !('id' in message) ? '' : method;

/** The request that a response belongs to. Other versions validate a defined error as a plain error. */
const requestOf = ({method, kind, definition}: Sample): SentRequest =>
	definition === undefined || kind === 'error' ? {method} : {method, definition};

/** Whether the receiver's version has the message. */
const isKnown = ({method, kind, sender}: Sample, to: McpVersion): boolean => {
	const requester: Sender = kind === 'request' || kind === 'notification' ? sender : opposite(sender);
	const {requests, notifications} = methodsOf(to, requester);
	return [...requests, ...notifications].includes(method);
};

const opposite = (side: Sender): Sender => (side === 'client' ? 'server' : 'client');

/** The message that is forwarded, if the receiver's version has it. */
function forwardedMessage(
	sample: Sample,
	outcome: TranslatedMessage | undefined,
	to: HandshakeVersion,
): Json | undefined {
	const isDropped = outcome !== undefined && outcome.forward === undefined;
	// Peers ignore or reject messages that their version does not have.
	return isDropped || !isKnown(sample, to) ? undefined : (outcome?.forward ?? (sample.message as Json));
}

/**
 * Whether a result needs a request for a task or for a multi-select field, which older versions do not have.
 */
const isUnrequested = ({method, kind, definition, message}: Sample): boolean =>
	definition === 'CreateTaskResult' ||
	(method === 'elicitation/create' && kind === 'result' && JSON.stringify(message).includes('['));

function staysValid(sample: Sample, {from, to}: Pair, validator: Validator, isStrict: boolean): void {
	if (to < '2025-11-25' && isUnrequested(sample)) return;
	const {outcome} = translated(sample, from, to, isStrict);
	if (outcome?.reply)
		assert.deepEqual(validator.violations(from, outcome.reply, {method: sample.method}), []);
	const sent = forwardedMessage(sample, outcome, to);
	if (sent) assert.deepEqual(validator.violations(to, sent, requestOf(sample)), [], JSON.stringify(sent));
}

/** Whether a value is contained in another one, which may have more members. */
function isIn(value: unknown, other: unknown): boolean {
	if (Array.isArray(value)) return Array.isArray(other) && value.every((item, at) => isIn(item, other[at]));
	// The message of an error may have a link added.
	if (typeof value === 'string' && typeof other === 'string')
		return other === value || other.startsWith(`${value} Open: `);
	if (typeof value !== 'object' || value === null) return Object.is(value, other);
	if (typeof other !== 'object' || other === null) return false;
	return Object.entries(value).every(([key, item]) => isIn(item, (other as Json)[key]));
}

/** Requests that are not converted back. Only their responses are. */
const oneWay: readonly string[] = ['elicitation/create', 'sampling/createMessage'];
/** Losses that the message preserves. */
const restored: readonly string[] = ['links to resources', 'lists of content in sampling'];

function roundTrips(sample: Sample, {from, to}: Pair): void {
	if (oneWay.includes(sample.method) && sample.kind === 'request') return;
	// A URI of this scheme counts as written by another bridge.
	if (from < to && JSON.stringify(sample.message).includes('bridge://content/')) return;
	const {outcome, losses} = translated(sample, from, to);
	const sent = forwardedMessage(sample, outcome, to);
	if (!sent || losses.some(loss => !restored.includes(loss))) return;
	const back = translated({...sample, message: sent}, to, from).outcome;
	const result = (back ? back.forward : sent) ?? {};
	const isWhole = isIn(sample.message, result) || !JSON.stringify(sent).includes('io.bridge/original');
	assert.ok(isWhole && (losses.length > 0 || isIn(sample.message, result)), JSON.stringify({sent, result}));
	if (losses.length === 0) assert.ok(!JSON.stringify(result).includes('io.bridge/original'));
}

const properties: ReadonlyArray<readonly [string, (sample: Sample, pair: Pair) => void]> = [
	['is restored by the reverse translation if possible', roundTrips],
	...validators.flatMap(
		validator =>
			[
				[`is valid there (${validator.name})`, (sample, pair) => staysValid(sample, pair, validator, false)],
				[
					`is valid there in strict mode (${validator.name})`,
					(sample, pair) => staysValid(sample, pair, validator, true),
				],
			] as const satisfies ReadonlyArray<readonly [string, (sample: Sample, pair: Pair) => void]>,
	),
];

const pairs = handshakeVersions.flatMap(from =>
	handshakeVersions.filter(to => to !== from).map(to => ({from, to})),
);

for (const [title, holds] of properties)
	for (const pair of pairs)
		for (const sender of ['client', 'server'] as const)
			test(`any valid message of a ${pair.from} ${sender}, translated to ${pair.to}, ${title}`, t => {
				const property = fc.property(messagesOf(pair.from, sender), sample => holds(sample, pair));
				t.notThrows(() => fc.assert(property, {numRuns: RUNS}));
			});
