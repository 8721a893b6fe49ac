import {join} from 'node:path';
import {writeAtomically} from '../../files/atomic-write.js';
import {makeFolder} from '../../files/make-folder.js';
import {readRegularTextFile} from '../../files/read-regular-file.js';
import {listOf, objectOf} from '../../util/json.js';
import {checkName} from '../names.js';
import type {DeliveryAttempts} from './delivery.js';
import type {MailInbox} from './inbox.js';

/** The delivery state of an identity that must survive this process. */
type SavedDeliveries = {
	/** Ids of messages that are marked as read although their turn has not ended. */
	readonly inProgress: readonly string[];
	/** Failed delivery attempts, by message id. */
	readonly attempts: ReadonlyMap<string, DeliveryAttempts>;
};

const MAX_BYTES = 2 ** 20;

const NO_DELIVERIES: SavedDeliveries = {inProgress: [], attempts: new Map()};

/**
 * `<identity>/mail.json` in the state folder of a team. Only the process that holds the identity writes it.
 */
export class DeliveryStateFile {
	readonly #folder: string;
	#hasContent = false;

	constructor(teamFolder: string, identity: string) {
		this.#folder = join(teamFolder, checkName(identity, 'identity'));
	}

	get path(): string {
		return join(this.#folder, 'mail.json');
	}

	/** Returns the saved state. An unreadable or invalid file counts as empty. */
	async read(): Promise<SavedDeliveries> {
		const text = await readRegularTextFile(this.path, MAX_BYTES, {isOwn: true}).catch(() => undefined);
		if (text === undefined) return NO_DELIVERIES;
		this.#hasContent = true;
		try {
			const {underway, trials} = objectOf(JSON.parse(text));
			return {
				inProgress: listOf(underway).filter(id => typeof id === 'string'),
				attempts: new Map(Object.entries(objectOf(trials)).map(([id, trial]) => [id, parseAttempts(trial)])),
			};
		} catch {
			return NO_DELIVERIES;
		}
	}

	/** Resolves when the state is durable. An empty state does not create a file. */
	async write({inProgress: underway, attempts: trials}: SavedDeliveries): Promise<void> {
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

function parseAttempts(value: unknown): DeliveryAttempts {
	const {tries, retry_at: at} = objectOf(value);
	return {tries: typeof tries === 'number' ? tries : 0, notBefore: Date.parse(String(at)) || 0};
}

/**
 * Marks the messages of interrupted turns as unread: a previous process ended before it could confirm their
 * delivery.
 */
export async function requeueInProgress(
	file: DeliveryStateFile,
	inbox: MailInbox,
): Promise<SavedDeliveries['attempts']> {
	const {inProgress, attempts} = await file.read();
	if (inProgress.length === 0) return attempts;
	await inbox.markUnread(inProgress);
	const allAttempts = new Map([
		...inProgress.map(id => [id, {tries: 0, notBefore: 0}] as const),
		...attempts,
	]);
	await file.write({inProgress: [], attempts: allAttempts});
	return allAttempts;
}
