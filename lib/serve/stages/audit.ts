import {perMessage, type Stage} from '../../core/stage.js';
import {objectOf} from '../../util/json.js';
import type {AuditLog} from '../sessions/audit-log.js';
import type {PendingTurnRequests} from '../sessions/pending-turn-requests.js';
import {parseTurnReport} from '../sessions/turn-report.js';

type AuditStageOptions = {readonly auditLog: AuditLog; readonly requests: PendingTurnRequests};

/** Writes the start and end of each turn to the audit log before the message is forwarded. */
export const audit = ({auditLog, requests}: AuditStageOptions): Stage =>
	perMessage({
		toUpstream(envelope) {
			const {key = '', method} = envelope.head;
			const turn = method === 'tools/call' ? requests.find(key) : undefined;
			if (turn) auditLog.turnStarted(toolOf(envelope.body), turn.turnRequest);
			return envelope;
		},
		toClient(envelope) {
			const {key = '', method} = envelope.head;
			const turn = method === undefined ? requests.find(key) : undefined;
			if (turn) auditLog.turnEnded(turn.turnRequest.tool, turn.turnRequest, parseTurnReport(envelope));
			return envelope;
		},
	});

const toolOf = ({params}: {readonly params?: unknown}): string => String(objectOf(params).name);
