import test from 'ava';
import fc from 'fast-check';
import {appendEntry, parseInbox, setReadMarks} from '../../../lib/serve/mail/edit-inbox.js';
import {replaceMembers} from '../../../lib/serve/mail/edit-roster.js';
import {isObject, type JsonObject} from '../../../lib/util/json.js';

/* Edits of shared files. Content of other programs stays unchanged, byte for byte and in order. */

const name = fc.constantFrom('a', 'dev-1', 'team-lead');
const id = fc.constantFrom('m-1', 'm-2', 'm-3');

/** Messages in the formats of all versions, and invalid entries. */
const record = fc.oneof(
	fc.jsonValue({maxDepth: 2}),
	fc.record(
		{
			from: name,
			text: fc.string({unit: 'binary'}),
			timestamp: fc.constant('2026-02-18T10:00:00Z'),
			read: fc.oneof(fc.boolean(), fc.constant('yes')),
			message_id: id,
			msg_id: id,
			metadata: fc.record({atm: fc.record({messageId: id}, {requiredKeys: []})}),
			odd: fc.jsonValue({maxDepth: 2}),
		},
		{requiredKeys: ['from', 'text']},
	),
);
const inbox = fc
	.tuple(
		fc.array(record, {maxLength: 8}),
		fc.constantFrom('', '  ', '\t'),
		fc.constantFrom('', '\n', ' \r\n'),
	)
	.map(([records, indent, end]) => Buffer.from(`${JSON.stringify(records, undefined, indent)}${end}`));

const parsed = (bytes: Buffer): unknown[] => JSON.parse(bytes.toString());

test('appends a message and changes nothing else', t => {
	const added = {from: 'me', text: 'new "one"\n', timestamp: 'x', read: false, message_id: 'new'};
	fc.assert(
		fc.property(inbox, bytes => {
			const after = appendEntry(bytes, added);
			t.deepEqual(parsed(after), [...parsed(bytes), added]);
			const last = bytes.lastIndexOf(']');
			const unchanged = bytes.toString('utf8', 0, last).trimEnd();
			t.true(after.toString().startsWith(unchanged), 'earlier bytes are the same');
		}),
	);
});

test('changes only the read mark of the selected messages', t => {
	fc.assert(
		fc.property(inbox, fc.array(fc.nat(7), {maxLength: 4}), fc.boolean(), (bytes, chosen, isRead) => {
			const {messages} = parseInbox(bytes);
			const ids = new Set(chosen.map(at => messages[at]?.id ?? 'none'));
			const after = setReadMarks(bytes, ids, isRead) ?? bytes;
			for (const message of parseInbox(after).messages) if (ids.has(message.id)) t.is(message.isRead, isRead);
			t.deepEqual(
				parseInbox(after).messages.map(each => ({...each, isRead: undefined})),
				messages.map(each => ({...each, isRead: undefined})),
				'ids are stable',
			);
			t.deepEqual(parsed(after).map(withoutRead), parsed(bytes).map(withoutRead));
			t.is(setReadMarks(after, ids, isRead), undefined, 'a second call changes nothing');
		}),
	);
});

const withoutRead = (value: unknown): unknown => {
	if (!isObject(value) || typeof value.from !== 'string') return value;
	const {read, ...rest} = value;
	return rest;
};

test('preserves numbers and spellings that a parser would change', t => {
	const odd =
		'{"big":12345678901234567890,"one":1.0,"from":"a","\\u0074ext":"b","read" :\tfalse,"x":1,"x":2}';
	const bytes = Buffer.from(`[ ${odd} , 1e400 ]`);
	const [message] = parseInbox(bytes).messages;
	const after = setReadMarks(appendEntry(bytes, {a: 1}), new Set([message?.id ?? '']), true);
	t.is(after?.toString(), `[ ${odd.replace('false', 'true')} , 1e400,\n  {\n    "a": 1\n  } ]`);
});

test('keeps different messages with the same id apart, and merges copies', t => {
	const of = (...records: object[]) =>
		parseInbox(Buffer.from(JSON.stringify(records))).messages.map(({id: own}) => own);
	const message = {from: 'a', text: 'b', timestamp: 'c'};
	t.deepEqual(of({...message, message_id: 'x'}, {...message, message_id: 'x', read: true}), ['x']);
	t.deepEqual(of({...message, message_id: 'x'}, {...message, text: 'other', message_id: 'x'}), ['x', 'x~2']);
	const [one, two] = of(message, message);
	t.is(two, `${one}~2`, 'copies without an id are separate messages');
});

test('preserves all content of a roster', t => {
	const member = fc.record({name, odd: fc.jsonValue({maxDepth: 2})}, {requiredKeys: []});
	const roster = fc.record({
		name,
		members: fc.array(fc.oneof(member, fc.jsonValue({maxDepth: 1})), {maxLength: 5}),
		later: fc.jsonValue({maxDepth: 2}),
	});
	fc.assert(
		fc.property(roster, fc.constantFrom('', '  '), (content, indent) => {
			const bytes = Buffer.from(JSON.stringify(content, undefined, indent));
			// Parsed again, because JSON does not preserve all values, such as negative zero.
			const before = JSON.parse(bytes.toString());
			t.is(
				replaceMembers(bytes, 'config.json', entries => entries),
				undefined,
			);
			const added: JsonObject = {name: 'new', agentId: 'new@crew'};
			const after = replaceMembers(bytes, 'config.json', entries => [...entries, added]) ?? bytes;
			t.deepEqual(JSON.parse(after.toString()), {...before, members: [...before.members, added]});
			const back = replaceMembers(after, 'config.json', entries =>
				entries.filter(({record: each}) => each.agentId !== 'new@crew'),
			);
			t.deepEqual(JSON.parse((back ?? after).toString()), before);
			if (indent === '  ') t.is(back?.toString(), bytes.toString());
		}),
	);
});
