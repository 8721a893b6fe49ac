import {perMessage, type Stage} from '../../core/stage.js';
import {wellFormedJson} from '../../util/well-formed.js';

/**
 * Replaces lone surrogates in all that Codex is sent. Codex drops such a message without a response, so that a turn would
 * never begin, or an approval never end.
 */
export const repairText = (): Stage =>
	perMessage({
		toUpstream(envelope) {
			const {line} = envelope;
			if (!line.includes('\\ud') && !line.includes('\\uD')) return envelope;
			const json = line.toString();
			const repaired = wellFormedJson(json);
			return repaired === json ? envelope : envelope.withText(repaired.trimEnd());
		},
	});

/** How deeply what Codex is sent may be nested. It drops messages beyond 127 levels, those of the message included. */
export const MAX_CODEX_NESTING = 100;
