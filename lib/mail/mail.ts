import {checkName, parseAddress} from '../atm/names.js';
import type {AtmConfig} from '../atm/types.js';
import {isMember} from '../atm/untrusted.js';
import {BridgeError} from '../errors.js';
import {nearest} from '../nearest.js';
import {printable, shortened} from '../printable.js';
import {Inbox} from './inbox.js';
import {checkedLetter, type Letter} from './outgoing.js';
import {readTeam} from './roster.js';
import type {InboxFormat, Member, Team} from './types.js';

export type MailOptions = {
	/** Claude Code's folder. */
	readonly claude: string;
	/** The team that addresses without one are of. */
	readonly team: string;
	readonly format: InboxFormat;
	/** Other names of agents. */
	readonly aliases?: ReadonlyMap<string, string>;
	/** The aliases that are ignored if a member has the same name. */
	readonly weakAliases?: ReadonlySet<string>;
	readonly now?: () => Date;
};

/** A message that was sent. */
export type Sent = {readonly to: string; readonly id: string};

/** What became of a message to all. */
export type Broadcast = {
	readonly team: string;
	readonly sent: readonly Sent[];
	readonly failed: ReadonlyArray<{readonly to: string; readonly reason: string}>;
};

/** So many inboxes are written at once. */
const AT_ONCE = 8;
/** So many names stand in a sentence. */
const MAX_NAMED = 50;

/** The mail of the team that is configured. */
export const mailOf = ({claude, team, inboxFormat, aliases, weakAliases}: AtmConfig): Mail =>
	new Mail({claude, team, format: inboxFormat, aliases, weakAliases});

/** The mail of a team: its inboxes, and letters into them. */
export class Mail {
	readonly #options: MailOptions;

	constructor(options: MailOptions) {
		this.#options = options;
	}

	get team(): string {
		return this.#options.team;
	}

	/** Somebody's inbox, whether there is such a somebody or not. */
	inbox(agent: string, team: string = this.team): Inbox {
		return new Inbox(this.#options.claude, {agent, team});
	}

	/** Sends a letter to `agent` or `agent@team`, who has to be on that team. */
	async send(from: string, to: string, letter: Letter): Promise<Sent> {
		const checked = checkedLetter(letter);
		const address = parseAddress(to, this.team);
		const team = await readTeam(this.#options.claude, address.team);
		const agent = this.#resolved(address.agent, team);
		const member = memberOf(agent, team);
		if (!member) throw unknownMember(agent, team);
		return this.#put(from, team, member, checked);
	}

	/** Sends a letter to all of a team but the sender. */
	async broadcast(from: string, letter: Letter, to: string = this.team): Promise<Broadcast> {
		const checked = checkedLetter(letter);
		const team = await readTeam(this.#options.claude, checkName(to, 'team'));
		const others = team.members.filter(({name}) => name !== from || team.name !== this.team);
		if (others.length === 0) throw nobody(team.name);
		const done: Array<{readonly sent: Sent} | {readonly failed: Broadcast['failed'][number]}> = [];
		for (let at = 0; at < others.length; at += AT_ONCE)
			done.push(
				...(await Promise.all(
					others.slice(at, at + AT_ONCE).map(member =>
						this.#put(from, team, member, checked).then(
							sent => ({sent}),
							error => ({failed: {to: `${member.name}@${team.name}`, reason: reasonOf(error)}}),
						),
					),
				)),
			);
		return {
			team: team.name,
			sent: done.flatMap(each => ('sent' in each ? [each.sent] : [])),
			failed: done.flatMap(each => ('failed' in each ? [each.failed] : [])),
		};
	}

	async #put(from: string, team: Team, member: Member, letter: Letter): Promise<Sent> {
		const {format, now = () => new Date()} = this.#options;
		const id = await this.inbox(member.name, team.name).deliver(letter, {
			from,
			team: this.team,
			at: now(),
			format,
			isClaude: member.isClaude,
		});
		return {to: `${member.name}@${team.name}`, id};
	}

	#resolved(agent: string, {members}: Team): string {
		const {aliases, weakAliases} = this.#options;
		const other = weakAliases?.has(agent) && isMember(agent, members) ? undefined : aliases?.get(agent);
		return other === undefined ? agent : checkName(other, 'agent');
	}
}

/** The member of this name. Names that differ only in case are the same identity. */
function memberOf(agent: string, {members}: Team): Member | undefined {
	const isSame = ({name}: Member): boolean => name.toLowerCase() === agent.toLowerCase();
	return members.find(({name}) => name === agent) ?? members.find(isSame);
}

const reasonOf = (error: unknown): string =>
	error instanceof BridgeError ? error.sentence : error instanceof Error ? error.message : String(error);

function unknownMember(agent: string, {name, members}: Team): BridgeError {
	const names = members.map(member => member.name);
	const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : '';
	const there =
		names.length === 0
			? 'It has no members'
			: `Its members are ${names.slice(0, MAX_NAMED).join(', ')}${more}`;
	return new BridgeError(
		'ERR_MAIL_ADDRESS',
		`There is nobody called ${printable(shortened(agent))} on the team ${name}. ${there}.`,
		`${nearest(agent, names)} Nothing was sent: nobody would read it.`.trim(),
		{recipient: agent, team: name, members: names.slice(0, MAX_NAMED).join(', ')},
	);
}

const nobody = (team: string): BridgeError =>
	new BridgeError(
		'ERR_MAIL_ADDRESS',
		`There is nobody else on the team ${team}.`,
		'Wait until somebody has joined, or name another team.',
		{team},
	);
