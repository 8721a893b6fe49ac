import type {IncomingMessage, ServerResponse} from 'node:http';
import {type Answered, type AnswerOptions, answerTo} from '../lib/control/answer.js';
import {local} from '../lib/envelope.js';
import {notAnAnswer} from '../lib/gateway/refusals.js';
import {only} from '../lib/gateway/replies.js';
import type {Answers} from '../lib/http/answers.js';
import {Guard} from '../lib/http/guard.js';
import {acceptedBy, bodyProblem, readBody} from '../lib/http/read-body.js';
import {internalError, type Refused, refuse} from '../lib/http/refuse.js';
import {splitTarget} from '../lib/http/target.js';
import {type Log, logBug} from '../lib/log.js';
import {wholeMessage} from '../lib/transports/whole-message.js';

export type ControlOptions = AnswerOptions & {
	readonly log: Log;
	/** The token that clients need, if they do. */
	readonly token?: string | undefined;
	/** What is on its way to clients. */
	readonly answers: Answers;
};

/** Requests are of a few hundred bytes. */
const MAX_BODY = 2 ** 20;

/** The MCP server that steers raw.ts. Read it down: a request goes as far as it may. */
export function control({log, answers, token, ...options}: ControlOptions) {
	const guard = new Guard({hosts: [], origins: [], tokens: token === undefined ? [] : [token]});
	const problemOf = (req: IncomingMessage): Refused | undefined => {
		const foreign = guard.refusal(req); //                 browsers of others, and names of others
		if (foreign) return toldOf(log, req, foreign);
		if (!guard.knows(req, true)) return noToken; //        a client without the token, if there is one
		if (splitTarget(req.url ?? '').path !== '/mcp') return nothingThere; //  /mcp and nothing else
		const {json, events} = acceptedBy(req);
		return (
			only(req, ['POST']) ?? //                      nothing is said here that was not asked for
			(json || events ? undefined : notAnAnswer) ?? //  somebody who could read the answer
			bodyProblem(req, MAX_BODY) //                  a body that is JSON, and not a long one
		);
	};
	return (req: IncomingMessage, res: ServerResponse): void => {
		answers.add(res);
		const problem = problemOf(req);
		if (problem) {
			refuse(res, problem);
			return;
		}
		readBody(req, MAX_BODY, (body, refused) => {
			if (!body) {
				refuse(res, refused ?? {status: 400, message: 'Bad Request'});
				return;
			}
			answerTo(wholeMessage(body, local), req.headers, options).then(
				answered => reply(res, answered, acceptedBy(req).json),
				error => {
					logBug(log, error);
					refuse(res, internalError);
				},
			);
		});
	};
}

function reply(res: ServerResponse, answered: Answered, isJson: boolean): void {
	if (answered === 'heard') {
		res.writeHead(202, {'content-length': 0}).end();
		return;
	}
	if (!('answer' in answered)) {
		refuse(res, answered);
		return;
	}
	const {status, answer} = answered;
	const body = isJson ? answer.bytes : Buffer.from(`event: message\ndata: ${answer.bytes}\n\n`);
	const type = isJson ? 'application/json' : 'text/event-stream';
	res.writeHead(status, {'content-type': type, 'content-length': body.length}).end(body);
}

function toldOf(log: Log, {headers: {host, origin}}: IncomingMessage, refused: Refused): Refused {
	const event = refused.message.includes('Origin') ? 'http.origin_rejected' : 'http.host_rejected';
	if (refused.status === 403) log.warn(event, `${refused.message}.`, {host, origin});
	return refused;
}

const noToken: Refused = {
	status: 401,
	message:
		'Unauthorized: send Authorization: Bearer TOKEN, with the token of --mcp-token or BRIDGE_MCP_TOKEN',
	headers: {'www-authenticate': 'Bearer realm="bridge raw"'},
};

const nothingThere: Refused = {status: 404, message: 'There is nothing here. The endpoint is /mcp.'};
