import {Envelope} from '../envelope.js';
import type {PostOffice} from '../mail/post-office.js';
import {objectOf} from '../protocol/json.js';
import {isAtLeast, isLevel} from '../protocol/log-levels.js';
import {type Stage, stage} from '../stage.js';

export type TellMailOptions = {readonly office: Pick<PostOffice, 'attach'>};

/** Tells the client of mail that has come, as a message of MCP's log: urgent mail as a warning. */
export const tellMail = ({office}: TellMailOptions): Stage =>
	stage(out => {
		let wanted = 'info';
		office.attach(params => {
			if (!isAtLeast(params.level, wanted)) return;
			out.toClient(Envelope.of({jsonrpc: '2.0', method: 'notifications/message', params}));
		});
		return {
			toUpstream(envelope) {
				if (envelope.head.method !== 'logging/setLevel') return envelope;
				const {level} = objectOf(envelope.body.params);
				if (isLevel(level)) wanted = level;
				return envelope;
			},
		};
	});
