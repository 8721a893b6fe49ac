import {execFile} from 'node:child_process';
import process from 'node:process';
import {promisify} from 'node:util';
import test from 'ava';
import {runBridge} from '../../helpers/bridge.js';

const scriptOf = async (shell: string): Promise<string> =>
	(await runBridge(['completion', shell])).stdout.join('\n');

/** Returns the completions of bash for the last word. */
async function completions(...words: readonly string[]): Promise<string[]> {
	const script = `${await scriptOf('bash')}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bridge; printf '%s\\n' "\${COMPREPLY[@]}"`;
	const {stdout} = await promisify(execFile)('bash', ['-c', script, 'bash', ...words], {env: process.env});
	return stdout.split('\n').filter(Boolean);
}

for (const [words, expected] of [
	[['bridge', 'ga'], ['gateway']],
	[['mcp-bridge', 'atm'], ['atm-tools']],
	[['bridge', '--targ'], ['--target-version']],
	[['bridge', '--target-version', '2024'], ['2024-11-05']],
	[
		['bridge', 'gateway', '--print-client', 'c'],
		['codex', 'claude', 'cursor'],
	],
	[['bridge', 'gateway', '--li'], ['--listen']],
	[['bridge', 'install', 'cl'], ['claude']],
	[
		['bridge', 'help', 'vers'],
		['versions', 'version'],
	],
	[
		['bridge', 'completion', ''],
		['bash', 'zsh', 'fish'],
	],
	[['bridge', 'gateway', '--config', ''], []],
	[['bridge', 'decode', '--print'], []],
] as const)
	test(`bash completes ${words.join(' ')}`, async t => {
		t.deepEqual(await completions(...words), [...expected]);
	});

test('bash completes commands after --', async t => {
	t.true((await completions('bridge', '--debug', '--', 'bas')).includes('bash'));
});

test('rejects an unsupported shell and names the supported ones', async t => {
	for (const args of [['completion'], ['completion', 'tcsh']]) {
		const {code, stderr} = await runBridge(args);
		t.is(code, 2);
		t.regex(stderr, /bridge completion bash\|zsh\|fish/);
	}
});

test('the scripts of all shells contain every command and flag', async t => {
	for (const shell of ['bash', 'zsh', 'fish']) {
		const script = await scriptOf(shell);
		for (const word of ['gateway', 'atm-tools', 'print-client', 'with-secrets', 'mcp-bridge'])
			t.true(script.includes(word), `${word} for ${shell}`);
	}
});
