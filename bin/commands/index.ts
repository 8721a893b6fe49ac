import type {CliCommand, CommandMode, CommandRegistry, ListedCommand} from '../shared/cli/command.js';

type Load = () => Promise<{readonly command: CliCommand}>;

/** The named commands, by their heading in the help. */
const groups: {readonly [heading: string]: {readonly [name: string]: Load}} = {
	'Many servers': {
		gateway: () => import('./gateway.js'),
		hub: () => import('./hub.js'),
		versions: () => import('./versions.js'),
	},
	Traffic: {
		view: () => import('./view.js'),
		replay: () => import('./replay.js'),
		raw: () => import('./raw.js'),
		decode: () => import('./decode.js'),
	},
	Setup: {
		install: () => import('./install.js'),
		import: () => import('./import.js'),
		trust: () => import('./trust.js'),
		config: () => import('./config.js'),
		doctor: () => import('./doctor.js'),
		completion: () => import('./completion.js'),
		help: () => import('./help.js'),
		version: () => import('./version.js'),
	},
	'Codex sessions and mail': {
		serve: () => import('./serve.js'),
		threads: () => import('./threads.js'),
		summary: () => import('./summary.js'),
		mail: () => import('./mail.js'),
		'atm-tools': () => import('./atm-tools.js'),
	},
};

const namedCommands = new Map(
	Object.entries(groups).flatMap(([group, commands]) =>
		Object.entries(commands).map(([name, load]) => [name, {group, load}] as const),
	),
);

/** The modes of `bridge` without a command name. */
const modes = {
	wrap: {title: 'bridge -- COMMAND', load: () => import('./wrap.js')},
	url: {title: 'bridge --url', load: () => import('./url.js')},
	filter: {title: 'a filter (… | bridge)', load: () => import('./filter.js')},
} satisfies {readonly [mode in CommandMode]: {readonly title: string; readonly load: Load}};

const namedCommand = async (
	name: string,
	{group, load}: {group: string; load: Load},
): Promise<ListedCommand> => ({
	name,
	group,
	title: `bridge ${name}`,
	command: (await load()).command,
});

const findMode = async (mode: CommandMode): Promise<ListedCommand> => ({
	name: mode,
	group: undefined,
	title: modes[mode].title,
	command: (await modes[mode].load()).command,
});

export const commands: CommandRegistry = {
	names: [...namedCommands.keys()],
	async find(name) {
		const found = namedCommands.get(name);
		return found && namedCommand(name, found);
	},
	findMode,
	all: () =>
		Promise.all([
			...(['wrap', 'url', 'filter'] as const).map(findMode),
			...[...namedCommands].map(([name, found]) => namedCommand(name, found)),
		]),
};
