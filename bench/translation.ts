import {createDraft} from '../lib/core/edit-message.js';
import {bridgeOrigin, Envelope} from '../lib/core/envelope.js';
import {Translator} from '../lib/protocol/translator.js';

const TOOLS = 100;
const TURNS = 30;
const TIMES = 10;

/** A typical list, about 600 bytes per tool. */
const list = (): string => {
	const property = {
		type: 'string',
		description: 'What the tool is to work on, as a sentence or as a path. '.repeat(2),
	};
	const tools = Array.from({length: TOOLS}, (_, at) => ({
		name: `tool_${at}`,
		title: `Tool ${at}`,
		description: `Does what tool ${at} does, with all that it was given. `.repeat(3),
		inputSchema: {type: 'object', properties: {path: property, mode: {enum: ['a', 'b']}}, required: ['path']},
		annotations: {readOnlyHint: true},
	}));
	return JSON.stringify({jsonrpc: '2.0', id: 1, result: {tools}});
};

const cpuOf = (work: () => void): number => {
	const before = process.cpuUsage();
	for (let time = 0; time < TIMES; time++) {
		work();
	}
	const {user, system} = process.cpuUsage(before);
	return (user + system) / TIMES;
};

/**
 * CPU of translating a list of 100 tools from a 2025-11-25 server to a 2025-03-26 client, from bytes to
 * bytes with each tool changed, relative to parsing and serializing it. One ratio per turn.
 */
export const measureListTranslation = (): number[] => {
	const text = list();
	const line = Buffer.from(`${text}\n`);
	const translator = new Translator({client: '2025-03-26', upstream: '2025-11-25'});
	const translate = (): void => {
		const {body, with: as} = createDraft(Envelope.received(line, bridgeOrigin));
		const outcome = translator.translate('toClient', 'result', 'tools/list', body, '1');
		if (!outcome?.forward || as(outcome.forward).line.length <= line.length) {
			throw new Error('the list was not translated');
		}
	};
	const rewrite = (): Buffer => Buffer.from(JSON.stringify(JSON.parse(line.toString())));
	cpuOf(translate);
	cpuOf(rewrite);
	return Array.from({length: TURNS}, () => cpuOf(translate) / cpuOf(rewrite));
};
