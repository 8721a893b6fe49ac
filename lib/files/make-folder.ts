import {mkdir, stat} from 'node:fs/promises';
import {dirname} from 'node:path';

/**
 * Makes a folder, with those above it, for its owner alone. Node's own way of doing that never ends in a place where
 * nobody can make any, like /proc, since there the system says that the folder above is missing.
 */
export async function makeFolder(path: string): Promise<void> {
	try {
		await makeSingleFolder(path);
	} catch (error) {
		const parent = dirname(path);
		if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error;
		await makeFolder(parent);
		await makeSingleFolder(path);
	}
}

async function makeSingleFolder(path: string): Promise<void> {
	try {
		await mkdir(path, {mode: 0o700});
	} catch (error) {
		const exists = (error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(path)).isDirectory();
		if (!exists) throw error;
	}
}
