import {spawn} from 'node:child_process';
import process from 'node:process';

/** The command of each system that opens a URL in the browser of the user. */
const openers: {readonly [platform: string]: string} = {darwin: 'open', win32: 'explorer'};

/** Opens a page of bridge itself, as its user asked for. `onFailed` receives the reason if no browser can be started. */
export function openPage(page: URL, onFailed: (reason: string) => void): void {
	const command = openers[process.platform] ?? 'xdg-open';
	// The browser outlives bridge, so it is not one of its children.
	const browser = spawn(command, [page.href], {stdio: 'ignore', detached: true});
	browser.once('error', ({code, message}: NodeJS.ErrnoException) =>
		onFailed(code === 'ENOENT' ? `${command} is not installed` : message),
	);
	browser.unref();
}
