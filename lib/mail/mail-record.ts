import {join} from 'node:path';
import {checkName} from '../atm/names.js';
import {listOf, objectOf} from '../protocol/json.js';
import {writeAtomically} from '../store/atomic-file.js';
import {makeFolder} from '../store/make-folder.js';
import {readPlainText} from '../store/read-plain.js';
import type {Trial} from './delivery.js';
import type {Inbox} from './inbox.js';

/** What has to outlive this process of how the mail of an identity is getting on. */
export type MailRecord = {
	/** Messages that are marked as read, but whose turn has not come to its end yet. */
	readonly underway: readonly string[];
	/** Messages that did not get through, by their ids. */
	readonly trials: ReadonlyMap<string, Trial>;
};

const MAX_BYTES = 2 ** 20;

const nothing: MailRecord = {underway: [], trials: new Map()};

/** `<identity>/mail.json` in the folder of a team's sessions. Whoever has the identity is the only one who writes it. */
export class MailRecordFile {
	readonly #folder: string;
	#hasContent = false;

	constructor(teamFolder: string, identity: string) {
		this.#folder = join(teamFolder, checkName(identity, 'identity'));
	}

	get path(): string {
		return join(this.#folder, 'mail.json');
	}

	/** What is in it. A file that is none says nothing. */
	async read(): Promise<MailRecord> {
		const text = await readPlainText(this.path, MAX_BYTES, {isOwn: true}).catch(() => undefined);
		if (text === undefined) return nothing;
		this.#hasContent = true;
		try {
			const {underway, trials} = objectOf(JSON.parse(text));
			return {
				underway: listOf(underway).filter(id => typeof id === 'string'),
				trials: new Map(Object.entries(objectOf(trials)).map(([id, trial]) => [id, trialOf(trial)])),
			};
		} catch {
			return nothing;
		}
	}

	/** Durable when it resolves. Where there was nothing to say and is nothing, no file is made. */
	async write({underway, trials}: MailRecord): Promise<void> {
		if (underway.length === 0 && trials.size === 0 && !this.#hasContent) return;
		await makeFolder(this.#folder);
		const written = [...trials].map(
			([id, {tries, notBefore}]) => [id, {tries, retry_at: new Date(notBefore).toISOString()}] as const,
		);
		const record = {version: 1, underway, trials: Object.fromEntries(written)};
		await writeAtomically(this.path, `${JSON.stringify(record)}\n`);
		this.#hasContent = true;
	}
}

function trialOf(value: unknown): Trial {
	const {tries, retry_at: at} = objectOf(value);
	return {tries: typeof tries === 'number' ? tries : 0, notBefore: Date.parse(String(at)) || 0};
}

/** What was under way when its process ended is unread again: nobody knows whether it came through. */
export async function comeAgain(file: MailRecordFile, inbox: Inbox): Promise<MailRecord['trials']> {
	const {underway, trials} = await file.read();
	if (underway.length === 0) return trials;
	await inbox.unmark(underway);
	const known = new Map([...underway.map(id => [id, {tries: 0, notBefore: 0}] as const), ...trials]);
	await file.write({underway: [], trials: known});
	return known;
}
