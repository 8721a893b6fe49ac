import {cpSync, existsSync, mkdirSync, readFileSync, statSync} from 'node:fs';
import {basename, join, posix, relative} from 'node:path';
import {type BuildStage, type Instruction, parseCopy, parseDockerfile} from './dockerfile.js';
import {execute} from './execute.js';

export type ImageOptions = {
	/** The build context: the folder of the Dockerfile. */
	readonly context: string;
	/** An empty folder. Each stage gets a folder in it, which is the root of its file system. */
	readonly folder: string;
	readonly report: (line: string) => void;
};

/** The last stage after its build. */
export type Image = {
	/** The folder that stands for `/` in the image. */
	readonly root: string;
	/** The command of ENTRYPOINT, as written. */
	readonly entrypoint: readonly string[];
};

/**
 * Runs the COPY and RUN instructions of a Dockerfile without Docker, each stage in a folder of its own. Commands run on this
 * system, so those that call apt-get are skipped, and absolute paths in commands are rejected.
 */
export async function buildImage(options: ImageOptions): Promise<Image> {
	const stages = parseDockerfile(readFileSync(join(options.context, 'Dockerfile'), 'utf8'));
	const entrypoints = [];
	for (const stage of stages) entrypoints.push(await new StageBuild(options, stage).run());
	return {root: join(options.folder, stages.at(-1)?.name ?? ''), entrypoint: entrypoints.at(-1) ?? []};
}

class StageBuild {
	readonly #options: ImageOptions;
	readonly #stage: BuildStage;
	#workdir = '/';
	#entrypoint: readonly string[] = [];

	constructor(options: ImageOptions, stage: BuildStage) {
		this.#options = options;
		this.#stage = stage;
	}

	async run(): Promise<readonly string[]> {
		mkdirSync(this.#onDisk('/'), {recursive: true});
		for (const instruction of this.#stage.instructions) await this.#execute(instruction);
		return this.#entrypoint;
	}

	async #execute({keyword, text}: Instruction): Promise<void> {
		if (keyword === 'WORKDIR') {
			this.#workdir = posix.resolve(this.#workdir, text);
			mkdirSync(this.#onDisk(this.#workdir), {recursive: true});
		} else if (keyword === 'COPY') this.#copy(text);
		else if (keyword === 'RUN') await this.#run(text);
		else if (keyword === 'ENTRYPOINT') this.#entrypoint = JSON.parse(text);
	}

	async #run(command: string): Promise<void> {
		const isSkipped = /\bapt-get\b/.test(command);
		this.#options.report(`${this.#stage.name}: ${isSkipped ? 'skipped: ' : ''}RUN ${command}`);
		if (isSkipped) return;
		if (/(?:^|[\s=])\/\w/.test(command)) throw new Error(`RUN ${command} has an absolute path.`);
		await execute('sh', ['-c', command], {cwd: this.#onDisk(this.#workdir)});
	}

	#copy(text: string): void {
		const {from, sources, target} = parseCopy(text);
		this.#options.report(`${this.#stage.name}: COPY ${text}`);
		const destination = this.#onDisk(posix.resolve(this.#workdir, target));
		for (const source of sources) {
			const path = from === undefined ? this.#inContext(source) : this.#onDisk(source, from);
			const isFolder = statSync(path).isDirectory();
			// As in Docker, the content of a folder is copied, and a file is copied into a target that ends with a slash.
			const to = isFolder || !/(?:^\.|\/)$/.test(target) ? destination : join(destination, basename(path));
			cpSync(path, to, {recursive: true, verbatimSymlinks: true, filter: from ? () => true : this.#isSent});
		}
	}

	#inContext(source: string): string {
		const path = join(this.#options.context, source);
		if (!existsSync(path) || !this.#isSent(path))
			throw new Error(`COPY ${source}: the file does not exist, or .dockerignore excludes it.`);
		return path;
	}

	/** Whether .dockerignore leaves a file in the build context. Only names of files and folders in the context are supported. */
	readonly #isSent = (path: string): boolean => {
		const [top = ''] = relative(this.#options.context, path).split('/');
		const file = join(this.#options.context, '.dockerignore');
		const ignored = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
		return top === '' || !ignored.includes(top);
	};

	#onDisk(path: string, stage = this.#stage.name): string {
		return join(this.#options.folder, stage, path);
	}
}
