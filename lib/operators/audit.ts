import {objectOf} from '../protocol/json.js';
import type {Journal} from '../sessions/journal.js';
import {readReport} from '../sessions/turn-report.js';
import type {TurnRequests} from '../sessions/turn-requests.js';
import {perMessage, type Stage} from '../stage.js';

export type AuditOptions = {readonly journal: Journal; readonly requests: TurnRequests};

/** Writes down each turn that Codex is asked for, whoever wants it, and how it ended: before anybody hears of it. */
export const audit = ({journal, requests}: AuditOptions): Stage =>
	perMessage({
		toUpstream(envelope) {
			const {key = '', method} = envelope.head;
			const job = method === 'tools/call' ? requests.find(key) : undefined;
			if (job) journal.asked(toolOf(envelope.body), job.ask);
			return envelope;
		},
		toClient(envelope) {
			const {key = '', method} = envelope.head;
			const job = method === undefined ? requests.find(key) : undefined;
			if (job) journal.answered(job.ask.tool, job.ask, readReport(envelope));
			return envelope;
		},
	});

const toolOf = ({params}: {readonly params?: unknown}): string => String(objectOf(params).name);
