import process from 'node:process';
import {defineCommand} from '../cli/command.js';
import {helpOf} from '../cli/help.js';
import {unknownCommand} from '../cli/unknown-command.js';
import {write} from '../common/own-output.js';

export const command = defineCommand({
	summary: 'prints the help of bridge or of a command',
	usage: [['bridge help [COMMAND]']],
	options: {},
	maxWords: 1,
	examples: ['bridge help gateway'],
	exitCodes: '0 printed, 2 there is no such command',
	async run({words: [name]}, {commands}) {
		if (name !== undefined && !commands.names.includes(name)) throw unknownCommand(commands, name);
		await write(process.stdout, await helpOf(commands, 1, name));
		return 0;
	},
});
