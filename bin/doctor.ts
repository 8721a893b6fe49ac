import process from 'node:process';
import {type Finding, findings} from '../lib/doctor/findings.js';
import {printable} from '../lib/printable.js';
import type {Invocation} from './flags.js';
import {jsonText, write} from './own-output.js';

const marks: {readonly [state in Finding['state']]: string} = {
	ok: 'ok',
	info: '--',
	warning: '!!',
	error: 'XX',
};

/** `bridge doctor`: looks at all that has to be right, and says what is not and how to mend it. */
export async function runDoctor({flags}: Invocation): Promise<number> {
	const {config, session} = flags;
	const found = await findings({
		...{env: process.env, cwd: process.cwd(), config},
		session,
		nodeVersion: process.versions.node,
	});
	const errors = found.filter(({state}) => state === 'error').length;
	const warnings = found.filter(({state}) => state === 'warning').length;
	if (flags.companion.isJson) await write(process.stdout, jsonText({ok: errors === 0, findings: found}));
	else {
		const lines = found.flatMap(({state, about, text, remedy}) => [
			`${marks[state]}  ${printable(about)}: ${printable(text)}`,
			...(remedy === undefined ? [] : [`    ${printable(remedy)}`]),
		]);
		const sum = errors + warnings === 0 ? 'All is well.' : `Errors: ${errors}. Warnings: ${warnings}.`;
		await write(process.stdout, `${lines.join('\n')}\n\n${sum}\n`);
	}
	return errors === 0 ? 0 : 1;
}
