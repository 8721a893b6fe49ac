// Test files that take more than about five seconds of CPU each: half of the time of all, in a sixth of the files.
// `npm run test:fast` leaves them out.
const slow = {
	'': ['byte-exact'],
	cli: ['replay', 'replay-serve', 'threads', 'traffic-log', 'url', 'usage', 'versions'],
	codex: ['approvals', 'turns'],
	faults: ['bad-server', 'child-death', 'flow-to-child', 'flow-to-client', 'giant-lines', 'leaks', 'orphans', 'poisoned-tools', 'second-look', 'shutdown'],
	gateway: ['bodies', 'floods', 'load', 'pages', 'reload', 'session-ends', 'shared', 'shutdown', 'slow-listeners', 'tokens'],
	hub: ['gateway', 'limits', 'merged', 'run', 'tools'],
	'mail-turns': ['faults', 'turns'],
	mail: ['serve'],
	protocol: ['modern-input.property', 'modern.property', 'schema', 'translate.property'],
	raw: ['decode', 'forwarding', 'full-buffer', 'mcp-start', 'rotation', 'usage', 'volume'],
	replay: ['logs'],
	replicas: ['http-sessions', 'stdio-sessions'],
	run: ['abuse', 'agreement', 'corpus', 'escape', 'packs', 'runner', 'values'],
	serve: ['conversation', 'faults', 'identity', 'lifecycle', 'looked-at', 'proxy-core', 'shutdown'],
	view: ['command'],
};

export const slowFiles = Object.entries(slow).flatMap(([folder, names]) =>
	names.map(name => `dist/test/${folder}/${name}.test.js`.replace('//', '/')),
);
