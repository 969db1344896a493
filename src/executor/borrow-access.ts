/**
 * Asks the process that holds a connection for read access to one repository of a build, see
 * `doc/decisions/0071-executors-borrow-read-access.md`. The answer is for this process alone; nothing of it is kept.
 */
import type { IdMaker, Uuid } from '../lib/ids.ts';
import { pause } from '../lib/pause.ts';
import { createRecipient, type TextRecipient } from '../lib/sealed-text.ts';
import { type AccessRequest, accessContext } from '../model/access-request.ts';
import { accessRequestCodec } from '../model/codec/records.ts';
import type { HostTrouble } from '../model/host-trouble.ts';
import { type ProjectKey, projectIdOf } from '../model/project.ts';
import { isOutOfContact, withRetry } from '../store/connection.ts';
import { ensureNode } from '../store/ensure-node.ts';
import type { StorePaths } from '../store/paths.ts';
import { create, remove, type Store, StoreError } from '../store/port.ts';
import { readNow } from '../store/read-now.ts';
import { createPathRefresher } from '../store/refresher.ts';

/** `store`: the session that holds the claims of the executor's builds. */
export interface BorrowDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly ids: IdMaker;
  /** Milliseconds; default a minute. */
  readonly deadline?: number;
}

/** HTTP header lines for git, secret; or why there are none. */
export type BorrowedAccess = { readonly headers: readonly string[] } | { readonly trouble: HostTrouble };

/** GitHub's answer takes a second; an outage of the scheduler shall not hold a slot for long. */
const DEADLINE_MS = 60_000;

/** @param build one of this executor's. @throws StoreError when the session is over. */
export async function borrowAccess(
  { store, paths, ids, deadline = DEADLINE_MS }: BorrowDeps,
  build: Uuid,
  project: ProjectKey,
): Promise<BorrowedAccess> {
  const { connection } = projectIdOf(project);
  const recipient = createRecipient();
  const path = paths.accessRequest(connection, ids.uuid());
  const request: AccessRequest = { state: 'asked', build, project, publicKey: recipient.publicKey };
  await ensureNode(store, paths.accessRequests(connection));
  const node = create(path, accessRequestCodec.encode(request), { ephemeral: true });
  await withRetry(
    store,
    () => store.multi([node]),
    async () => (await store.get(path)) !== undefined,
  );
  try {
    const answer = await answerAt(store, path, deadline);
    return read(answer, recipient, path, project);
  } finally {
    await removeQuietly(store, path);
  }
}

type Answer = Exclude<AccessRequest, { state: 'asked' }>;

/** @returns undefined when the deadline passed. */
async function answerAt(store: Store, path: string, deadline: number): Promise<Answer | undefined> {
  const found = Promise.withResolvers<Answer | undefined>();
  using copy = createPathRefresher(
    store,
    path,
    async () => {
      const node = await readNow(store, () => store.get(path));
      if (node === undefined) throw new StoreError('NoNode', path);
      const record = accessRequestCodec.decode(node.data);
      if (record.state !== 'asked') found.resolve(record);
    },
    { onError: found.reject },
  );
  void copy.touch();
  const answered = new AbortController();
  const late = pause(deadline, answered.signal).then(() => undefined);
  try {
    return await Promise.race([found.promise, late]);
  } finally {
    answered.abort();
  }
}

function read(
  answer: Answer | undefined,
  recipient: TextRecipient,
  path: string,
  project: ProjectKey,
): BorrowedAccess {
  const { connection } = projectIdOf(project);
  if (answer === undefined)
    return trouble(
      project,
      `no scheduler answered the request for access in time: one must run that has the credentials of connection ${connection}`,
    );
  if (answer.state === 'refused') return { trouble: { project, reason: answer.reason, text: answer.text } };
  const opened = recipient.open(answer.sealed, accessContext(path, project));
  if (opened === undefined) return trouble(project, 'the access that was lent is not for this process');
  return { headers: headersOf(opened.reveal()) };
}

/** @param text as the lender wrote it: it opened, so it is whole. */
function headersOf(text: string): readonly string[] {
  const lines: unknown = JSON.parse(text);
  return Array.isArray(lines) ? lines.filter(line => typeof line === 'string') : [];
}

function trouble(project: ProjectKey, text: string): BorrowedAccess {
  return { trouble: { project, reason: 'other', text } };
}

/** It goes with the session at the latest. */
async function removeQuietly(store: Store, path: string): Promise<void> {
  try {
    await store.multi([remove(path)]);
  } catch (error) {
    if (isOutOfContact(error) || (error instanceof StoreError && error.code === 'NoNode')) return;
    throw error;
  }
}
