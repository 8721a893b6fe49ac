import type {HubOptions} from '../lib/hub/hub.js';

/** Makes what runs programs, with the local packs of a folder. It is loaded when the first program comes. */
export const createRunner =
	(_folder: () => string | undefined): HubOptions['createRunner'] =>
	async () => ({
		run: async () => ({
			content: [{type: 'text', text: 'There is nothing here yet that could run a program.'}],
			structuredContent: {},
			isError: true,
		}),
		warmUp: async () => {},
		close: async () => {},
	});
