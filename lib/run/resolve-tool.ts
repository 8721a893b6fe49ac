import {PackUnavailableError, type RunPacks} from './run-packs.js';
import type {Pack, PackTool} from './types.js';

/** Finds the tool of a call. Waits while the server of its pack is connecting. */
export async function resolveTool(
	packs: RunPacks,
	packName: string,
	toolName: string,
	signal: AbortSignal,
): Promise<{pack: Pack; tool: PackTool}> {
	try {
		await packs.waitUntilConnected(packName, toolName, signal);
		return packs.findTool(packName, toolName);
	} catch (error) {
		if (error instanceof PackUnavailableError) error.pack.onRejected?.(toolName, error);
		throw error;
	}
}
