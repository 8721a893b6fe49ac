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

/** What a message of one side becomes for the other. */
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
	const outcome = translator.translate(direction, sample.kind, subject(sample), sample.message as Json, 'i');
	return {outcome, losses};
}

/** An error without an id is about nothing. */
const subject = ({kind, method, message}: Sample): string =>
	kind === 'error' && !('id' in message) ? '' : method;

/** Errors have a definition of their own only in the version that brought them; to all others they are errors. */
const answered = ({method, kind, definition}: Sample): SentRequest =>
	definition === undefined || kind === 'error' ? {method} : {method, definition};

/** Whether the receiver has a word for the message at all. */
const isKnown = ({method, kind, sender}: Sample, to: McpVersion): boolean => {
	const asker: Sender = kind === 'request' || kind === 'notification' ? sender : opposite(sender);
	const {requests, notifications} = methodsOf(to, asker);
	return [...requests, ...notifications].includes(method);
};

const opposite = (side: Sender): Sender => (side === 'client' ? 'server' : 'client');

/** What goes on to the receiver, if anything does, and if the receiver has a word for it. */
function onward(
	sample: Sample,
	outcome: TranslatedMessage | undefined,
	to: HandshakeVersion,
): Json | undefined {
	const isStopped = outcome !== undefined && outcome.forward === undefined;
	// What the receiver has no word for is ignored or refused by every peer by itself.
	return isStopped || !isKnown(sample, to) ? undefined : (outcome?.forward ?? (sample.message as Json));
}

/** Nobody is answered with a task or with a choice of several who has not asked for one, and older peers cannot. */
const isUnasked = ({method, kind, definition, message}: Sample): boolean =>
	definition === 'CreateTaskResult' ||
	(method === 'elicitation/create' && kind === 'result' && JSON.stringify(message).includes('['));

function staysValid(sample: Sample, {from, to}: Pair, validator: Validator, isStrict: boolean): void {
	if (to < '2025-11-25' && isUnasked(sample)) return;
	const {outcome} = translated(sample, from, to, isStrict);
	if (outcome?.reply)
		assert.deepEqual(validator.violations(from, outcome.reply, {method: sample.method}), []);
	const sent = onward(sample, outcome, to);
	if (sent) assert.deepEqual(validator.violations(to, sent, answered(sample)), [], JSON.stringify(sent));
}

/** Whether all of a value is in another one, which may have more. */
function isIn(value: unknown, other: unknown): boolean {
	if (Array.isArray(value)) return Array.isArray(other) && value.every((item, at) => isIn(item, other[at]));
	// The message of an error may have a link added.
	if (typeof value === 'string' && typeof other === 'string')
		return other === value || other.startsWith(`${value} Open: `);
	if (typeof value !== 'object' || value === null) return Object.is(value, other);
	if (typeof other !== 'object' || other === null) return false;
	return Object.entries(value).every(([key, item]) => isIn(item, (other as Json)[key]));
}

/** Questions to a client are put in another form; it is their answers that come back. */
const oneWay: readonly string[] = ['elicitation/create', 'sampling/createMessage'];
/** What is lost, but not from the message. */
const restored: readonly string[] = ['links to resources', 'lists of content in sampling'];

function comesBack(sample: Sample, {from, to}: Pair): void {
	if (oneWay.includes(sample.method) && sample.kind === 'request') return;
	// What only another bridge would have written is taken for that.
	if (from < to && JSON.stringify(sample.message).includes('bridge://content/')) return;
	const {outcome, losses} = translated(sample, from, to);
	const sent = onward(sample, outcome, to);
	if (!sent || losses.some(loss => !restored.includes(loss))) return;
	const back = translated({...sample, message: sent}, to, from).outcome;
	const result = (back ? back.forward : sent) ?? {};
	const isWhole = isIn(sample.message, result) || !JSON.stringify(sent).includes('io.bridge/original');
	assert.ok(isWhole && (losses.length > 0 || isIn(sample.message, result)), JSON.stringify({sent, result}));
	if (losses.length === 0) assert.ok(!JSON.stringify(result).includes('io.bridge/original'));
}

const properties: ReadonlyArray<readonly [string, (sample: Sample, pair: Pair) => void]> = [
	['comes back whole from there, unless that is impossible', comesBack],
	...validators.flatMap(
		validator =>
			[
				[`is valid there (${validator.name})`, (sample, pair) => staysValid(sample, pair, validator, false)],
				[
					`is valid there, in strict mode, too (${validator.name})`,
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
