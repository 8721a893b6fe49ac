import {type Packs, PackUnavailable} from './packs.js';
import type {Pack, PackTool} from './types.js';

/** Finds the tool of a call. A call waits while the server of its pack is still connecting. */
export async function toolForCall(
	packs: Packs,
	packName: string,
	toolName: string,
	signal: AbortSignal,
): Promise<{pack: Pack; tool: PackTool}> {
	try {
		await packs.arrival(packName, toolName, signal);
		return packs.tool(packName, toolName);
	} catch (error) {
		if (error instanceof PackUnavailable) error.pack.onRejected?.(toolName, error);
		throw error;
	}
}
