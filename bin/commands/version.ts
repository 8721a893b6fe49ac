import process from 'node:process';
import {defineCommand} from '../shared/cli/command.js';
import {writeText} from '../shared/output.js';

export const command = defineCommand({
	summary: 'prints the version',
	usage: [['bridge version']],
	options: {},
	examples: ['bridge version'],
	exitCodes: '0 printed',
	async run(_input, {version}) {
		await writeText(process.stdout, `${version}\n`);
		return 0;
	},
});
