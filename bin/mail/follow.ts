import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {asJson, asText, type InboxView, lookInto} from '../../lib/mail/look.js';
import type {Message} from '../../lib/mail/types.js';
import {jsonText, tell, write} from '../common/own-output.js';
import type {Stop} from '../common/signals.js';

/** How often it looks. */
const POLL_MS = 500;

/** What an inbox was when it was last looked into. */
type Seen = {readonly stamp: string | undefined; readonly ids: ReadonlySet<string>};

/** Shows what arrives from now on, until it is told to stop. */
export async function follow(
	viewsNow: () => Promise<InboxView[]>,
	{json}: {readonly json: boolean},
	{asked}: Stop,
): Promise<number> {
	const seen = new Map<string, Seen>();
	let isOver = false;
	void asked.then(() => {
		isOver = true;
	});
	for (const view of await viewsNow()) await newsOf(view, seen);
	await tell(`Waiting for mail in ${seen.size} inboxes; Ctrl-C ends it.`);
	while (!isOver) {
		for (const view of await viewsNow())
			for (const message of await newsOf(view, seen))
				await write(process.stdout, json ? jsonText(asJson(view, message), 0) : asText(view, message));
		await Promise.race([sleep(POLL_MS), asked]);
	}
	return 0;
}

/** What is in an inbox that was not there before. */
async function newsOf(view: InboxView, seen: Map<string, Seen>): Promise<Message[]> {
	const {path} = view.inbox;
	const stamp = view.inbox.stamp();
	const {stamp: before, ids = new Set<string>()} = seen.get(path) ?? {};
	if (seen.has(path) && before === stamp) return [];
	const {messages, problem} = await lookInto(view);
	// What cannot be read at present still has what was in it.
	seen.set(path, {stamp, ids: problem === undefined ? new Set(messages.map(({id}) => id)) : ids});
	if (problem !== undefined) await tell(problem);
	return messages.filter(({id}) => !ids.has(id));
}
