// Features that only the official conformance suite requires of a server of the handshake era.
import {setTimeout as sleep} from 'node:timers/promises';
import {say} from './fixture-content.mjs';

const defaults = {
	name: {type: 'string', description: 'User name', default: 'John Doe'},
	age: {type: 'integer', description: 'User age', default: 30},
	score: {type: 'number', description: 'User score', default: 95.5},
	status: {
		type: 'string',
		description: 'User status',
		enum: ['active', 'inactive', 'pending'],
		default: 'active',
	},
	verified: {type: 'boolean', description: 'Verification status', default: true},
};

const options = ['option1', 'option2', 'option3'];
const titled = kind =>
	['First', 'Second', 'Third'].map((title, index) => ({
		const: `value${index + 1}`,
		title: `${title} ${kind}`,
	}));

const enums = {
	untitledSingle: {type: 'string', enum: options},
	titledSingle: {type: 'string', oneOf: titled('Option')},
	legacyEnum: {
		type: 'string',
		enum: ['opt1', 'opt2', 'opt3'],
		enumNames: ['Option One', 'Option Two', 'Option Three'],
	},
	untitledMulti: {type: 'array', items: {type: 'string', enum: options}},
	titledMulti: {type: 'array', items: {anyOf: titled('Choice')}},
};

/** `elicit` sends a form to the client, and returns its response as text. */
export function suiteTools(elicit) {
	return {
		test_elicitation_sep1034_defaults: (_args, extra) =>
			elicit('Please review and update the form fields with defaults', defaults, [], extra),
		test_elicitation_sep1330_enums: (_args, extra) =>
			elicit('Please select options from the enum fields', enums, [], extra),
		/** Closes the stream of its own response, so that an HTTP client must resume it. */
		async test_reconnection(_args, extra) {
			await sleep(100);
			extra.closeSSEStream?.();
			await sleep(400);
			return say('Reconnection test completed successfully');
		},
	};
}
