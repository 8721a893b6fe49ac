// The hostile clients of the soak, in a separate process: the parent sends one Setup and gets the counters.

import process from 'node:process';
import {HOSTILE_KINDS, type HostileKind} from '../options.js';
import {randomOf} from '../random.js';
import type {Attack} from './ground.js';
import {ping} from './ping.js';
import {run, template} from './programs.js';
import {flood, giant, neverRead, reconnect} from './requests.js';

export type Setup = {
	readonly base: string;
	readonly seed: number;
	readonly kinds: readonly HostileKind[];
};
/** The number of events, by kind and event. */
export type Counters = {readonly [kind: string]: {readonly [what: string]: number}};

const ATTACKS: {readonly [kind in HostileKind]: Attack} = {
	flood,
	'never-read': neverRead,
	reconnect,
	giant,
	ping,
	run,
	template,
};
const REPORT_MS = 500;

function begin({base, seed, kinds}: Setup): void {
	const {hostname: host, port} = new URL(base);
	const counters: {[kind: string]: {[what: string]: number}} = {};
	for (const kind of kinds) {
		const own: {[what: string]: number} = {};
		counters[kind] = own;
		const count = (what: string, by = 1): void => {
			own[what] = (own[what] ?? 0) + by;
		};
		for (let number = 0; number < HOSTILE_KINDS[kind]; number++) {
			let drawn = 0;
			const random = (): number => randomOf(seed, kind, number, drawn++);
			const ground = {host, port: Number(port), number, random, count, isOver: () => false};
			void ATTACKS[kind](ground).catch(error => count(`ended with ${error}`));
		}
	}
	setInterval(() => process.send?.(counters satisfies Counters), REPORT_MS);
}

process.once('message', message => begin(message as Setup));
// The parent ends this process by closing the channel.
process.once('disconnect', () => process.exit(0));
