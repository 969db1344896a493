/** What the commands that change something have in common: who may give them, what they ask before, and what they print. */
import type { Command } from 'commander';
import type { ActCostDocument } from '../../api/act-cost.ts';
import { print, printJson } from '../terminal/io.ts';
import { type AskOptions, addAskOptions, type ServiceSession } from './session.ts';

/** Of a command that can be asked what it would do. */
export interface ActOptions extends AskOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** The options of a command about a tenant, and those by which it is asked first. @returns the command itself. */
export function addActOptions(command: Command): Command {
  return addAskOptions(command)
    .option('--dry-run', 'only say what it would do')
    .option('-y, --yes', 'do not ask before; without a terminal nothing is asked');
}

/** For the help of a command. @param token which one, e.g. `a token that names the tenant`. */
export function whoMayText(token: string): string {
  return `
On a machine that runs a web, the command uses the service's Unix socket, open to the service's user and root. From elsewhere
it needs ${token}.`;
}

/**
 * On a terminal it is first said what the request does, unless that is nothing, and the person has to agree.
 *
 * @param done as for {@link sendRequest}.
 * @returns the exit status: 1 when the person does not agree, or when nothing would happen.
 * @throws ApiError
 */
export async function sendAct<Answer>(
  session: ServiceSession,
  path: string,
  body: object,
  { dryRun, yes }: ActOptions,
  done: string | ((answer: Answer) => string),
): Promise<number> {
  const { api, io, json } = session;
  if (dryRun === true) return sayCost(session, await api.post<ActCostDocument>(`${path}/dry-run`, body));
  if (io.ask !== undefined && yes !== true && !json) {
    const cost = await api.post<ActCostDocument>(`${path}/dry-run`, body);
    if (isRefused(cost)) return sayCost(session, cost);
    if (cost.items.length > 0) {
      const remarks = cost.refusals.map(text => `${text}\n`).join('');
      const answer = await io.ask(`${remarks}This ${cost.text}. Go on? [y/N] `);
      if (!/^y(es)?$/i.test(answer.trim())) {
        print(io, 'nothing was done');
        return 1;
      }
    }
  }
  return sendRequest(session, path, body, done);
}

/** @param done printed when the service has stored the request; it gets the answer. @returns exit status 0. @throws ApiError */
export async function sendRequest<Answer>(
  { api, io, json }: ServiceSession,
  path: string,
  body: object,
  done: string | ((answer: Answer) => string),
): Promise<number> {
  const answer = await api.post<Answer>(path, body);
  if (json) printJson(io, answer);
  else print(io, typeof done === 'string' ? done : done(answer));
  return 0;
}

function isRefused({ items, refusals }: ActCostDocument): boolean {
  return items.length === 0 && refusals.length > 0;
}

/** @returns 1 when nothing would happen because it is refused. */
function sayCost({ io, json }: ServiceSession, cost: ActCostDocument): number {
  if (json) printJson(io, cost);
  else for (const text of isRefused(cost) ? cost.refusals : [...cost.refusals, cost.text]) print(io, text);
  return isRefused(cost) ? 1 : 0;
}
