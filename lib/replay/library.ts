import {createHash} from 'node:crypto';
import {isObject, type JsonObject, objectOf, without} from '../protocol/json.js';
import type {Recorded} from '../store/recorded.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {type Difference, differences, type Rules} from './compare.js';
import {type Cue, cuesOf} from './cues.js';
import type {Recording} from './recording.js';

/** How many recorded requests of a method are looked at for the one that is nearest. */
const MAX_COMPARED = 10_000;

/** Methods that are answered alike whatever they are asked with: who asks is somebody else each time. */
const anyParams = new Set(['initialize', 'server/discover', 'ping', 'logging/setLevel']);

/** What was found for a request: recorded ones that are the same, or what is nearest to it. */
export type Found =
	| {readonly same: readonly Cue[]}
	| {readonly nearest: Cue | undefined; readonly differences: readonly Difference[]};

/** All that recorded clients asked of a server, to be found again. */
export class Library {
	readonly recording: Recording;
	readonly methods: readonly string[];
	readonly #rules: Rules;
	readonly #cues = new Map<string, Cue[]>();
	/** By method, the requests with the same params. Made when a method is first asked for. */
	readonly #byParams = new Map<string, Map<string, Cue[]>>();

	/** Each list of messages is a conversation. */
	constructor(recording: Recording, conversations: ReadonlyArray<readonly Recorded[]>, rules: Rules) {
		this.recording = recording;
		this.#rules = rules;
		const insight = {
			tokenOf: (message: Recorded) => tokenIn(recording.bytes(message)),
			cancelled: (message: Recorded) => cancelledIn(recording.bytes(message)),
		};
		for (const cue of conversations.flatMap((messages, at) => cuesOf(messages, insight, at))) {
			const name = nameOf(cue.message.kind, cue.message.method);
			const list = this.#cues.get(name);
			if (list) list.push(cue);
			else this.#cues.set(name, [cue]);
		}
		this.methods = [...this.#cues.values()].flatMap(([cue]) =>
			cue?.message.kind === 'request' ? [cue.message.method ?? ''] : [],
		);
	}

	/** Notifications of this method, in the order of the recording. */
	notifications(method: string): readonly Cue[] {
		return this.#cues.get(nameOf('notification', method)) ?? [];
	}

	/** Recorded requests that are this one, by method and params. */
	find(method: string, params: unknown): Found {
		const all = this.#cues.get(nameOf('request', method)) ?? [];
		if (anyParams.has(method) && all.length > 0) return {same: all};
		const same = this.#paramsOf(method, all).get(digest(params));
		return same ? {same} : this.#similar(all, asked(params));
	}

	#paramsOf(method: string, all: readonly Cue[]): Map<string, Cue[]> {
		const known = this.#byParams.get(method);
		if (known) return known;
		const made = new Map<string, Cue[]>();
		for (const cue of all) {
			const key = digest(this.recording.body(cue.message).params);
			const list = made.get(key);
			if (list) list.push(cue);
			else made.set(key, [cue]);
		}
		this.#byParams.set(method, made);
		return made;
	}

	/** Those that differ in nothing that matters; else the one that differs least. */
	#similar(all: readonly Cue[], live: JsonObject): Found {
		const same: Cue[] = [];
		let nearest: {readonly cue: Cue; readonly found: readonly Difference[]} | undefined;
		for (const cue of all.slice(0, MAX_COMPARED)) {
			const recorded = asked(this.recording.body(cue.message).params);
			const found = differences(recorded, live, this.#rules, {path: ['params']});
			if (found.length === 0) same.push(cue);
			else if (!nearest || found.length < nearest.found.length) nearest = {cue, found};
		}
		return same.length > 0 ? {same} : {nearest: nearest?.cue, differences: nearest?.found ?? []};
	}
}

const nameOf = (kind: string, method = ''): string => `${kind} ${method}`;

/** What counts of params: not who asks, nor what the answer is to be called. */
const asked = (params: unknown): JsonObject => without(objectOf(params), '_meta');

/** The same for the same params, however they are written. */
const digest = (params: unknown): string =>
	createHash('sha256')
		.update(JSON.stringify(asked(params), inOrder))
		.digest('base64');

const inOrder = (_name: string, value: unknown): unknown =>
	isObject(value)
		? Object.fromEntries(
				Object.entries(value).sort(([one], [other]) => Number(one > other) - Number(one < other)),
			)
		: value;

/** The token of a request, or of the progress of one, as the text that it is. */
export const tokenIn = (message: Buffer): string | undefined =>
	memberText(message, 'params', '_meta', 'progressToken') ?? memberText(message, 'params', 'progressToken');

const cancelledIn = (message: Buffer): string | undefined => {
	const id = memberText(message, 'params', 'requestId');
	return id === undefined ? undefined : canonicalId(id);
};
