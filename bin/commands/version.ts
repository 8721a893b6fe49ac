import process from 'node:process';
import {defineCommand} from '../cli/command.js';
import {write} from '../common/own-output.js';

export const command = defineCommand({
	summary: 'prints the version',
	usage: [['bridge version']],
	options: {},
	examples: ['bridge version'],
	exitCodes: '0 printed',
	async run(_input, {version}) {
		await write(process.stdout, `${version}\n`);
		return 0;
	},
});
