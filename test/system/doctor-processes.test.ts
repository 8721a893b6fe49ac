import {spawn} from 'node:child_process';
import {readlinkSync} from 'node:fs';
import process from 'node:process';
import test from 'ava';
import type {DoctorFinding} from '../../lib/admin/doctor/finding.js';
import {newHome} from '../e2e/cli/home.js';

test.serial(
	'doctor lists the processes that a killed bridge left, with the command that ends them',
	async t => {
		const {run} = newHome(t);
		const namespace = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
		// A concurrent test's bridge may find and kill the orphan first.
		for (let attempt = 0; attempt < 20; attempt++) {
			const env = {...process.env, BRIDGE_OWNER: `${namespace}:4194304:5:test`};
			const orphan = spawn('sleep', ['60'], {env, stdio: 'ignore'});
			const {out} = await run('doctor', '--json');
			const wasThere = orphan.exitCode === null && orphan.signalCode === null;
			orphan.kill('SIGKILL');
			if (!wasThere) continue;
			const {findings} = JSON.parse(out) as {findings: DoctorFinding[]};
			const found = findings.find(({about}) => about === 'Processes');
			t.is(found?.state, 'warning');
			t.true(found?.text.includes(`${orphan.pid}`));
			t.regex(found?.remedy ?? '', /Stop them with: kill /);
			return;
		}
		t.fail('another bridge killed the orphan in each attempt');
	},
);
