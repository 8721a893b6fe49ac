import test from 'ava';
import {type Release, releases, type Version, versions} from './eras.js';
import {checkMessages, direct, pairFor} from './pair.js';
import {checkToolResults} from './pair-content.js';
import {checkCancellation, checkChanges, checkLogging, checkProgress} from './pair-notifications.js';
import {checkCompletion, checkGreeting, checkPrompts, checkResources, checkToolList} from './pair-offers.js';
import {checkChoices, checkElicitation, checkRoots, checkRounds, checkSampling} from './pair-requests.js';

function testPair(client: Release, server: Version): void {
	const title = `pair ${client.version} client (SDK ${client.sdk}) ⇄ ${server} server`;

	test.serial(`${title}: translates initialization, lists, resources, prompts and completion`, async t => {
		const pair = await pairFor(t, client, server);
		await checkGreeting(pair);
		await checkToolList(pair);
		await checkResources(pair);
		await checkPrompts(pair);
		await checkCompletion(pair);
		checkMessages(pair);
	});

	test.serial(`${title}: translates tool results`, async t => {
		const pair = await pairFor(t, client, server);
		await checkToolResults(pair);
		checkMessages(pair);
	});

	test.serial(`${title}: forwards progress, log messages and cancellation`, async t => {
		const pair = await pairFor(t, client, server);
		await checkProgress(pair);
		await checkLogging(pair);
		await checkCancellation(pair);
		checkMessages(pair);
	});

	test.serial(`${title}: forwards notifications of changed lists and resources`, async t => {
		await checkChanges(await pairFor(t, client, server));
	});

	test.serial(`${title}: translates elicitation, sampling and roots`, async t => {
		const pair = await pairFor(t, client, server);
		await checkElicitation(pair);
		await checkChoices(pair);
		await checkSampling(pair);
		await checkRoots(pair);
		await checkRounds(pair);
		checkMessages(pair);
	});
}

for (const client of releases) {
	for (const server of versions) {
		// Without bridge, only equal versions can connect.
		if (!direct || client.version === server) {
			testPair(client, server);
		}
	}
}
