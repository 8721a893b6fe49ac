import test, {type ExecutionContext} from 'ava';
import {isMcpVersion} from '../helpers/mcp-version.js';
import {settled, until} from '../helpers/pipeline.js';
import {type Case, cases, violationsIn} from '../helpers/translation-cases.js';
import {validators} from '../helpers/validity/validators.js';
import {type Pair, type Setting, shakeHands, versioned} from '../helpers/version-stages.js';
import {handshakeCases} from './golden-handshake.js';
import {httpCases} from './golden-http.js';
import {statelessCases} from './golden-stateless.js';

type Json = {readonly [key: string]: unknown};

/** Cases that need more than one message. */
const special = {...handshakeCases, ...statelessCases, ...httpCases};

/** Replaces generated names, which differ in each run. */
const named = (value: unknown): unknown =>
	JSON.parse(
		JSON.stringify(value)
			.replaceAll(/"bridge-[0-9a-f]{8}-\d+"|"bridge-\d+"/g, '"BRIDGE"')
			.replaceAll(/"bridge\.v1\.[^"]*"/g, '"STATE"'),
	);

const isResponse = (message: Json): boolean => !('method' in message);

/** The versions and capabilities of both sides in a case. */
function settingOf(each: Case): Setting {
	const {direction, from, to, state = {}} = each;
	const [client, server] = direction === 'client->server' ? [from, to] : [to, from];
	const supported = (version: string): string => (isMcpVersion(version) ? version : '2026-01-01');
	return {
		client: supported(client),
		server: supported(server),
		...(state.clientCapabilities === undefined ? {} : {clientCapabilities: state.clientCapabilities as Json}),
		...(state.capabilities === undefined ? {} : {serverCapabilities: state.capabilities as Json}),
	};
}

/** Sends the requests that the responses and progress notifications of a case belong to. */
function sendRequests(each: Case, receiver: Pair['client']): void {
	const messages = (Array.isArray(each.before) ? each.before : [each.before]) as Json[];
	for (const {params} of messages.filter(({method}) => method === 'notifications/progress')) {
		const {progressToken} = params as Json;
		receiver.send({id: 'call', method: 'tools/call', params: {name: 'x', _meta: {progressToken}}});
	}
	for (const {id} of messages.filter(message => isResponse(message) && 'id' in message)) {
		const method = each.methods?.[String(id)] ?? each.method ?? 'ping';
		receiver.send({id, method, params: {name: 'x'}});
	}
}

async function play(t: ExecutionContext, each: Case): Promise<void> {
	const setting = settingOf(each);
	const pair = versioned({isStrict: each.mode === 'strict'});
	const isUp = each.direction === 'client->server';
	const [sender, receiver] = isUp ? [pair.client, pair.upstream] : [pair.upstream, pair.client];
	shakeHands(pair, setting);
	sendRequests(each, receiver);
	const target = each.afterTo === 'sender' ? sender : receiver;
	const before = target.received.length;
	sender.sendText(JSON.stringify(each.before));
	const expected = each.after === null ? [] : each.afterSequence ? (each.after as unknown[]) : [each.after];
	await (expected.length > 0 ? until(() => target.received.length >= before + expected.length) : settled());
	const received = target.received.slice(before);
	t.deepEqual(named(received), named(expected));
}

for (const each of cases)
	test(`${each.rule} ${each.name}`, async t => {
		const own = special[each.name];
		if (!own) return play(t, each);
		const after = await own(each);
		t.deepEqual(named(after), named(each.after));
		return;
	});

// The sent message equals the expected one, so validating the expected one suffices.
for (const validator of validators)
	for (const each of cases.filter(({after, schemaExempt}) => after !== null && schemaExempt === undefined))
		test(`${each.name} expects valid messages (${validator.name})`, t => {
			t.deepEqual(violationsIn(each, validator), []);
		});

test('contains all cases', t => {
	t.is(cases.length, 76);
	t.deepEqual(
		Object.keys(special).filter(name => !cases.some(each => each.name === name)),
		[],
	);
});
