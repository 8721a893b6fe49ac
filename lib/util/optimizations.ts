import process from 'node:process';

/**
 * What relies on internals of V8, Node or RxJS. The environment variable `BRIDGE_PLAIN` disables some of it:
 * `BRIDGE_PLAIN=subscribers,slot-map`, or `BRIDGE_PLAIN=all`.
 */
type Optimization =
	| 'fast-path'
	| 'minor-collection'
	| 'read-buffer'
	| 'slot-map'
	| 'string-cache'
	| 'string-reply'
	| 'subscribers'
	| 'synchronous-write';

const disabled = new Set((process.env.BRIDGE_PLAIN ?? '').split(','));

export const isOptimized = (name: Optimization): boolean => !disabled.has(name) && !disabled.has('all');
