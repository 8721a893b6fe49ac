import {Envelope} from '../../core/envelope.js';
import {type Stage, stage} from '../../core/stage.js';
import {isAtLeast, isLogLevel} from '../../protocol/log-levels.js';
import {objectOf} from '../../util/json.js';
import type {MailScheduler} from '../mail/scheduler.js';

export type NotifyMailOptions = {readonly mail: Pick<MailScheduler, 'attach'>};

/** Notifies the client of new mail with MCP log messages. Urgent mail has level `warning`. */
export const notifyMail = ({mail}: NotifyMailOptions): Stage =>
	stage(out => {
		let minLevel = 'info';
		mail.attach(params => {
			if (!isAtLeast(params.level, minLevel)) return;
			out.toClient(Envelope.of({jsonrpc: '2.0', method: 'notifications/message', params}));
		});
		return {
			toUpstream(envelope) {
				if (envelope.head.method !== 'logging/setLevel') return envelope;
				const {level} = objectOf(envelope.body.params);
				if (isLogLevel(level)) minLevel = level;
				return envelope;
			},
		};
	});
