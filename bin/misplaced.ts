import {BridgeError} from '../lib/errors.js';
import type {Flags, Invocation} from './flags.js';

/** Where a flag means something: `front` is bridge without a command, `child` and `url` what it is in front of there. */
type Place = 'front' | 'child' | 'url' | 'gateway' | 'hub' | 'versions' | 'config' | 'raw' | 'decode';

type Rule = {
	readonly flag: string;
	readonly isGiven: (flags: Flags) => boolean;
	readonly places: readonly Place[];
	readonly remedy: string;
};

const rules: readonly Rule[] = [
	{
		flag: '--url',
		isGiven: ({url}) => url !== undefined,
		places: ['url', 'versions'],
		remedy: 'Name the server in the configuration, with its url; or leave the command out: bridge --url URL',
	},
	{
		flag: '--header',
		isGiven: ({headers}) => Object.keys(headers).length > 0,
		places: ['url', 'versions'],
		remedy: 'It goes with --url URL; in a configuration, headers are a key of each server.',
	},
	{
		flag: '--env',
		isGiven: ({env}) => Object.keys(env).length > 0,
		places: ['child', 'versions'],
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
	{
		flag: '--mcp-port',
		isGiven: ({mcpPort}) => mcpPort !== undefined,
		places: ['raw'],
		remedy: 'It belongs to bridge raw: see bridge raw --help.',
	},
	{
		flag: '--conn',
		isGiven: ({conn}) => conn !== undefined,
		places: ['decode'],
		remedy: 'It belongs to bridge decode: see bridge decode --help.',
	},
	{
		flag: '--from or --to',
		isGiven: ({direction}) => direction !== undefined,
		places: ['decode'],
		remedy: 'They belong to bridge decode: see bridge decode --help.',
	},
];

const places: readonly string[] = ['gateway', 'hub', 'versions', 'config', 'raw', 'decode'];

/** Refuses flags that would be without any effect: who gives one expects something of it. */
export function refuseMisplaced({words: [command], server, flags}: Invocation): void {
	if (command !== undefined && !places.includes(command)) return;
	const front = flags.url && !server ? 'url' : server ? 'child' : 'front';
	const place = (command ?? front) as Place;
	// Two servers are told of as such.
	const isTwice = command === undefined && server !== undefined && flags.url !== undefined;
	const rule = rules.find(({isGiven, places}) => !places.includes(place) && isGiven(flags));
	if (!rule || isTwice) return;
	throw new BridgeError('ERR_CONFIG_INVALID', `${rule.flag} has no meaning here.`, rule.remedy);
}
