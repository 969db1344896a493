/** Who we are and what kind of Gerrit this is, as far as SSH or the settings say. */
import type { GerritCarried } from '../carrier.ts';
import { served } from './read-queried.ts';
import { sshAccountId } from './ssh-account.ts';
import type { SshAsked, SshCarrierDeps } from './ssh-asked.ts';
import { refusedOverSsh } from './ssh-refused.ts';

const NO_BYTES = { bytes: 0 };

/** By the settings. */
export function ownAccount(_: SshAsked, { username }: SshCarrierDeps): GerritCarried {
  return served({ _account_id: sshAccountId(username), username }, NO_BYTES);
}

/** Milliseconds in which Gerrit refuses the stream of events, if it does. */
const REFUSAL_MS = 3_000;

/** Whether we may read the stream of events, found by trying: a stream that opens says nothing for a while. */
export async function ownCapabilities(
  { signal }: SshAsked,
  { session }: SshCarrierDeps,
): Promise<GerritCarried> {
  const ran = await session.run({ line: 'gerrit stream-events', deadlineMs: REFUSAL_MS }, signal);
  if (ran.kind === 'silent' && ran.reason !== 'timeout') return ran;
  return served({ streamEvents: ran.kind === 'silent' }, NO_BYTES);
}

/** `gerrit version 3.9.4` */
export async function serverVersion({ signal }: SshAsked, deps: SshCarrierDeps): Promise<GerritCarried> {
  const command = { line: 'gerrit version', deadlineMs: deps.deadlinesMs.read };
  const ran = await deps.session.run(command, signal);
  if (ran.kind === 'silent') return ran;
  const version = /^gerrit version (\S+)/.exec(ran.output.toString('utf8'))?.[1];
  if (version === undefined) return refusedOverSsh(404, ran.complaint);
  return served(version, { bytes: ran.output.length });
}

/** By the settings. */
export function serverInfo(_: SshAsked, { submitsWholeTopic }: SshCarrierDeps): GerritCarried {
  return served({ change: submitsWholeTopic ? { submit_whole_topic: true } : {} }, NO_BYTES);
}
