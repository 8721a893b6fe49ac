import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {
	formatMailMessage,
	type InboxView,
	inspectInbox,
	mailMessageToJson,
} from '../../../lib/serve/mail/inspect-inboxes.js';
import type {MailMessage} from '../../../lib/serve/mail/types.js';
import {prettyJson, printNotice, writeText} from '../../shared/output.js';
import type {StopSignals} from '../../shared/stop-signals.js';

/** How often it looks. */
const POLL_MS = 500;

/** What an inbox was when it was last looked into. */
type InboxSnapshot = {readonly stamp: string | undefined; readonly ids: ReadonlySet<string>};

/** Shows what arrives from now on, until it is told to stop. */
export async function followInboxes(
	viewsNow: () => Promise<InboxView[]>,
	{json}: {readonly json: boolean},
	{requested}: StopSignals,
): Promise<number> {
	const snapshots = new Map<string, InboxSnapshot>();
	let isOver = false;
	void requested.then(() => {
		isOver = true;
	});
	for (const view of await viewsNow()) await newMessages(view, snapshots);
	await printNotice(`Waiting for mail in ${snapshots.size} inboxes; Ctrl-C ends it.`);
	while (!isOver) {
		for (const view of await viewsNow())
			for (const message of await newMessages(view, snapshots))
				await writeText(
					process.stdout,
					json ? prettyJson(mailMessageToJson(view, message), 0) : formatMailMessage(view, message),
				);
		await Promise.race([sleep(POLL_MS), requested]);
	}
	return 0;
}

/** What is in an inbox that was not there before. */
async function newMessages(view: InboxView, snapshots: Map<string, InboxSnapshot>): Promise<MailMessage[]> {
	const {path} = view.inbox;
	const stamp = view.inbox.stamp();
	const {stamp: previousStamp, ids = new Set<string>()} = snapshots.get(path) ?? {};
	if (snapshots.has(path) && previousStamp === stamp) return [];
	const {messages, problem} = await inspectInbox(view);
	// What cannot be read at present still has what was in it.
	snapshots.set(path, {stamp, ids: problem === undefined ? new Set(messages.map(({id}) => id)) : ids});
	if (problem !== undefined) await printNotice(problem);
	return messages.filter(({id}) => !ids.has(id));
}
