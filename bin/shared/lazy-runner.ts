import type {HubOptions} from '../../lib/hub/hub.js';

/** Makes what runs programs. It is loaded when the first program comes. */
export const createLazyRunner: HubOptions['createRunner'] = async options => {
	const {createRunner: create} = await import('../../lib/run/runner.js');
	return create(options);
};
