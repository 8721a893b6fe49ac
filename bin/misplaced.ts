import {BridgeError} from '../lib/errors.js';
import type {Flags, Invocation} from './flags.js';
import {replayFlagNames} from './replay-flags.js';
import {type SessionFlags, sessionOptions} from './session-flags.js';

/** Where a flag means something: `front` is bridge without a command, `child` and `url` what it is in front of there. */
type Place = 'front' | 'child' | 'url' | (typeof places)[number];

const places = [
	...(['gateway', 'hub', 'serve', 'versions', 'config', 'raw', 'decode', 'replay', 'view'] as const),
	...(['threads', 'summary', 'install', 'doctor', 'trust', 'mail', 'atm-tools'] as const),
] as const;

type Rule = {
	readonly flag: string;
	readonly isGiven: (flags: Flags) => boolean;
	readonly places: readonly Place[];
	readonly remedy: string;
};

/** A flag that belongs to some commands alone. */
const only = (flag: string, places: readonly Place[], isGiven: Rule['isGiven']): Rule => {
	const remedy = `It belongs to bridge ${places.join(', ')}: see bridge ${places[0]} --help.`;
	return {flag, places, isGiven, remedy};
};

/** Where it matters which sessions are meant. */
const ofSessions: readonly Place[] = [
	...(['serve', 'threads', 'summary', 'config', 'install', 'doctor', 'mail', 'atm-tools'] as const),
];

const sessionRules: readonly Rule[] = [
	...sessionOptions.map(name =>
		only(`--${name}`, ofSessions, ({session}) => session[camel(name)] !== undefined),
	),
	only('--fast', ofSessions, ({session}) => session.isFast === true),
	only('--trust', ofSessions, ({session}) => session.isTrusted === true),
	only('--repo', ['threads'], ({companion}) => companion.repo !== undefined),
	only('--prune', ['threads'], ({companion}) => companion.isPruning),
	only('--json', ['threads', 'summary', 'config', 'doctor', 'mail'], ({companion}) => companion.isJson),
	only('--follow', ['mail'], ({companion}) => companion.isFollowing),
	only('--list', ['trust'], ({companion}) => companion.isListing),
	only('--remove', ['trust'], ({companion}) => companion.isRemoving),
	only('--yes', ['install'], ({companion}) => companion.isYes),
	only('--user', ['install'], ({companion}) => companion.isForUser),
];

const replayRules: readonly Rule[] = replayFlagNames.map(([name, isGiven]) =>
	only(`--${name}`, ['replay'], ({replay}) => isGiven(replay)),
);

const rules: readonly Rule[] = [
	...sessionRules,
	...replayRules,
	{
		flag: '--url',
		isGiven: ({url}) => url !== undefined,
		places: ['url', 'versions', 'install', 'replay'],
		remedy: 'Name the server in the configuration, with its url; or leave the command out: bridge --url URL',
	},
	{
		flag: '--header',
		isGiven: ({headers}) => Object.keys(headers).length > 0,
		places: ['url', 'versions', 'replay', 'view'],
		remedy: 'It goes with --url URL; in a configuration, headers are a key of each server.',
	},
	{
		flag: '--env',
		isGiven: ({env}) => Object.keys(env).length > 0,
		places: ['child', 'versions', 'serve', 'replay'],
		remedy:
			'It is for a server that bridge starts: bridge --env NAME -- COMMAND; in a configuration, env is a key.',
	},
	{
		flag: '--print-client',
		isGiven: ({printClient}) => printClient !== undefined,
		places: ['gateway', 'hub'],
		remedy: 'Write: bridge gateway --print-client CLIENT',
	},
	{
		flag: '--check',
		isGiven: ({check}) => check !== undefined,
		places: ['config'],
		remedy: 'Write: bridge config --check FILE',
	},
	only('--live', ['view'], ({live}) => live !== undefined),
	only('--port', ['view'], flags => flags.port !== undefined),
	only('--mcp-port', ['raw'], ({mcpPort}) => mcpPort !== undefined),
	only('--mcp-token', ['raw'], ({mcpToken}) => mcpToken !== undefined),
	only('--log-root', ['raw'], ({logRoot}) => logRoot !== undefined),
	only('--conn', ['decode', 'replay'], ({conn}) => conn !== undefined),
	{
		flag: '--from or --to',
		isGiven: ({direction}) => direction !== undefined,
		places: ['decode'],
		remedy: 'They belong to bridge decode: see bridge decode --help.',
	},
];

/** Refuses flags that would be without any effect: who gives one expects something of it. */
export function refuseMisplaced({words: [command], server, flags}: Invocation): void {
	if (command !== undefined && !places.some(known => known === command)) return;
	const front = flags.url && !server ? 'url' : server ? 'child' : 'front';
	const place = (command ?? front) as Place;
	// Two servers are told of as such.
	const isTwice = command === undefined && server !== undefined && flags.url !== undefined;
	const rule = rules.find(({isGiven, places}) => !places.includes(place) && isGiven(flags));
	if (!rule || isTwice) return;
	throw new BridgeError('ERR_CONFIG_INVALID', `${rule.flag} has no meaning here.`, rule.remedy);
}

/** The name of a flag's value. */
const camel = (name: (typeof sessionOptions)[number]): keyof SessionFlags =>
	name === 'approval-policy' ? 'approvalPolicy' : name;
