import {Envelope} from '../envelope.js';
import type {MailScheduler} from '../mail/post-office.js';
import {objectOf} from '../protocol/json.js';
import {isAtLeast, isLogLevel} from '../protocol/log-levels.js';
import {type Stage, stage} from '../stage.js';

export type NotifyMailOptions = {readonly mail: Pick<MailScheduler, 'attach'>};

/** Tells the client of mail that has come, as a message of MCP's log: urgent mail as a warning. */
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
