import process from 'node:process';

/**
 * What relies on internals of V8, Node or RxJS. The environment variable `BRIDGE_PLAIN` disables some of it:
 * `BRIDGE_PLAIN=subscribers,slot-map`, or `BRIDGE_PLAIN=all`.
 *
 * Measured on stdio with 64 concurrent calls, as CPU time per call without one of them: fast-path +7 %,
 * read-buffer +15 %, slot-map +7 %, string-cache +12 %, subscribers +5 %, synchronous-write +8 %, all +18 %.
 * minor-collection halves the CPU time of results of 1 MB.
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
