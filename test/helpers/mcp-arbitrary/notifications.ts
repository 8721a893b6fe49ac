import fc from 'fast-check';
import type {McpVersion} from '../mcp-version.js';
import {subscriptionFilter, task} from './features.js';
import {logLevel, type ParamsByMethod} from './requests.js';
import {
	id,
	json,
	type Members,
	meta,
	number,
	objectOf,
	progressToken,
	since,
	text,
	uri,
	type ValuesByName,
	when,
} from './values.js';

/** The `_meta` of a notification. Since 2026-07-28, it may contain the id of a subscription. */
const notificationMeta = (version: McpVersion): ValuesByName => ({
	_meta: meta(
		version,
		{},
		when(since(version, '2026-07-28'), {'io.modelcontextprotocol/subscriptionId': id}),
	),
});

const bare = (version: McpVersion): fc.Arbitrary<Members | undefined> =>
	fc.option(objectOf({}, notificationMeta(version)), {nil: undefined});

/** Only 2025-11-25 allows a cancellation without a request id. */
const cancelled = (version: McpVersion): ParamsByMethod => {
	const optional = {reason: text, ...notificationMeta(version)};
	const params =
		version === '2025-11-25'
			? objectOf({}, {requestId: id, ...optional})
			: objectOf({requestId: id}, optional);
	return {'notifications/cancelled': params};
};

/** Notifications about a pending request of the other side. */
const requestUpdates = (version: McpVersion): ParamsByMethod => {
	const own = notificationMeta(version);
	return {
		'notifications/progress': objectOf(
			{progressToken, progress: number},
			{total: number, ...own, ...when(since(version, '2025-03-26'), {message: text})},
		),
		...(version === '2025-11-25' ? {'notifications/tasks/status': task(own)} : {}),
	};
};

export function clientNotifications(version: McpVersion): ParamsByMethod {
	if (since(version, '2026-07-28')) return cancelled(version);
	return {
		...cancelled(version),
		...requestUpdates(version),
		'notifications/initialized': bare(version),
		'notifications/roots/list_changed': bare(version),
	};
}

export function serverNotifications(version: McpVersion): ParamsByMethod {
	const own = notificationMeta(version);
	return {
		...cancelled(version),
		...requestUpdates(version),
		'notifications/message': objectOf({level: logLevel, data: json.value}, {logger: text, ...own}),
		'notifications/resources/updated': objectOf({uri}, own),
		'notifications/resources/list_changed': bare(version),
		'notifications/tools/list_changed': bare(version),
		'notifications/prompts/list_changed': bare(version),
		...(version === '2025-11-25'
			? {'notifications/elicitation/complete': objectOf({elicitationId: text})}
			: {}),
		...(since(version, '2026-07-28')
			? {
					'notifications/subscriptions/acknowledged': objectOf({notifications: subscriptionFilter(uri)}, own),
				}
			: {}),
	};
}
