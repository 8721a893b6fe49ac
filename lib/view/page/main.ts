import {subscribeToState} from './api.js';
import {byId, showHidden} from './dom.js';
import {filterBar} from './filter-bar.js';
import {formatByteSize, formatCount} from './format.js';
import {bindKeys} from './keyboard.js';
import './latency-view.js';
import './sequence-view.js';
import './services-view.js';
import {model, type ViewName} from './model.js';

const tabs = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('#tabs [data-view]')];

/** The connection that was selected automatically for the sequence view. */
let autoSelectedConnection = '';

/** Shows the selected view and updates its tab. */
function showView(): void {
	for (const tab of tabs()) {
		const isSelected = tab.dataset.view === model.view;
		tab.setAttribute('aria-selected', String(isSelected));
		tab.tabIndex = isSelected ? 0 : -1;
		byId(`view-${tab.dataset.view}`).hidden = !isSelected;
	}
	// The sequence view needs one connection. Uses that of the current message, or the most recent one.
	const conn = model.currentConn || filterBar.defaultConnection;
	if (model.view === 'sequence' && model.filter.conn === '' && conn !== '') {
		autoSelectedConnection = conn;
		model.setFilter({conn});
	} else if (model.view !== 'sequence' && autoSelectedConnection !== '') {
		if (model.filter.conn === autoSelectedConnection) model.setFilter({conn: ''});
		autoSelectedConnection = '';
	}
	if (model.view === 'list') byId('list').focus();
}

function showState(): void {
	const {state} = model;
	if (!state) return;
	const {name, isLive, rows, connections, readBytes, totalBytes, isAtEnd, isFull, tailBytes, note} = state;
	byId('name').textContent = showHidden(name);
	document.title = `${showHidden(name)} · bridge view`;
	byId('live').hidden = !isLive;
	byId('tab-services').hidden = !state.hasStatus;
	byId('log-out').hidden = !state.canLogOut;
	byId('count').textContent =
		`${formatCount(rows)} lines · ${formatCount(connections)} connections · ${formatByteSize(totalBytes)}`;
	const progress = byId<HTMLProgressElement>('progress');
	progress.hidden = isAtEnd || isLive;
	progress.value = totalBytes === 0 ? 0 : readBytes / totalBytes;
	const notes = [
		showHidden(note),
		isFull ? 'The log is too long: only its first lines are indexed.' : '',
		isAtEnd && tailBytes > 0 && !isLive
			? `The last line is cut off or still being written: ${formatByteSize(tailBytes)}.`
			: '',
	];
	const noteText = notes.filter(text => text !== '').join(' ');
	byId('note').textContent = noteText;
	byId('note').hidden = noteText === '';
}

for (const tab of tabs()) {
	tab.addEventListener('click', () => model.setView(tab.dataset.view as ViewName));
	tab.addEventListener('keydown', event => {
		const offset = {ArrowRight: 1, ArrowLeft: -1}[event.key];
		if (offset === undefined) return;
		event.preventDefault();
		event.stopPropagation();
		const shown = tabs().filter(each => !each.hidden);
		const next = shown[(shown.indexOf(tab) + offset + shown.length) % shown.length];
		next?.click();
		next?.focus();
	});
}
byId('log-out').addEventListener('click', () => {
	void fetch('/logout', {method: 'POST', redirect: 'manual'}).finally(() => location.reload());
});
model.on(['view'], showView);
model.on(['state'], showState);
bindKeys();
model.setView('list');
subscribeToState();
