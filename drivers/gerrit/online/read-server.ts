/** Reads who we are at a Gerrit, and how it is set up. */
import type { Asked } from '../../../src/driver/ask-online.ts';
import type { OnlineFinding } from '../../../src/driver/online-check.ts';
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';

/** What a Gerrit says of itself and of our account. */
export interface GerritServerFacts {
  /** Null: the account has none, so Gerrit's SSH does not let it in. */
  readonly username: string | null;
  /** Whether it may read the stream of events. */
  readonly streamEvents: boolean;
  /** E.g. `3.9.4`; null: Gerrit did not say. */
  readonly version: string | null;
  /** `change.submitWholeTopic` */
  readonly wholeTopic: boolean;
}

/** Something that makes all further questions useless, or facts. */
export type GerritReading<T> =
  | { readonly kind: 'wrong'; readonly finding: Omit<OnlineFinding, 'project'> }
  | { readonly kind: 'facts'; readonly facts: T };

/** @throws the signal's reason. */
export async function readGerritServer(
  api: GerritApi,
  call: GerritCall,
): Promise<Asked<GerritReading<GerritServerFacts>>> {
  const account = await get(api, 'accounts/self', 'accounts/self/detail', call);
  if (account.kind !== 'ok') return withoutGerritData(account);
  const capabilities = await get(api, 'accounts/capabilities', 'accounts/self/capabilities', call);
  if (capabilities.kind !== 'ok') return withoutGerritData(capabilities);
  const version = await get(api, 'config/version', 'config/server/version', call);
  if (version.kind !== 'ok' && version.kind !== 'refused') return withoutGerritData(version);
  const info = await get(api, 'config/info', 'config/server/info', call);
  if (info.kind !== 'ok') return withoutGerritData(info);
  const { username } = mappingOf(account.data);
  // An administrator has every capability, and Gerrit lists the one alone.
  const { streamEvents, administrateServer } = mappingOf(capabilities.data);
  return {
    kind: 'answered',
    value: {
      kind: 'facts',
      facts: {
        username: typeof username === 'string' ? username : null,
        streamEvents: streamEvents === true || administrateServer === true,
        version: version.kind === 'ok' && typeof version.data === 'string' ? version.data : null,
        wholeTopic: mappingOf(mappingOf(info.data).change).submit_whole_topic === true,
      },
    },
  };
}

/** One question that changes nothing. */
export async function get(
  api: GerritApi,
  operation: string,
  path: string,
  call: GerritCall,
): Promise<GerritAnswer<Json>> {
  return await api.ask({ operation, method: 'GET', path }, call);
}

/** A mapping without keys where there is none. */
export function mappingOf(json: Json | undefined): { readonly [key: string]: Json } {
  return isMapping(json) ? json : {};
}

/** A refusal, and access that is missing as a whole, concern what was asked about; the rest is trouble of the host. */
export function withoutGerritData(
  answer: Exclude<GerritAnswer<unknown>, { kind: 'ok' }>,
): Asked<Extract<GerritReading<never>, { kind: 'wrong' }>> {
  if (answer.kind !== 'refused' && answer.later.reason !== 'denied')
    return { kind: 'later', later: answer.later };
  const text =
    answer.kind === 'refused'
      ? `Gerrit answered ${answer.status}: ${oneLine(answer.text)}`
      : answer.later.text;
  return { kind: 'answered', value: { kind: 'wrong', finding: { severity: 'error', text } } };
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}
