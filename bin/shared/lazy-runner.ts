import type {HubOptions} from '../../lib/hub/hub.js';

/** Creates a program runner. Its module is loaded on first use. */
export const createLazyRunner: HubOptions['createRunner'] = async options => {
	const {createRunner} = await import('../../lib/run/runner.js');
	return createRunner(options);
};
