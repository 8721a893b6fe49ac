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

const POLL_MS = 500;

/** The state of an inbox at the last poll. */
type InboxSnapshot = {readonly stamp: string | undefined; readonly ids: ReadonlySet<string>};

/** Prints new messages until a stop signal. */
export async function followInboxes(
	listViews: () => Promise<InboxView[]>,
	{json}: {readonly json: boolean},
	{requested}: StopSignals,
): Promise<number> {
	const snapshots = new Map<string, InboxSnapshot>();
	let isOver = false;
	void requested.then(() => {
		isOver = true;
	});
	for (const view of await listViews()) await newMessages(view, snapshots);
	await printNotice(`Waiting for mail in ${snapshots.size} inboxes. Press Ctrl-C to stop.`);
	while (!isOver) {
		for (const view of await listViews())
			for (const message of await newMessages(view, snapshots))
				await writeText(
					process.stdout,
					json ? prettyJson(mailMessageToJson(view, message), 0) : formatMailMessage(view, message),
				);
		await Promise.race([sleep(POLL_MS), requested]);
	}
	return 0;
}

/** Returns the messages that arrived since the last poll. */
async function newMessages(view: InboxView, snapshots: Map<string, InboxSnapshot>): Promise<MailMessage[]> {
	const {path} = view.inbox;
	const stamp = view.inbox.stamp();
	const {stamp: previousStamp, ids = new Set<string>()} = snapshots.get(path) ?? {};
	if (snapshots.has(path) && previousStamp === stamp) return [];
	const {messages, problem} = await inspectInbox(view);
	// An inbox that is temporarily unreadable keeps its known messages.
	snapshots.set(path, {stamp, ids: problem === undefined ? new Set(messages.map(({id}) => id)) : ids});
	if (problem !== undefined) await printNotice(problem);
	return messages.filter(({id}) => !ids.has(id));
}
