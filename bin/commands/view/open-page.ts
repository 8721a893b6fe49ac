import {spawn} from 'node:child_process';
import process from 'node:process';

/** The commands that open a URL in the default browser, by platform. */
const openers: {readonly [platform: string]: string} = {darwin: 'open', win32: 'explorer'};

/** Opens a page of bridge. `onFailed` receives the reason if the browser cannot be started. */
export function openPage(page: URL, onFailed: (reason: string) => void): void {
	const command = openers[process.platform] ?? 'xdg-open';
	// The browser outlives bridge, so it is not tracked as a child.
	const browser = spawn(command, [page.href], {stdio: 'ignore', detached: true});
	browser.once('error', ({code, message}: NodeJS.ErrnoException) =>
		onFailed(code === 'ENOENT' ? `${command} is not installed` : message),
	);
	browser.unref();
}
