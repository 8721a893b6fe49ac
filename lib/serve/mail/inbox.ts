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
/** A program that had read the inbox before, and locks otherwise, writes it back within this. */
const VERIFY_DELAY_MS = 20;
const MAX_APPENDS = 3;

/** Who writes, and to whom. */
type InboxDeliveryOptions = Omit<InboxRecordOptions, 'isLegacy'> & {
	readonly format: InboxFormat;
	/** Whether Claude Code runs the one who reads it. */
	readonly isClaude: boolean;
};

/** The inbox of one agent. */
export class MailInbox {
	readonly #file: SharedFile;

	/** `claude` is Claude Code's folder. Refuses names that cannot be part of a path. */
	constructor(claude: string, {agent, team}: MailAddress) {
		this.#file = new SharedFile(inboxPath(claude, team, agent), teamFolder(claude, team));
	}

	get path(): string {
		return this.#file.path;
	}

	/** Changes whenever the file does; undefined where there is none. It costs one look at the folder. */
	stamp(): string | undefined {
		return this.#file.stamp();
	}

	/** All that is in it; an inbox that nobody has made yet is empty. Throws where it cannot be understood. */
	read(): Promise<InboxContent> {
		return this.#file.read(bytes => (bytes === undefined ? EMPTY : parseInbox(bytes)));
	}

	/** What nobody has read, in the order of the file. */
	async unread(): Promise<MailMessage[]> {
		return (await this.read()).messages.filter(({isRead}) => !isRead);
	}

	/** Resolves when all that this process is about to change in it is changed. */
	settled(): Promise<void> {
		return runExclusive(`changes of ${this.path}`, async () => {});
	}

	/** Makes an empty one where there is none. */
	async create(): Promise<void> {
		await makeFolder(dirname(this.path));
		await writeFile(this.path, '[]', {flag: 'wx', mode: 0o600}).catch((error: NodeJS.ErrnoException) => {
			if (error.code !== 'EEXIST') throw error;
		});
	}

	/** Writes a letter into it, in the form that its owner reads. Returns the message's id once it is there for good. */
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

	/** Adds a message, which has to have an id. It is there for good when this resolves. */
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

	/** Marks messages as read. Those that are not there any more, or are read already, are left alone. */
	markRead(ids: Iterable<string>): Promise<void> {
		return this.#enqueue(() => this.#setRead(ids, true));
	}

	/** Marks them as not read. */
	markUnread(ids: Iterable<string>): Promise<void> {
		return this.#enqueue(() => this.#setRead(ids, false));
	}

	/** Who asks right after this whether all is settled has to wait for it, though the file is not even looked at yet. */
	#enqueue<T>(action: () => Promise<T>): Promise<T> {
		return runExclusive(`changes of ${this.path}`, action);
	}

	async #setRead(ids: Iterable<string>, isRead: boolean): Promise<void> {
		const wanted = new Set(ids);
		if (wanted.size === 0 || this.stamp() === undefined) return;
		await this.#file.edit(bytes => bytes && setReadMarks(bytes, wanted, isRead));
	}
}
