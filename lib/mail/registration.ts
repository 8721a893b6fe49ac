import process from 'node:process';
import {BoundedMap} from '../bounded-map.js';
import {BridgeError} from '../errors.js';
import type {Log} from '../log.js';
import type {JsonObject} from '../protocol/json.js';
import {Refusal} from '../sessions/refusal.js';
import {tokenHash, tokenOf} from '../sessions/session-token.js';
import {sweepLeftovers} from '../store/atomic-file.js';
import {livenessOf, ownMark, pidOf} from '../store/owner.js';
import {Inbox} from './inbox.js';
import {inboxFolder, teamFolder} from './paths.js';
import {findTeam, membersOf, rosterFile, rosterOf, skippedEntries} from './roster.js';
import {type RosterEntry, withMembers} from './roster-text.js';
import type {Member, Team} from './types.js';

/** Somebody who joins a team. */
export type Joining = {
	readonly identity: string;
	readonly codexId: string;
	readonly cwd: string;
	readonly model: string | undefined;
};

export type RegistrationOptions = {
	/** Claude Code's folder. */
	readonly claude: string;
	readonly team: string;
	readonly log: Log;
	readonly now?: () => Date;
};

/** Identities whose entries are known to be there; those of others are looked for again. */
const MAX_FOUND = 1000;

/**
 * The entries of this process on the roster of its team. Others' are never touched.
 *
 * `isActive` is false from the beginning to the end: it means busy, and Claude Code refuses to take down a team with a
 * member that is, also when whoever said so is dead.
 */
export class Registration {
	readonly #options: RegistrationOptions;
	readonly #claude: string;
	readonly #team: string;
	/** What roster and inbox looked like when somebody was last found to be there, or that there is no team. */
	readonly #found = new BoundedMap<string, string>(MAX_FOUND);
	/** The marks of other processes that have entries for identities of this one, as far as they were reported. */
	readonly #rivals = new BoundedMap<string, string>(MAX_FOUND);
	/** Whether entries that are ignored were reported. */
	#hasWarned = false;

	constructor(options: RegistrationOptions) {
		this.#options = options;
		this.#claude = options.claude;
		this.#team = options.team;
	}

	/** Removes what bridges that are dead have left: entries, and files that they were about to write. */
	sweep(): Promise<void> {
		return this.#orTell(async () => {
			for (const folder of [teamFolder, inboxFolder])
				await sweepLeftovers(folder(this.#claude, this.#team)).catch(() => []);
			const members = (await this.#read())?.members ?? [];
			if (members.some(({mark}) => isOfDead(mark)))
				await this.#edit(entries => entries.filter(({record}) => !isOfDead(record.bridgeProcess)));
		});
	}

	/**
	 * Puts somebody on the roster, with an inbox, if there is such a team. Refused if somebody else has the name; a roster
	 * that cannot be written keeps nobody from working. Where nothing has changed since, that costs a look at two files.
	 */
	async join(joining: Joining): Promise<void> {
		const {identity} = joining;
		const inbox = new Inbox(this.#claude, {agent: identity, team: this.#team});
		const roster = rosterFile(this.#claude, this.#team).stamp();
		const looks = `${roster} ${inbox.stamp() !== undefined}`;
		if (this.#found.get(identity) === looks) return;
		await this.#orTell(async () => {
			const team = await this.#read();
			if (team) {
				const hash = tokenHash(tokenOf(joining.codexId));
				const isThere = team.members.some(
					({name, mark, token}) => name === identity && mark === ownMark() && token === hash,
				);
				if (!isThere) await this.#edit((entries, members) => this.#joined(entries, joining, members));
				await inbox.create();
			}
			this.#found.set(identity, looks);
		});
	}

	/** Takes somebody off it that was put there by this process. The inbox stays: there may be mail in it. */
	leave(identity: string): Promise<void> {
		this.#found.delete(identity);
		return this.#orTell(async () => {
			const members = (await findTeam(this.#claude, this.#team))?.members ?? [];
			if (!members.some(({name, mark}) => name === identity && mark === ownMark())) return;
			await this.#edit(entries =>
				entries.filter(({record: {name, bridgeProcess}}) => name !== identity || bridgeProcess !== ownMark()),
			);
		});
	}

	async #read(): Promise<Team | undefined> {
		const team = await findTeam(this.#claude, this.#team);
		const warning = team && !this.#hasWarned ? skippedEntries(this.#claude, team) : undefined;
		if (warning === undefined) return team;
		this.#hasWarned = true;
		this.#options.log.warn('mail.roster.malformed', warning, {team: this.#team});
		return team;
	}

	async #orTell(action: () => Promise<void>): Promise<void> {
		try {
			await action();
		} catch (error) {
			if (error instanceof Refusal) throw error;
			const reason = error instanceof BridgeError ? error.sentence : (error as Error).message;
			const sentence = `The members of the team ${this.#team} could not be brought up to date: ${reason}`;
			this.#options.log.warn('mail.roster', sentence, {team: this.#team});
		}
	}

	#joined(
		entries: readonly RosterEntry[],
		{identity, codexId, cwd, model = 'codex'}: Joining,
		members: readonly Member[],
	): ReadonlyArray<RosterEntry | JsonObject> {
		const other = members.find(({name}) => name.toLowerCase() === identity.toLowerCase());
		if (other && isSomebodyElse(other, identity)) throw taken(other, this.#team);
		if (other?.mark !== undefined && other.mark !== ownMark() && livenessOf(other.mark) === 'alive') {
			this.#warnOf(identity, other.mark);
			return entries;
		}
		const now = (this.#options.now ?? (() => new Date()))().getTime();
		const record = {
			agentId: `${identity}@${this.#team}`,
			name: identity,
			agentType: 'codex',
			model,
			joinedAt: now,
			tmuxPaneId: '',
			cwd,
			subscriptions: [],
			isActive: false,
			lastActive: now,
			externalBackendType: 'codex',
			processId: process.pid,
			bridgeProcess: ownMark(),
			bridgeToken: tokenHash(tokenOf(codexId)),
		};
		if (!other) return [...entries, record];
		// Who was put there by hand stays as it is.
		return entries.map(entry =>
			entry.record.name === identity && entry.record.bridgeProcess !== undefined
				? {...entry.record, ...record, joinedAt: entry.record.joinedAt}
				: entry,
		);
	}

	/** Two repositories without a team may use the same identity when the team is created. */
	#warnOf(identity: string, mark: string): void {
		if (this.#rivals.get(identity) === mark) return;
		this.#rivals.set(identity, mark);
		const sentence = `The entry of ${identity} on the roster of the team ${this.#team} belongs to another bridge serve (process ${pidOf(mark)}), and is not replaced. Close one of the two sessions, or use another identity.`;
		this.#options.log.warn('mail.roster.taken', sentence, {identity, team: this.#team});
	}

	async #edit(
		change: (
			entries: readonly RosterEntry[],
			members: readonly Member[],
		) => ReadonlyArray<RosterEntry | JsonObject>,
	): Promise<void> {
		const file = rosterFile(this.#claude, this.#team);
		await file.edit(
			bytes => bytes && withMembers(bytes, file.path, entries => change(entries, membersOf(rosterOf(bytes)))),
		);
	}
}

const isOfDead = (mark: unknown): boolean => typeof mark === 'string' && livenessOf(mark) === 'dead';

/** Whether mail for this name is somebody's who is there, or may come back. An idle teammate is not busy, but there. */
const isSomebodyElse = ({name, mark, isClaude, isActive}: Member, identity: string): boolean =>
	name !== identity || (mark === undefined && (isClaude || isActive));

const taken = ({name, isLead, isClaude}: Member, team: string): Refusal => {
	const who = isLead ? 'the lead' : isClaude ? 'a teammate in Claude Code' : 'another agent';
	return new Refusal(
		'identity_conflict',
		`The name ${name} belongs to ${who} of the team ${team}, so mail would reach the wrong one. Name another identity.`,
		{identity: name, team},
	);
};
