import type {CallArguments} from './call-arguments.js';
import {asObject} from './input-schema.js';
import {ProgramError} from './program-error.js';

/** Parses the arguments of `.batch(…)`. The number of items is checked before the first call. */
export function parseBatch(
	{positional, named}: CallArguments,
	maxCalls: number,
): {items: CallArguments[]; returnErrors: boolean} {
	const options = new Map(named);
	const items = positional.length > 0 ? positional[0] : options.get('items');
	const returnErrors = positional.length > 1 ? positional[1] : options.get('return_errors');
	const unknown = named.find(([name]) => name !== 'items' && name !== 'return_errors');
	if (!Array.isArray(items) || positional.length > 2 || unknown) {
		throw new ProgramError('TypeError', 'batch() takes a list with the arguments of one call in each item');
	}
	// The prelude has the same check and message.
	if (items.length > maxCalls) {
		const message = `batch() got ${items.length} items, and a run may make ${maxCalls} calls. Pass fewer items.`;
		throw new ProgramError('ToolError', message);
	}
	return {items: items.map(itemArguments), returnErrors: Boolean(returnErrors)};
}

function itemArguments(item: unknown): CallArguments {
	const isObject = typeof item === 'object' && item !== null && !Array.isArray(item);
	return isObject ? {positional: [], named: Object.entries(asObject(item))} : {positional: [item], named: []};
}
