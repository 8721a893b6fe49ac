import {mkdir, stat} from 'node:fs/promises';
import {dirname} from 'node:path';

/**
 * Creates a folder and its parents with mode 0700. Node's recursive mkdir never returns in places like /proc,
 * where the system reports that the parent folder does not exist.
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
