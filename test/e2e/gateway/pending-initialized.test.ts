import test from 'ava';
import {messageIn, startGateway} from '../../helpers/gateway.js';
import {logged, until} from '../../helpers/program.js';
import {startUpstream} from '../../helpers/upstream.js';

test('reports a request queued for notifications/initialized as not sent, and does not cancel it upstream [A-D15]', async t => {
	const upstream = await startUpstream(t);
	upstream.mood = ({message}) => message.method === 'notifications/initialized';
	const gateway = await startGateway(t, {servers: {slow: {url: upstream.url, timeout: 6}}});
	const session = await gateway.open('slow');
	const reply = messageIn(await session.post({id: 1, method: 'tools/list'}));
	t.like(reply, {error: {code: -31002, data: {method: 'tools/list'}}});
	const {message} = reply.error as {message: string};
	t.regex(message, /^slow was not ready for tools\/list within 6 s\. The request was never sent\. /);
	t.regex(message, /or raise servers\.slow\.timeout /);
	await until(() => logged(gateway.running, 'http.initialized.unanswered').length === 1);
	t.like(logged(gateway.running, 'http.initialized.unanswered')[0], {level: 40, server: 'slow'});
	t.like(messageIn(await session.post({id: 2, method: 'tools/list'})), {
		id: 2,
		result: {tools: [{name: 'echo'}]},
	});
	t.is(upstream.asked('tools/list').length, 1);
	t.is(upstream.asked('notifications/cancelled').length, 0);
});
