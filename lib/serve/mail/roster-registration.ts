import process from 'node:process';
import {BridgeError} from '../../core/errors.js';
import type {Log} from '../../core/log.js';
import {removeStaleTempFiles} from '../../files/atomic-write.js';
import {livenessOf, ownProcessIdentity, pidOfIdentity} from '../../files/process-identity.js';
import {BoundedMap} from '../../util/bounded-map.js';
import type {JsonObject} from '../../util/json.js';
import {hashSessionToken, sessionToken} from '../sessions/session-token.js';
import {ToolError} from '../sessions/tool-error.js';
import {type RosterEntry, replaceMembers} from './edit-roster.js';
import {MailInbox} from './inbox.js';
import {inboxFolder, teamFolder} from './paths.js';
import {findTeam, parseMembers, parseRoster, rosterFile, skippedEntriesWarning} from './roster.js';
import type {MailTeam, TeamMember} from './types.js';

type JoiningSession = {
	readonly identity: string;
	readonly codexId: string;
	readonly cwd: string;
	readonly model: string | undefined;
};

type RosterRegistrationOptions = {
	/** The folder of Claude Code. */
	readonly claude: string;
	readonly team: string;
	readonly log: Log;
	readonly now?: () => Date;
};

const MAX_IDENTITIES = 1000;

/**
 * Maintains the entries of this process on the roster of its team. Other entries are never changed.
 *
 * `isActive` is always false. It means busy, and Claude Code cannot delete a team with a busy member, even if
 * the process of that member has exited.
 */
export class RosterRegistration {
	readonly #options: RosterRegistrationOptions;
	readonly #claude: string;
	readonly #team: string;
	/** The stamps of roster and inbox at the last successful check, by identity. */
	readonly #verifiedStamps = new BoundedMap<string, string>(MAX_IDENTITIES);
	/** Reported conflicts: the mark of the other process, by identity. */
	readonly #reportedConflicts = new BoundedMap<string, string>(MAX_IDENTITIES);
	#hasWarned = false;

	constructor(options: RosterRegistrationOptions) {
		this.#options = options;
		this.#claude = options.claude;
		this.#team = options.team;
	}

	/** Removes entries and temporary files of bridge processes that have exited. */
	sweep(): Promise<void> {
		return this.#warnOnError(async () => {
			for (const folder of [teamFolder, inboxFolder])
				await removeStaleTempFiles(folder(this.#claude, this.#team)).catch(() => []);
			const members = (await this.#read())?.members ?? [];
			if (members.some(({mark}) => isOfDeadProcess(mark)))
				await this.#edit(entries => entries.filter(({record}) => !isOfDeadProcess(record.bridgeProcess)));
		});
	}

	/**
	 * Adds a session to the roster and creates its inbox, if the team exists. Rejects if another member has the
	 * name. If the roster cannot be written, logs a warning and the session works without it. Costs two `stat`
	 * calls if the files have not changed.
	 */
	async join(session: JoiningSession): Promise<void> {
		const {identity} = session;
		const inbox = new MailInbox(this.#claude, {agent: identity, team: this.#team});
		const roster = rosterFile(this.#claude, this.#team).stamp();
		const stamps = `${roster} ${inbox.stamp() !== undefined}`;
		if (this.#verifiedStamps.get(identity) === stamps) return;
		await this.#warnOnError(async () => {
			const team = await this.#read();
			if (team) {
				const expectedHash = hashSessionToken(sessionToken(session.codexId));
				const isRegistered = team.members.some(
					({name, mark, hashedToken}) =>
						name === identity && mark === ownProcessIdentity() && hashedToken === expectedHash,
				);
				if (!isRegistered)
					await this.#edit((entries, members) => this.#withRecord(entries, session, members));
				await inbox.create();
			}
			this.#verifiedStamps.set(identity, stamps);
		});
	}

	/** Removes the entry of this process for an identity. Keeps the inbox, which may contain mail. */
	leave(identity: string): Promise<void> {
		this.#verifiedStamps.delete(identity);
		return this.#warnOnError(async () => {
			const members = (await findTeam(this.#claude, this.#team))?.members ?? [];
			if (!members.some(({name, mark}) => name === identity && mark === ownProcessIdentity())) return;
			await this.#edit(entries =>
				entries.filter(
					({record: {name, bridgeProcess}}) => name !== identity || bridgeProcess !== ownProcessIdentity(),
				),
			);
		});
	}

	async #read(): Promise<MailTeam | undefined> {
		const team = await findTeam(this.#claude, this.#team);
		const warning = team && !this.#hasWarned ? skippedEntriesWarning(this.#claude, team) : undefined;
		if (warning === undefined) return team;
		this.#hasWarned = true;
		this.#options.log.warn('mail.roster.malformed', warning, {team: this.#team});
		return team;
	}

	async #warnOnError(action: () => Promise<void>): Promise<void> {
		try {
			await action();
		} catch (error) {
			if (error instanceof ToolError) throw error;
			const reason = error instanceof BridgeError ? error.sentence : (error as Error).message;
			const warning = `The roster of the team ${this.#team} could not be updated: ${reason}`;
			this.#options.log.warn('mail.roster', warning, {team: this.#team});
		}
	}

	#withRecord(
		entries: readonly RosterEntry[],
		{identity, codexId, cwd, model = 'codex'}: JoiningSession,
		members: readonly TeamMember[],
	): ReadonlyArray<RosterEntry | JsonObject> {
		const existing = members.find(({name}) => name.toLowerCase() === identity.toLowerCase());
		if (existing && isTakenByOther(existing, identity)) throw nameTakenError(existing, this.#team);
		if (
			existing?.mark !== undefined &&
			existing.mark !== ownProcessIdentity() &&
			livenessOf(existing.mark) === 'alive'
		) {
			this.#warnOfConflict(identity, existing.mark);
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
			bridgeProcess: ownProcessIdentity(),
			bridgeToken: hashSessionToken(sessionToken(codexId)),
		};
		if (!existing) return [...entries, record];
		// Entries that bridge did not write stay unchanged.
		return entries.map(entry =>
			entry.record.name === identity && entry.record.bridgeProcess !== undefined
				? {...entry.record, ...record, joinedAt: entry.record.joinedAt}
				: entry,
		);
	}

	/**
	 * Reports that another process has the entry. Two repositories may already use the same identity when the
	 * team is created.
	 */
	#warnOfConflict(identity: string, mark: string): void {
		if (this.#reportedConflicts.get(identity) === mark) return;
		this.#reportedConflicts.set(identity, mark);
		const warning = `The entry of ${identity} on the roster of the team ${this.#team} belongs to another bridge serve (process ${pidOfIdentity(mark)}) and was not replaced. Close one of the two sessions, or use another identity.`;
		this.#options.log.warn('mail.roster.taken', warning, {identity, team: this.#team});
	}

	async #edit(
		change: (
			entries: readonly RosterEntry[],
			members: readonly TeamMember[],
		) => ReadonlyArray<RosterEntry | JsonObject>,
	): Promise<void> {
		const file = rosterFile(this.#claude, this.#team);
		await file.edit(
			bytes =>
				bytes &&
				replaceMembers(bytes, file.path, entries => change(entries, parseMembers(parseRoster(bytes)))),
		);
	}
}

const isOfDeadProcess = (mark: unknown): boolean => typeof mark === 'string' && livenessOf(mark) === 'dead';

/**
 * Whether another agent reads the mail for this name. An idle teammate in Claude Code also reads its mail.
 */
const isTakenByOther = ({name, mark, isClaude, isActive}: TeamMember, identity: string): boolean =>
	name !== identity || (mark === undefined && (isClaude || isActive));

const nameTakenError = ({name, isLead, isClaude}: TeamMember, team: string): ToolError => {
	const ownerText = isLead ? 'the lead' : isClaude ? 'a teammate in Claude Code' : 'another agent';
	return new ToolError(
		'identity_conflict',
		`The name ${name} belongs to ${ownerText} of the team ${team}, so mail could reach the wrong agent. Use another identity.`,
		{identity: name, team},
	);
};
