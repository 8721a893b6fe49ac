import {readFileSync, writeFileSync} from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import {createLog} from '../../../lib/core/log.js';
import {MAX_MEMBERS} from '../../../lib/serve/mail/edit-roster.js';
import {MessageParser} from '../../../lib/serve/mail/parse-message.js';
import {RosterRegistration} from '../../../lib/serve/mail/roster-registration.js';
import {memberOf, teamOf} from '../../e2e/mail/support.js';

/* Rosters and inboxes with very many entries. */

const message = {from: 'a', text: 'b', timestamp: 'c'};

test('does not change a roster with more members than the limit, and logs a warning with the limit [SEC-D5]', async t => {
	const {claude, roster} = teamOf(t);
	const members = Array.from({length: MAX_MEMBERS + 1}, (_, at) => memberOf(`m-${at}`, 'crew'));
	writeFileSync(roster, JSON.stringify({name: 'crew', members}));
	const before = readFileSync(roster, 'utf8');
	const lines: string[] = [];
	const log = createLog({level: 'warn', write: line => lines.push(line), isPretty: false});
	await new RosterRegistration({claude, team: 'crew', log}).join({
		identity: 'new',
		codexId: 'x',
		cwd: '/',
		model: undefined,
	});
	await log.flush();
	t.is(readFileSync(roster, 'utf8'), before);
	t.is(lines.length, 1);
	t.true(lines[0]?.includes(`${roster} has more than ${MAX_MEMBERS} members. The file was left unchanged.`));
});

test('adds a member to a roster at the limit [SEC-D5]', async t => {
	const {claude, roster, config} = teamOf(t);
	const members = Array.from({length: MAX_MEMBERS}, (_, at) => memberOf(`m-${at}`, 'crew'));
	writeFileSync(roster, JSON.stringify({name: 'crew', members}));
	const log = createLog({level: 'warn', write: line => t.fail(line), isPretty: false});
	await new RosterRegistration({claude, team: 'crew', log}).join({
		identity: 'new',
		codexId: 'x',
		cwd: '/',
		model: undefined,
	});
	t.is(config().members.length, MAX_MEMBERS + 1);
	t.is(config().members[MAX_MEMBERS].name, 'new');
});

test('assigns ids to 60,000 equal messages, and to 60,000 different ones with the same id, in one pass [SEC-D11]', t => {
	const [equal, different] = [new MessageParser(), new MessageParser()];
	const count = 60_000;
	let last: string | undefined;
	for (let at = 0; at < count; at++) last = equal.parse(message)?.id;
	t.is(last, `${new MessageParser().parse(message)?.id}~${count}`);
	for (let at = 1; at <= count; at++)
		last = different.parse({...message, text: `${at}`, message_id: 'x'})?.id;
	t.is(last, `x~${count}`);
	for (const at of [2, 7, count - 1])
		t.is(different.parse({...message, text: `${at}`, message_id: 'x'})?.id, `x~${at}`);
});

/** A reference implementation: the first unused suffix, or that of the same message with the same id. */
function idsOf(records: ReadonlyArray<{readonly text: string; readonly message_id?: string}>): string[] {
	const seen = new Map<string, string>();
	return records.map(record => {
		const baseId = record.message_id ?? new MessageParser().parse({...message, text: record.text})?.id ?? '';
		let id = baseId;
		for (let count = 2; seen.has(id) && (!record.message_id || seen.get(id) !== record.text); count++)
			id = `${baseId}~${count}`;
		seen.set(id, record.text);
		return id;
	});
}

test('assigns the ids of the reference implementation, even if existing ids look like suffixed ones [SEC-D11]', t => {
	const own = new MessageParser().parse({...message, text: 'p'})?.id ?? '';
	const record = fc.record(
		{
			text: fc.constantFrom('p', 'q', 'r'),
			message_id: fc.constantFrom('x', 'x~2', 'x~3', 'x~2~2', own, `${own}~2`, `${own}~3`),
		},
		{requiredKeys: ['text']},
	);
	fc.assert(
		fc.property(fc.array(record, {maxLength: 30}), records => {
			const parser = new MessageParser();
			const ids = records.map(each => parser.parse({...message, ...each})?.id ?? '');
			t.deepEqual(ids, idsOf(records));
		}),
	);
});
