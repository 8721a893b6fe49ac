import {writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {Address} from '../atm/names.js';
import type {JsonObject} from '../protocol/json.js';
import {inTurn} from '../store/in-turn.js';
import {makeFolder} from '../store/make-folder.js';
import {contentOf, hasId, latestRecords, withEntry, withMarks} from './inbox-text.js';
import {Reader} from './message.js';
import {isLegacy, type Letter, type RecordOptions, recordOf} from './outgoing.js';
import {inboxPath, teamFolder} from './paths.js';
import {SharedFile} from './shared-file.js';
import type {InboxContent, InboxFormat, Message} from './types.js';

const EMPTY: InboxContent = {messages: [], skipped: 0};
/** A program that had read the inbox before, and locks otherwise, writes it back within this. */
const SETTLED_MS = 20;
const ADDS = 3;

/** Who writes, and to whom. */
export type Delivery = Omit<RecordOptions, 'isLegacy'> & {
	readonly format: InboxFormat;
	/** Whether Claude Code runs the one who reads it. */
	readonly isClaude: boolean;
};

/** The inbox of one agent. */
export class Inbox {
	readonly #file: SharedFile;

	/** `claude` is Claude Code's folder. Refuses names that cannot be part of a path. */
	constructor(claude: string, {agent, team}: Address) {
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
		return this.#file.read(bytes => (bytes === undefined ? EMPTY : contentOf(bytes)));
	}

	/** What nobody has read, in the order of the file. */
	async unread(): Promise<Message[]> {
		return (await this.read()).messages.filter(({isRead}) => !isRead);
	}

	/** Resolves when all that this process is about to change in it is changed. */
	settled(): Promise<void> {
		return inTurn(`changes of ${this.path}`, async () => {});
	}

	/** Makes an empty one where there is none. */
	async create(): Promise<void> {
		await makeFolder(dirname(this.path));
		await writeFile(this.path, '[]', {flag: 'wx', mode: 0o600}).catch((error: NodeJS.ErrnoException) => {
			if (error.code !== 'EEXIST') throw error;
		});
	}

	/** Writes a letter into it, in the form that its owner reads. Returns the message's id once it is there for good. */
	async deliver(letter: Letter, {format, isClaude, ...rest}: Delivery): Promise<string> {
		const [legacy, native] = [true, false].map(is => recordOf(letter, {...rest, isLegacy: is}));
		return this.#change(() =>
			this.#add(bytes => (isLegacy(format, isClaude, latestRecords(bytes)) ? legacy : native) ?? {}),
		);
	}

	/** Adds a message, which has to have an id. It is there for good when this resolves. */
	async append(record: JsonObject): Promise<void> {
		await this.#change(() => this.#add(() => record));
	}

	async #add(choose: (bytes: Buffer | undefined) => JsonObject): Promise<string> {
		let id = '';
		const addOnce = (bytes: Buffer | undefined): Buffer | undefined => {
			if (bytes !== undefined && id !== '' && hasId(bytes, id)) return;
			const record = choose(bytes);
			id = new Reader().read(record)?.id ?? '';
			return withEntry(bytes, record);
		};
		await makeFolder(dirname(this.path));
		for (let adds = 0; adds < ADDS; adds++) {
			await this.#file.edit(addOnce);
			await sleep(SETTLED_MS);
			if (await this.#file.read(bytes => hasId(bytes, id))) break;
		}
		return id;
	}

	/** Marks messages as read. Those that are not there any more, or are read already, are left alone. */
	mark(ids: Iterable<string>): Promise<void> {
		return this.#change(() => this.#setRead(ids, true));
	}

	/** Marks them as not read. */
	unmark(ids: Iterable<string>): Promise<void> {
		return this.#change(() => this.#setRead(ids, false));
	}

	/** Who asks right after this whether all is settled has to wait for it, though the file is not even looked at yet. */
	#change<T>(action: () => Promise<T>): Promise<T> {
		return inTurn(`changes of ${this.path}`, action);
	}

	async #setRead(ids: Iterable<string>, isRead: boolean): Promise<void> {
		const wanted = new Set(ids);
		if (wanted.size === 0 || this.stamp() === undefined) return;
		await this.#file.edit(bytes => bytes && withMarks(bytes, wanted, isRead));
	}
}
