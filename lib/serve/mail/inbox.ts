import {writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {makeFolder} from '../../files/make-folder.js';
import type {JsonObject} from '../../util/json.js';
import {runExclusive} from '../../util/run-exclusive.js';
import type {MailAddress} from '../names.js';
import {appendEntry, containsId, parseInbox, parseLatestRecords, setReadMarks} from './edit-inbox.js';
import {
	createInboxRecord,
	type InboxRecordOptions,
	type OutgoingMessage,
	usesLegacyFormat,
} from './outgoing-message.js';
import {MessageParser} from './parse-message.js';
import {inboxPath, teamFolder} from './paths.js';
import {SharedFile} from './shared-file.js';
import type {InboxContent, InboxFormat, MailMessage} from './types.js';

const EMPTY: InboxContent = {messages: [], skipped: 0};
/** A program that read the inbox earlier and uses other locks writes it back within this time. */
const VERIFY_DELAY_MS = 20;
const MAX_APPENDS = 3;

type InboxDeliveryOptions = Omit<InboxRecordOptions, 'isLegacy'> & {
	readonly format: InboxFormat;
	/** Whether the recipient runs in Claude Code. */
	readonly isClaude: boolean;
};

export class MailInbox {
	readonly #file: SharedFile;

	/** `claude` is the folder of Claude Code. Throws if a name cannot be part of a path. */
	constructor(claude: string, {agent, team}: MailAddress) {
		this.#file = new SharedFile(inboxPath(claude, team, agent), teamFolder(claude, team));
	}

	get path(): string {
		return this.#file.path;
	}

	stamp(): string | undefined {
		return this.#file.stamp();
	}

	/** Reads all messages. A missing inbox is empty. Rejects if the inbox cannot be parsed. */
	read(): Promise<InboxContent> {
		return this.#file.read(bytes => (bytes === undefined ? EMPTY : parseInbox(bytes)));
	}

	/** The unread messages, in the order of the file. */
	async unread(): Promise<MailMessage[]> {
		return (await this.read()).messages.filter(({isRead}) => !isRead);
	}

	/** Resolves when all queued changes of this process are written. */
	settled(): Promise<void> {
		return runExclusive(`changes of ${this.path}`, async () => {});
	}

	/** Creates an empty inbox if it does not exist. */
	async create(): Promise<void> {
		await makeFolder(dirname(this.path));
		await writeFile(this.path, '[]', {flag: 'wx', mode: 0o600}).catch((error: NodeJS.ErrnoException) => {
			if (error.code !== 'EEXIST') throw error;
		});
	}

	/** Delivers a message in the format that the recipient reads. Resolves to its id when it is durable. */
	async deliver(
		message: OutgoingMessage,
		{format, isClaude, ...rest}: InboxDeliveryOptions,
	): Promise<string> {
		const [legacy, native] = [true, false].map(usesLegacyId =>
			createInboxRecord(message, {...rest, isLegacy: usesLegacyId}),
		);
		return this.#enqueue(() =>
			this.#append(
				bytes => (usesLegacyFormat(format, isClaude, parseLatestRecords(bytes)) ? legacy : native) ?? {},
			),
		);
	}

	/** Appends a message, which must have an id. Resolves when it is durable. */
	async append(record: JsonObject): Promise<void> {
		await this.#enqueue(() => this.#append(() => record));
	}

	async #append(createRecord: (bytes: Buffer | undefined) => JsonObject): Promise<string> {
		let id = '';
		const appendOnce = (bytes: Buffer | undefined): Buffer | undefined => {
			if (bytes !== undefined && id !== '' && containsId(bytes, id)) return;
			const record = createRecord(bytes);
			id = new MessageParser().parse(record)?.id ?? '';
			return appendEntry(bytes, record);
		};
		await makeFolder(dirname(this.path));
		for (let appends = 0; appends < MAX_APPENDS; appends++) {
			await this.#file.edit(appendOnce);
			await sleep(VERIFY_DELAY_MS);
			if (await this.#file.read(bytes => containsId(bytes, id))) break;
		}
		return id;
	}

	/** Marks messages as read. Ignores ids of messages that no longer exist. */
	markRead(ids: Iterable<string>): Promise<void> {
		return this.#enqueue(() => this.#setRead(ids, true));
	}

	markUnread(ids: Iterable<string>): Promise<void> {
		return this.#enqueue(() => this.#setRead(ids, false));
	}

	/** Queues a change. A call of `settled` directly afterwards waits for it. */
	#enqueue<T>(action: () => Promise<T>): Promise<T> {
		return runExclusive(`changes of ${this.path}`, action);
	}

	async #setRead(ids: Iterable<string>, isRead: boolean): Promise<void> {
		const idSet = new Set(ids);
		if (idSet.size === 0 || this.stamp() === undefined) return;
		await this.#file.edit(bytes => bytes && setReadMarks(bytes, idSet, isRead));
	}
}
