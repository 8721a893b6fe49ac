import test from 'ava';
import {runBridge, server} from '../../helpers/bridge.js';

const initialize =
	'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","n":1.0}}';
const response = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","n":9007199254740993}}';
const other = '{ "jsonrpc":"2.0","id":2,"method":"tools/call","params":{"protocolVersion":"2025-06-18"}}';
const input = `${[initialize, response, other].join('\n')}\n`;

test.serial('--target-version in a filter rewrites only the version in initialize', async t => {
	const {code, stdout} = await runBridge(['--target-version', '2024-11-05'], input);
	t.is(code, 0);
	t.deepEqual(stdout, [initialize.replace('2025-06-18', '2024-11-05'), response, other]);
});

test.serial('--client-version in a filter rewrites only the version in the result of initialize', async t => {
	const {code, stdout} = await runBridge(['--client-version', '2025-03-26'], input);
	t.is(code, 0);
	t.deepEqual(stdout, [initialize, response.replace('2024-11-05', '2025-03-26'), other]);
});

/** Invalid usages, and patterns for their errors. */
const wrong: ReadonlyArray<readonly [args: readonly string[], ...patterns: RegExp[]]> = [
	[['--target-version', '2026-07-28'], /--target-version/, /2026-07-28/, /2025-11-25/],
	[['--client-version', '2026-07-28'], /--client-version/, /2026-07-28/, /2025-11-25/],
	[['--client-version', '2024-10-07'], /--client-version/, /2024-10-07/],
	[['--target-version', 'newest'], /--target-version/, /newest/, /2024-11-05/],
	[
		['--target-version', '2026-07-29', '--', ...server('puppet')],
		/--target-version/,
		/2026-07-29/,
		/2026-07-28/,
	],
	[['--client-version', '2026-07-28', '--', ...server('puppet')], /--client-version/, /2026-07-28/],
];
for (const [args, ...patterns] of wrong)
	test.serial(
		`rejects bridge ${args.slice(0, 2).join(' ')}${args.length > 2 ? ' -- …' : ''} with exit code 2`,
		async t => {
			const {code, stdout, stderr} = await runBridge(args, input);
			t.is(code, 2);
			t.deepEqual(stdout, []);
			for (const pattern of patterns) t.regex(stderr, pattern);
		},
	);

test.serial(
	'--client-version selects the version for the client, and --target-version the one for the server',
	async t => {
		const {code, stdout} = await runBridge(
			[
				'--client-version',
				'2025-03-26',
				'--target-version',
				'2024-11-05',
				'--',
				...server('speaker', '2024-11-05'),
			],
			`${initialize}\n`,
			{answers: 1},
		);
		t.is(code, 0);
		t.regex(stdout[0] ?? '', /"protocolVersion":"2025-03-26"/);
	},
);

test.serial('--target-version 2026-07-28 works with a server that has no handshake', async t => {
	const {stdout} = await runBridge(
		['--target-version', '2026-07-28', '--', ...server('speaker', '2026-07-28')],
		`${initialize}\n`,
		{answers: 1},
	);
	t.like(JSON.parse(stdout[0] ?? ''), {
		id: 1,
		result: {protocolVersion: '2025-06-18', serverInfo: {name: 'speaker'}},
	});
});
