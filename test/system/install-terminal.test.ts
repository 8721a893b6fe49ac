import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {newHome} from '../e2e/cli/home.js';
import {onTerminal} from './terminal.js';
import {need} from './tools.js';

for (const [reply, isWritten] of [
	['y', true],
	['YES', true],
	['n', false],
	['', false],
] as const)
	test(`install prompts on a terminal, and ${reply || 'an empty line'} ${isWritten ? 'writes' : 'writes nothing'}`, async t => {
		need('script', 'bsdutils');
		const {cwd, env} = newHome(t);
		const {code, out} = await onTerminal(cwd, env, 'install claude', reply);
		t.regex(out, /New file .*\.mcp\.json:\r\n\+ \{/);
		t.regex(out, isWritten ? /Written\./ : /Nothing was written\./);
		t.is(code, isWritten ? 0 : 1);
		t.is(existsSync(join(cwd, '.mcp.json')), isWritten);
		if (isWritten) t.true('bridge' in JSON.parse(readFileSync(join(cwd, '.mcp.json'), 'utf8')).mcpServers);
	});
