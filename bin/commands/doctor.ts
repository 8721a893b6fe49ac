import process from 'node:process';
import {type DoctorFinding, runChecks} from '../../lib/admin/doctor/run-checks.js';
import {printable} from '../../lib/util/printable.js';
import {toAtmFlags} from '../shared/atm-config.js';
import {defineCommand} from '../shared/cli/command.js';
import type {Options, OptionValues} from '../shared/cli/option.js';
import {configFileFlag, jsonFlag, serveOptions} from '../shared/cli/options.js';
import {prettyJson, writeText} from '../shared/output.js';
import type {StopSignals} from '../shared/stop-signals.js';

const stateLabels: {readonly [state in DoctorFinding['state']]: string} = {
	ok: 'ok',
	info: '--',
	warning: '!!',
	error: 'XX',
};

const options = {...serveOptions, config: configFileFlag, json: jsonFlag} satisfies Options;

export const command = defineCommand({
	summary: 'checks the installation and each configured server, and suggests fixes',
	usage: [['bridge doctor [--config FILE] [--json]']],
	details: `It checks Node, Codex, the configuration of servers and of sessions, folders and their permissions, the registry of each team, locks
and temporary files of dead processes, leftover processes, and the port of the gateway. Each server of the
configuration is started or connected to once, up to 4 at a time and for at most 30 s each, and shown with its version, its
number of tools and the time that it took, or with the reason why it failed. Servers of an untrusted file are not started. Codex
is needed only if sessions exist or are configured. Nothing is changed.

  ok  works    --  not used here    !!  a warning    XX  an error`,
	options,
	examples: ['bridge doctor'],
	exitCodes: '0 no errors (there may be warnings), 1 errors, 2 invalid arguments',
	run: ({options}, {stop}) => runDoctor(options, stop),
});

async function runDoctor(
	{config, json, ...session}: OptionValues<typeof options>,
	stop: StopSignals,
): Promise<number> {
	const results = await runChecks({
		env: process.env,
		cwd: process.cwd(),
		config,
		session: toAtmFlags(session),
		nodeVersion: process.versions.node,
		stopped: stop.requested,
	});
	const errors = results.filter(({state}) => state === 'error').length;
	const warnings = results.filter(({state}) => state === 'warning').length;
	if (json) await writeText(process.stdout, prettyJson({ok: errors === 0, findings: results}));
	else {
		const lines = results.flatMap(({state, about, text, remedy}) => [
			`${stateLabels[state]}  ${printable(about)}: ${printable(text)}`,
			...(remedy === undefined ? [] : [`    ${printable(remedy)}`]),
		]);
		const sum = errors + warnings === 0 ? 'No problems found.' : `Errors: ${errors}. Warnings: ${warnings}.`;
		await writeText(process.stdout, `${lines.join('\n')}\n\n${sum}\n`);
	}
	return errors === 0 ? 0 : 1;
}
