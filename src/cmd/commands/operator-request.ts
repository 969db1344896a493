/** What the commands that change something have in common: who may give them, and what they print. */
import { print, printJson } from '../terminal/io.ts';
import type { ServiceSession } from './session.ts';

/** For the help of a command. @param token which one, e.g. `a token that names the tenant`. */
export function whoMayText(token: string): string {
  return `
On a machine that runs a web, the command uses the service's Unix socket, open to the service's user and root. From elsewhere
it needs ${token}.`;
}

/** @param done printed when the service has stored the request. @returns exit status 0. @throws ApiError */
export async function sendRequest(
  { api, io, json }: ServiceSession,
  path: string,
  body: object,
  done: string,
): Promise<number> {
  const answer = await api.post<unknown>(path, body);
  if (json) printJson(io, answer);
  else print(io, done);
  return 0;
}
