import {detailPane} from './detail-pane.js';
import {byId, element} from './dom.js';
import {messageList} from './message-list.js';
import {emptyFilter, model} from './model.js';

type KeyHandler = (event: KeyboardEvent) => void;

const moveBy =
	(by: () => number): KeyHandler =>
	({shiftKey}) =>
		messageList.move(by(), shiftKey);

/** Actions of keys outside text fields. */
const keys: ReadonlyMap<string, KeyHandler> = new Map<string, KeyHandler>([
	['ArrowDown', moveBy(() => 1)],
	['j', moveBy(() => 1)],
	['ArrowUp', moveBy(() => -1)],
	['k', moveBy(() => -1)],
	['PageDown', moveBy(() => messageList.pageRows)],
	['PageUp', moveBy(() => -messageList.pageRows)],
	['Home', ({shiftKey}) => messageList.moveTo(0, shiftKey)],
	['End', ({shiftKey}) => messageList.toEnd(shiftKey)],
	['Enter', () => model.openDetail(true)],
	['Escape', () => closeOrClear()],
	['/', () => byId<HTMLInputElement>('text').select()],
	['?', () => byId<HTMLDialogElement>('help').showModal()],
	['p', () => pressDetailButton('Go to')],
	['c', () => pressDetailButton('Copy')],
	['r', () => detailPane.toggleRaw()],
	['e', () => byId('export').click()],
	['1', () => model.setView('list')],
	['2', () => model.setView('sequence')],
	['3', () => model.setView('latency')],
	['4', () => model.state?.hasStatus && model.setView('services')],
]);

const keyHelp = [
	['↑ ↓, j k', 'next and previous message; with Shift, select more'],
	['Page, Home, End', 'move by a page, or to the start or end'],
	['Enter', 'open the message'],
	['Esc', 'close it; then clear the filters'],
	['/', 'search'],
	['p', 'go to the response of a request, or back'],
	['c · r', 'copy the message · switch between source and tree'],
	['e', 'export the selected rows, or all matching rows'],
	['1 2 3 4', 'messages, sequence, latency, services'],
	['?', 'this help'],
] as const;

/** Clicks the first button of the open message whose text starts with this word. */
function pressDetailButton(word: string): void {
	const buttons = [...byId('detail').querySelectorAll('button')];
	buttons.find(({textContent}) => textContent?.startsWith(word))?.click();
}

function closeOrClear(): void {
	if (model.isDetailOpen) model.openDetail(false);
	else model.setFilter(emptyFilter);
	byId('list').focus();
}

function onKeyDown(event: KeyboardEvent): void {
	const {target, key} = event;
	if (event.ctrlKey || event.metaKey || event.altKey || byId<HTMLDialogElement>('help').open) return;
	if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) {
		if (key === 'Escape' || (key === 'ArrowDown' && target instanceof HTMLInputElement)) {
			event.preventDefault();
			byId('list').focus();
		}
		return;
	}
	// Enter and Space have native actions on these elements.
	const hasNativeAction =
		target instanceof HTMLElement && target.matches('button, a, summary') && (key === 'Enter' || key === ' ');
	const handler = hasNativeAction ? undefined : keys.get(key);
	if (!handler) return;
	event.preventDefault();
	handler(event);
}

export function bindKeys(): void {
	document.addEventListener('keydown', onKeyDown);
	const help = byId<HTMLDialogElement>('help');
	const close = element('button', {type: 'button', class: 'button'}, 'Close');
	close.addEventListener('click', () => help.close());
	help.append(
		element('h2', {id: 'help-title'}, 'Keys'),
		element(
			'dl',
			{},
			...keyHelp.flatMap(([key, text]) => [
				element('dt', {}, element('kbd', {}, key)),
				element('dd', {}, text),
			]),
		),
		element('p', {}, close),
	);
	byId('help-button').addEventListener('click', () => help.showModal());
}
