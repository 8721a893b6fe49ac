/** Test files that take more than about five seconds of CPU each, as they start many programs. */
const slow: {readonly [folder: string]: readonly string[]} = {
	checks: ['build'],
	docs: ['pages'],
	e2e: ['byte-exact', 'optimizations'],
	'e2e/cli': [
		'completion',
		'log-files',
		'replay-serve',
		'replay',
		'terminal',
		'threads',
		'traffic-log',
		'trust',
		'url',
		'usage',
		'versions',
		'writable-config',
	],
	'e2e/faults': [
		'bad-server',
		'child-death',
		'flow-to-child',
		'flow-to-client',
		'giant-lines',
		'leaks',
		'malformed-initialize',
		'orphans',
		'poisoned-tools',
		'shutdown',
		'slow-handshake',
		'unresponsive-child',
	],
	'e2e/gateway': [
		'bodies',
		'failed-handshake',
		'floods',
		'initialize-size',
		'load',
		'page-loads',
		'pages',
		'paths',
		'quotas',
		'reload',
		'renegotiation',
		'session-ends',
		'shared',
		'shutdown',
		'slow-listeners',
		'tokens',
		'unread-responses',
	],
	'e2e/hub': [
		'exact-integers',
		'gateway',
		'hostile-programs',
		'hostile-servers',
		'introspection',
		'large-lists',
		'late-upstreams',
		'limits',
		'local-packs',
		'merged',
		'run-memory',
		'run',
		'tools',
	],
	'e2e/mail-turns': ['faults', 'turns'],
	'e2e/mail': ['serve', 'session-token'],
	'e2e/raw': ['decode', 'forwarding', 'full-buffer', 'mcp-start', 'rotation', 'usage', 'volume'],
	'e2e/replicas': ['http-sessions', 'stdio-sessions'],
	'e2e/serve': [
		'approval-clock',
		'arguments',
		'client-messages',
		'dropped-turns',
		'edge-cases',
		'error-remedies',
		'faults',
		'identity',
		'lifecycle',
		'log-levels',
		'proxy-core',
		'repositories',
		'resume-flag',
		'shutdown',
		'threads-summary',
		'untrusted',
	],
	'e2e/view': ['command'],
	protocol: ['stateless.property'],
	replay: ['logs'],
	run: ['abuse', 'agreement', 'await', 'corpus', 'escape', 'run-packs', 'runner', 'tool-result'],
	runner: ['main'],
	'serve/codex': ['approvals', 'cancel', 'codex-turns'],
	soak: ['soak'],
};

/** The listed files, as sources. A test checks that each exists. */
export const slowFiles: readonly string[] = Object.entries(slow).flatMap(([folder, names]) =>
	names.map(name => `test/${folder}/${name}.test.ts`.replace('/./', '/')),
);

/** The module that is built from a test file. */
export const builtFile = (file: string): string => `dist/${file.replace(/\.ts$/, '.js')}`;

/** Tests that need neither test/peers nor root. */
const own = ['dist/test/*.test.js', 'dist/test/!(peers|system)/**/*.test.js'];

export const suites: {readonly [name: string]: readonly string[]} = {
	fast: [...own, ...slowFiles.map(file => `!${builtFile(file)}`)],
	slow: slowFiles.map(builtFile),
	own,
	peers: ['dist/test/peers/**/*.test.js'],
	system: ['dist/test/system/**/*.test.js'],
};

/** Whether test files need the packages of test/peers. */
export const needsPeers = (files: readonly string[]): boolean =>
	files.some(file => /^dist\/test\/(?:peers|system)\//.test(file));

/** Whether tests against the JSON schemas would be among them. */
export const validatesMessages = (files: readonly string[]): boolean =>
	files.some(file => own.includes(file) || file.startsWith('dist/test/protocol/'));
