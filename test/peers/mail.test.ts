import test from 'ava';
import {listOf, objectOf} from '../../lib/util/json.js';
import {native, teamOf} from '../e2e/mail/support.js';
import {codexKinds} from './codex-clients.js';
import {callTool, replyWith} from './scripted-model.js';
import {RealClient, servePlace} from './serve-client.js';

/* Team mail with both real Codex programs: the agent calls the mail tools in a turn. */

const tools = ['atm_broadcast', 'atm_pending_count', 'atm_read', 'atm_send'];

for (const kind of codexKinds)
	test.serial(
		`${kind}: a Codex agent sends, reads and broadcasts under its own identity, also in the audit log [D2] [FR-2.8] [FR-4.1] [FR-4.2] [FR-4.3] [FR-4.4] [FR-4.5] [S-D5]`,
		async t => {
			const at = await servePlace(t, kind);
			const team = teamOf(t, {home: String(at.env.ATM_HOME)});
			const client = await RealClient.start(t, at, {args: ['--team', 'crew']});
			const first = await client.call('codex', {
				prompt: callTool('atm', 'atm_send', {to: 'dev-1', message: 'PR is ready'}),
				identity: 'arch',
				/* An automatic turn would otherwise take the mail before the agent reads it. */
				auto_mail: false,
			});
			t.deepEqual(at.model.toolsOf('atm'), tools, first.text);
			t.regex(first.text, /Message sent to dev-1@crew/);
			t.like(team.inbox('dev-1')[0], {from: 'arch', text: 'PR is ready', read: false});
			const {codex_id: codexId} = first.structured;
			const turn = async (tool: string, args: object = {}): Promise<string> =>
				(await client.call('codex-reply', {codex_id: codexId, prompt: callTool('atm', tool, args)})).text;
			t.regex(
				await turn('atm_send', {to: 'dev-9', message: 'x'}),
				/Its members are team-lead, dev-1, dev-2, arch/,
			);
			t.regex(
				await turn('atm_send', {to: 'dev-1', message: 'x', identity: 'team-lead'}),
				/cannot send or read mail as another identity/,
			);
			const {threadId} = first.structured;
			const names = {identity: 'arch', codex_id: codexId, thread_id: threadId};
			const last = (event: string) => at.audit().findLast(line => line.event_type === event);
			t.like(last('atm_send'), names);
			t.like(last('refusal'), {...names, details: {claimed_identity: 'team-lead'}});
			team.put('arch', [
				native('team-lead', 'Well done', {read: true}),
				native('dev-2', 'LGTM', {message_id: 'm-2'}),
			]);
			t.regex(await turn('atm_pending_count'), /unread[^0-9]*1/);
			t.regex(await turn('atm_read'), /LGTM/);
			t.regex(await turn('atm_broadcast', {message: 'Freeze'}), /team-lead@crew/);
			for (const name of ['team-lead', 'dev-2']) t.like(team.inbox(name)[0], {from: 'arch', text: 'Freeze'});
			t.is(team.inbox('dev-1').length, 2);
			while (team.inbox('arch')[1].read !== true) await new Promise(resolve => setImmediate(resolve));
			const sent = await client.call('atm_send', {
				codex_id: codexId,
				to: 'team-lead',
				message: 'From Claude',
			});
			t.is(objectOf(sent.structured).from, 'arch', sent.text);
			t.is(
				(await client.call('codex-reply', {codex_id: codexId, prompt: replyWith('ON')})).structured.content,
				'ON',
			);
		},
	);

for (const kind of codexKinds)
	test.serial(
		`${kind}: a client uses the ATM tools for a session but not for another identity, and each call is audited [FR-4.1] [FR-4.6] [FR-8.7] [FR-9.1] [FR-15.1]`,
		async t => {
			const at = await servePlace(t, kind);
			const team = teamOf(t, {home: String(at.env.ATM_HOME)});
			const client = await RealClient.start(t, at, {args: ['--team', 'crew']});
			const listed = listOf(objectOf(await client.sdk.listTools()).tools);
			const names = listed.map(tool => String(objectOf(tool).name));
			t.deepEqual([...new Set(names)], names, 'tool names are unique');
			for (const name of [...tools, 'codex', 'codex-reply']) t.true(names.includes(name), name);
			const begun = await client.call('codex', {
				prompt: replyWith('ONE'),
				identity: 'arch',
				auto_mail: false,
			});
			const {codex_id: codexId} = begun.structured;
			const use = (tool: string, args: object = {}) => client.call(tool, {codex_id: codexId, ...args});
			await use('atm_send', {to: 'dev-1', message: 'PR is ready'});
			t.like(team.inbox('dev-1')[0], {from: 'arch', text: 'PR is ready', read: false});
			const forged = await use('atm_send', {to: 'dev-1', message: 'Stop', identity: 'team-lead'});
			t.true(forged.isError, forged.text);
			t.is(team.inbox('dev-1').length, 1);
			team.put('arch', [native('dev-2', 'LGTM', {message_id: 'm-2'})]);
			for (const look of ['first', 'second'])
				t.is((await use('atm_pending_count')).structured.unread, 1, look);
			t.false(team.inbox('arch')[0].read, 'counting marks nothing as read');
			const [message] = listOf((await use('atm_read')).structured.messages);
			t.like(message, {from: 'dev-2', message: 'LGTM', message_id: 'm-2', read: false});
			t.is((await use('atm_pending_count')).structured.unread, 0);
			t.true(team.inbox('arch')[0].read);
			await use('atm_broadcast', {message: 'Freeze'});
			for (const name of ['team-lead', 'dev-2']) t.like(team.inbox(name)[0], {from: 'arch', text: 'Freeze'});
			const audited = at.audit().filter(({event_type: type}) => tools.includes(String(type)));
			t.like(audited[0], {identity: 'arch', recipient: 'dev-1@crew', message_summary: 'PR is ready'});
			const types = audited.map(({event_type: type}) => type);
			for (const tool of tools) t.true(types.includes(tool), tool);
			for (const {timestamp, correlation_id: id} of audited) t.true(Boolean(timestamp) && Boolean(id));
		},
	);
