import {BridgeError} from '../../core/errors.js';
import {didYouMean} from '../../util/did-you-mean.js';
import {printable, shortened} from '../../util/printable.js';
import type {ServeConfig} from '../config/types.js';
import {isTeamMember} from '../config/untrusted-settings.js';
import {checkName, parseMailAddress} from '../names.js';
import {MailInbox} from './inbox.js';
import {checkOutgoingMessage, type OutgoingMessage} from './outgoing-message.js';
import {readTeam} from './roster.js';
import type {InboxFormat, MailTeam, TeamMember} from './types.js';

type MailOptions = {
	/** The folder of Claude Code. */
	readonly claude: string;
	/** The default team of addresses. */
	readonly team: string;
	readonly format: InboxFormat;
	readonly aliases?: ReadonlyMap<string, string>;
	/** Aliases that are ignored if a member has the same name. */
	readonly weakAliases?: ReadonlySet<string>;
	readonly now?: () => Date;
};

type SentMail = {readonly to: string; readonly id: string};

type BroadcastResult = {
	readonly team: string;
	readonly sent: readonly SentMail[];
	readonly failed: ReadonlyArray<{readonly to: string; readonly reason: string}>;
};

/** Limit on inboxes that are written concurrently. */
const MAX_CONCURRENT = 8;
/** Limit on names in an error message. */
const MAX_LISTED = 50;

export const createMail = ({claude, team, inboxFormat, aliases, weakAliases}: ServeConfig): Mail =>
	new Mail({claude, team, format: inboxFormat, aliases, weakAliases});

/** The mail of a team. Sends messages and opens inboxes. */
export class Mail {
	readonly #options: MailOptions;

	constructor(options: MailOptions) {
		this.#options = options;
	}

	get team(): string {
		return this.#options.team;
	}

	/** The inbox of an agent, which does not have to exist. */
	inbox(agent: string, team: string = this.team): MailInbox {
		return new MailInbox(this.#options.claude, {agent, team});
	}

	/** Sends a message to `agent` or `agent@team`. The recipient must be a member of the team. */
	async send(from: string, to: string, message: OutgoingMessage): Promise<SentMail> {
		const checked = checkOutgoingMessage(message);
		const address = parseMailAddress(to, this.team);
		const team = await readTeam(this.#options.claude, address.team);
		const agent = this.#resolveAlias(address.agent, team);
		const member = findMember(agent, team);
		if (!member) throw unknownMemberError(agent, team);
		return this.#deliver(from, team, member, checked);
	}

	/** Sends a message to all members of a team except the sender. */
	async broadcast(from: string, message: OutgoingMessage, to: string = this.team): Promise<BroadcastResult> {
		const checked = checkOutgoingMessage(message);
		const team = await readTeam(this.#options.claude, checkName(to, 'team'));
		const others = team.members.filter(({name}) => name !== from || team.name !== this.team);
		if (others.length === 0) throw noRecipientsError(team.name);
		const results: Array<{readonly sent: SentMail} | {readonly failed: BroadcastResult['failed'][number]}> =
			[];
		for (let at = 0; at < others.length; at += MAX_CONCURRENT)
			results.push(
				...(await Promise.all(
					others.slice(at, at + MAX_CONCURRENT).map(member =>
						this.#deliver(from, team, member, checked).then(
							sent => ({sent}),
							error => ({failed: {to: `${member.name}@${team.name}`, reason: errorReason(error)}}),
						),
					),
				)),
			);
		return {
			team: team.name,
			sent: results.flatMap(each => ('sent' in each ? [each.sent] : [])),
			failed: results.flatMap(each => ('failed' in each ? [each.failed] : [])),
		};
	}

	async #deliver(
		from: string,
		team: MailTeam,
		member: TeamMember,
		message: OutgoingMessage,
	): Promise<SentMail> {
		const {format, now = () => new Date()} = this.#options;
		const id = await this.inbox(member.name, team.name).deliver(message, {
			from,
			team: this.team,
			at: now(),
			format,
			isClaude: member.isClaude,
		});
		return {to: `${member.name}@${team.name}`, id};
	}

	#resolveAlias(agent: string, {members}: MailTeam): string {
		const {aliases, weakAliases} = this.#options;
		const alias = weakAliases?.has(agent) && isTeamMember(agent, members) ? undefined : aliases?.get(agent);
		return alias === undefined ? agent : checkName(alias, 'agent');
	}
}

/** Finds a member by name. Names that differ only in case are the same identity. */
function findMember(agent: string, {members}: MailTeam): TeamMember | undefined {
	const isSame = ({name}: TeamMember): boolean => name.toLowerCase() === agent.toLowerCase();
	return members.find(({name}) => name === agent) ?? members.find(isSame);
}

const errorReason = (error: unknown): string =>
	error instanceof BridgeError ? error.sentence : error instanceof Error ? error.message : String(error);

function unknownMemberError(agent: string, {name, members}: MailTeam): BridgeError {
	const names = members.map(member => member.name);
	const more = names.length > MAX_LISTED ? `, and ${names.length - MAX_LISTED} more` : '';
	const memberList =
		names.length === 0
			? 'It has no members'
			: `Its members are ${names.slice(0, MAX_LISTED).join(', ')}${more}`;
	return new BridgeError(
		'ERR_MAIL_ADDRESS',
		`The team ${name} has no member ${printable(shortened(agent))}. ${memberList}.`,
		`${didYouMean(agent, names)} Nothing was sent.`.trim(),
		{recipient: agent, team: name, members: names.slice(0, MAX_LISTED).join(', ')},
	);
}

const noRecipientsError = (team: string): BridgeError =>
	new BridgeError(
		'ERR_MAIL_ADDRESS',
		`The team ${team} has no other members.`,
		'Wait until another member joins, or specify another team.',
		{team},
	);
