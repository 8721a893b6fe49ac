import {existsSync, utimesSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {listOf} from '../../lib/util/json.js';
import {isMail, type MailPlace, mailPlace, until} from '../e2e/mail-turns/place.js';
import {parseMailPrompt} from '../e2e/mail-turns/support.js';
import {startServe} from '../e2e/serve/support.js';

/* H12: the prompts that the model received, checked afterwards. */

const KILLS = 50;
const SENDERS = ['dev-1', 'dev-2'];

/** The ids of the messages in each turn, with the process that delivered them. */
const history = (at: MailPlace): Array<{readonly pid: number; readonly ids: readonly string[]}> =>
	at
		.record()
		.filter(({prompt}) => isMail(prompt))
		.map(({pid, prompt}) => ({
			pid,
			ids: parseMailPrompt(prompt).map(({header}) => String(header.message_id)),
		}));

test.serial(
	'kill -9 of bridge at 50 random moments loses no mail and keeps its order, with duplicates only around a kill [H12] [FR-8.13]',
	async t => {
		t.timeout(600_000);
		const at = await mailPlace(
			t,
			'app-server',
			'max_messages = 2\nmax_mail_turns = 1000000\nmail_poll_interval_ms = 100',
		);
		const posted = new Map(SENDERS.map(sender => [sender, [] as string[]]));
		const post = async (round: number): Promise<void> => {
			for (const [sender, ids] of posted)
				for (const n of [1, 2]) {
					const id = `${sender}-${round}-${n}`;
					ids.push(id);
					await at.post('a', `slow:${n * 10}`, {from: sender, message_id: id});
				}
		};
		for (let round = 0; round < KILLS; round++) {
			const [client] = await Promise.all([startServe(t, at), post(round)]);
			await client.codex({prompt: 'say:1', identity: 'a'});
			await sleep(Math.random() * 150);
			client.running.child.kill('SIGKILL');
			await client.running.exited;
			ageLock(at);
			await until(() => at.inbox('a').length === (round + 1) * 4);
			const delivered = new Set(history(at).flatMap(({ids}) => ids));
			const uncertain = new Set(underway(at));
			for (const {message_id: id, read} of at.inbox('a'))
				t.true(
					read !== true || delivered.has(String(id)) || uncertain.has(String(id)),
					`round ${round}: ${id}`,
				);
		}
		const client = await startServe(t, at);
		await client.codex({prompt: 'say:1', identity: 'a'});
		await until(() => at.inbox('a').every(({read}) => read === true));
		await until(async () =>
			(await client.threads({include_closed: false})).every(({state}) => state !== 'busy'),
		);
		check(t.log, t.true, posted, history(at));
	},
);

/** Ages the lock that the killed process left, so that it is stale at once instead of after 10 s. */
function ageLock(at: MailPlace): void {
	const lock = `${at.inboxPath('a')}.lock`;
	if (existsSync(lock)) utimesSync(lock, new Date(0), new Date(0));
}

const underway = (at: MailPlace): readonly unknown[] => listOf(at.mailRecord('a').underway);

function check(
	log: (...words: string[]) => void,
	isTrue: (condition: boolean, message: string) => void,
	posted: ReadonlyMap<string, readonly string[]>,
	turns: ReturnType<typeof history>,
): void {
	const flat = turns.flatMap(({ids}) => ids);
	const first = [...new Set(flat)];
	for (const [sender, ids] of posted) {
		const received = first.filter(id => id.startsWith(`${sender}-`));
		isTrue(received.join() === ids.join(), `all messages of ${sender} arrive in order`);
	}
	for (const [nth, {pid, ids}] of turns.entries())
		for (const id of ids) {
			const later = turns.slice(nth + 1).find(turn => turn.ids.includes(id));
			if (!later) continue;
			isTrue(later.pid !== pid, `${id} was delivered twice by one process`);
			const isLast = !turns.slice(nth + 1).some(turn => turn.pid === pid);
			isTrue(isLast, `${id} was redelivered although the kill did not interrupt its turn`);
		}
	log(`${turns.length} turns, ${first.length} messages, ${flat.length - first.length} redelivered`);
}
