/** Test files that take more than about five seconds of CPU each, as they start many programs. */
const slow: {readonly [folder: string]: readonly string[]} = {
	'.': ['byte-exact'],
	cli: [
		'log-files',
		'replay',
		'replay-serve',
		'threads',
		'traffic-log',
		'trust',
		'url',
		'usage',
		'versions',
		'writable-config',
	],
	codex: ['approvals', 'turns'],
	faults: [
		...['bad-server', 'child-death', 'flow-to-child', 'flow-to-client', 'giant-lines', 'leaks', 'orphans'],
		...['poisoned-tools', 'second-look', 'shutdown'],
	],
	gateway: [
		...['bodies', 'floods', 'introductions', 'load', 'pages', 'quotas', 'reload', 'session-ends', 'shared'],
		...['shutdown', 'slow-listeners', 'tokens'],
	],
	hub: ['gateway', 'hostile-programs', 'large-lists', 'limits', 'merged', 'run', 'tools'],
	'mail-turns': ['faults', 'turns'],
	mail: ['serve', 'session-token'],
	raw: ['decode', 'forwarding', 'full-buffer', 'mcp-start', 'rotation', 'usage', 'volume'],
	replay: ['logs'],
	replicas: ['http-sessions', 'stdio-sessions'],
	run: ['abuse', 'agreement', 'corpus', 'escape', 'packs', 'runner', 'values'],
	serve: [
		'conversation',
		'faults',
		'identity',
		'lifecycle',
		'looked-at',
		'proxy-core',
		'shutdown',
		'untrusted',
	],
	view: ['command'],
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
