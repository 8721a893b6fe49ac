import process from 'node:process';
import {defineCommand} from '../shared/cli/command.js';
import {helpText} from '../shared/cli/help.js';
import {unknownCommandError} from '../shared/cli/unknown-command.js';
import {writeText} from '../shared/output.js';

export const command = defineCommand({
	summary: 'prints the help of bridge or of a command',
	usage: [['bridge help [COMMAND]']],
	options: {},
	maxPositionals: 1,
	examples: ['bridge help gateway'],
	exitCodes: '0 printed, 2 there is no such command',
	async run({positionals: [name]}, {commands}) {
		if (name !== undefined && !commands.names.includes(name)) throw unknownCommandError(commands, name);
		await writeText(process.stdout, await helpText(commands, 1, name));
		return 0;
	},
});
