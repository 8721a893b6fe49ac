import {detail} from './detail.js';
import {byId, element} from './dom.js';
import {list} from './list.js';
import {model, noFilter} from './model.js';

type Press = (event: KeyboardEvent) => void;

const move =
	(by: () => number): Press =>
	({shiftKey}) =>
		list.move(by(), shiftKey);

/** What keys do where no text is being typed. */
const keys: ReadonlyMap<string, Press> = new Map<string, Press>([
	['ArrowDown', move(() => 1)],
	['j', move(() => 1)],
	['ArrowUp', move(() => -1)],
	['k', move(() => -1)],
	['PageDown', move(() => list.page)],
	['PageUp', move(() => -list.page)],
	['Home', ({shiftKey}) => list.moveTo(0, shiftKey)],
	['End', ({shiftKey}) => list.toEnd(shiftKey)],
	['Enter', () => model.openDetail(true)],
	['Escape', () => goBack()],
	['/', () => byId<HTMLInputElement>('text').select()],
	['?', () => byId<HTMLDialogElement>('help').showModal()],
	['p', () => related('Go to')],
	['c', () => related('Copy')],
	['r', () => detail.toggleRaw()],
	['e', () => byId('export').click()],
	['1', () => model.setView('list')],
	['2', () => model.setView('sequence')],
	['3', () => model.setView('latency')],
	['4', () => model.state?.hasStatus && model.setView('services')],
]);

const told = [
	['↑ ↓, j k', 'next and previous message; with Shift, select more'],
	['Page, Home, End', 'further'],
	['Enter', 'open the message'],
	['Esc', 'close it; then clear the filters'],
	['/', 'search'],
	['p', 'from a request to its answer, and back'],
	['c · r', 'copy the message · as it is written, or as a tree'],
	['e', 'export what is selected, or all that the filters let through'],
	['1 2 3 4', 'messages, sequence, latency, services'],
	['?', 'this'],
] as const;

/** Presses a button of the open message that begins with this word. */
function related(word: string): void {
	const buttons = [...byId('detail').querySelectorAll('button')];
	buttons.find(({textContent}) => textContent?.startsWith(word))?.click();
}

function goBack(): void {
	if (model.isDetailOpen) model.openDetail(false);
	else model.setFilter(noFilter);
	byId('list').focus();
}

function typed(event: KeyboardEvent): void {
	const {target, key} = event;
	if (event.ctrlKey || event.metaKey || event.altKey || byId<HTMLDialogElement>('help').open) return;
	if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) {
		if (key === 'Escape' || (key === 'ArrowDown' && target instanceof HTMLInputElement)) {
			event.preventDefault();
			byId('list').focus();
		}
		return;
	}
	// Buttons, links and foldable parts have uses of their own for these.
	const isPressed =
		target instanceof HTMLElement && target.matches('button, a, summary') && (key === 'Enter' || key === ' ');
	const press = isPressed ? undefined : keys.get(key);
	if (!press) return;
	event.preventDefault();
	press(event);
}

export function listenToKeys(): void {
	document.addEventListener('keydown', typed);
	const help = byId<HTMLDialogElement>('help');
	const close = element('button', {type: 'button', class: 'button'}, 'Close');
	close.addEventListener('click', () => help.close());
	help.append(
		element('h2', {id: 'help-title'}, 'Keys'),
		element(
			'dl',
			{},
			...told.flatMap(([key, text]) => [element('dt', {}, element('kbd', {}, key)), element('dd', {}, text)]),
		),
		element('p', {}, close),
	);
	byId('help-button').addEventListener('click', () => help.showModal());
}
