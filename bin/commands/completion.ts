import process from 'node:process';
import {defineCommand} from '../shared/cli/command.js';
import {usageError} from '../shared/flag-values.js';
import {writeText} from '../shared/output.js';
import {completionScripts, shells} from './completion/scripts.js';

export const command = defineCommand({
	summary: 'prints a completion script for bash, zsh or fish',
	usage: [['bridge completion bash|zsh|fish']],
	details: `Load the script in your shell's startup file:
  bash    ~/.bashrc                     source <(bridge completion bash)
  zsh     ~/.zshrc, after compinit      source <(bridge completion zsh)
  fish    ~/.config/fish/config.fish    bridge completion fish | source`,
	options: {},
	maxPositionals: 1,
	firstChoices: shells,
	examples: ['source <(bridge completion bash)'],
	exitCodes: '0 printed, 2 invalid arguments',
	async run({positionals: [name]}, {commands}) {
		const shell = shells.find(known => known === name);
		if (!shell)
			throw usageError(
				name === undefined ? 'bridge completion needs a shell.' : `Unknown shell "${name}".`,
				`Write: bridge completion ${shells.join('|')}`,
			);
		await writeText(process.stdout, completionScripts[shell](await commands.all()));
		return 0;
	},
});
