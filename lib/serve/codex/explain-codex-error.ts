const retiredPolicy = /(?:unknown variant `|approval_policy = ")(untrusted|on-failure)["`]/;

/**
 * Adds a remedy to an error of Codex, if one is known. For removed settings, Codex only reports that they are
 * unknown.
 */
export function explainCodexError(text: string): string {
	const [, policy] = retiredPolicy.exec(text) ?? [];
	if (policy !== undefined)
		return `${text}\nThis version of Codex no longer supports the approval policy ${policy}. Use on-request or never instead: in the call, in the configuration of bridge and in config.toml.`;
	if (text.includes('active writer'))
		return `${text}\nAnother program has this thread open. Close the thread there, or start a new one with codex.`;
	return text;
}
