/** Records that are gone again within milliseconds, or that only damage brings about: made by the code that writes them. */
import { refsChanged } from '../../drivers/git/refs-changed.ts';
import { addMilliseconds, parseNanoseconds } from '../../src/lib/clock.ts';
import { derivedUuid } from '../../src/lib/ids.ts';
import { changeKey } from '../../src/model/change.ts';
import {
  connectionEventCodec,
  mergerOutcomeCodec,
  pipelineEventCodec,
  tenantEventCodec,
} from '../../src/model/codec/records.ts';
import type { ConnectionEvent, PipelineEvent, TenantEvent } from '../../src/model/event.ts';
import { projectKey } from '../../src/model/project.ts';
import { encodeDeadLetter } from '../../src/store/dead-letter.ts';
import { EventQueue } from '../../src/store/event-queue.ts';
import type { StorePaths } from '../../src/store/paths.ts';
import { create, type Operation, type Store } from '../../src/store/port.ts';
import { encodeOperations } from '../../src/store/staged-commit.ts';
import { type DumpedNode, nodeOf } from './dump.ts';

export interface PlantDeps {
  readonly tenant: string;
  readonly paths: StorePaths;
  /** Nothing is written to it. */
  readonly store: Store;
}

const NOW = parseNanoseconds('1795200000000000000');
const clock = { now: () => NOW };
const uuid = (name: string) => derivedUuid('golden', name);

/** @param whole the tree they are added to: queues go on from the numbers that are there. */
export function plantedNodes(
  whole: readonly DumpedNode[],
  { tenant, paths, store }: PlantDeps,
): readonly DumpedNode[] {
  const connection = paths.connection('local');
  const gate = paths.pipeline(tenant, 'gate');
  const places = paths.tenant(tenant);
  const connectionEvents = new EventQueue<ConnectionEvent>({
    store,
    path: connection.queue,
    seenPath: connection.seen,
    codec: connectionEventCodec,
    clock,
  });
  const tenantEvents = new EventQueue<TenantEvent>({
    store,
    path: places.triggerQueue,
    codec: tenantEventCodec,
    clock,
  });
  const pipelineEvents = new EventQueue<PipelineEvent>({
    store,
    path: gate.eventQueue,
    codec: pipelineEventCodec,
    clock,
  });
  const project = projectKey({ connection: 'local', name: 'org/project' });
  const letter = {
    from: places.triggerQueue,
    bytes: Buffer.from('{"k":"tenant-event","v"'),
    attempts: 0,
    at: NOW,
  };
  const operations: readonly Operation[] = [
    // Its push was not announced yet.
    ...connectionEvents.put(
      {
        uuid: uuid('event'),
        connection: 'local',
        ...refsChanged('org/project2', 'delivery-planted'),
        receivedAt: NOW,
        storedAt: addMilliseconds(NOW, 1),
        sampled: true,
      },
      'delivery-planted',
    ),
    ...tenantEvents.put({ kind: 'first-look', uuid: uuid('first-look'), tenant, project, queuedAt: NOW }),
    ...pipelineEvents.put({
      kind: 'dequeue',
      uuid: uuid('dequeue'),
      change: changeKey(project, 'master/D'),
      by: 'the web API',
    }),
    create(
      places.answer(uuid('question')),
      mergerOutcomeCodec.encode({
        kind: 'failed',
        text: 'no connection',
        retryable: true,
        steps: [],
        worker: 'ci1',
      }),
    ),
    create(`${paths.requests('build')}/cancelled/${uuid('gone')}`),
    create(`${places.triggerQueue}-dead/`, encodeDeadLetter(letter, new Error('it is cut short')), {
      sequential: true,
    }),
    create(paths.quarantine),
    create(
      `${paths.quarantine}/`,
      encodeDeadLetter({ ...letter, from: paths.historyOutbox }, new Error('it is cut short')),
      {
        sequential: true,
      },
    ),
    // Never decided: the pipeline's holder removes it.
    create(
      `${gate.staged}/0000`,
      encodeOperations([create(gate.item(uuid('undecided')), Buffer.from('{}'))]),
    ),
  ];
  return operations.flatMap(operation =>
    operation.kind === 'create' ? [nodeOf(numbered(operation, whole), operation.data)] : [],
  );
}

/** The name the store would have given. */
function numbered(operation: Extract<Operation, { kind: 'create' }>, whole: readonly DumpedNode[]): string {
  if (!operation.sequential) return operation.path;
  const taken = whole
    .filter(node => node.path.startsWith(operation.path))
    .map(node => Number(node.path.slice(-10)));
  return `${operation.path}${String(Math.max(99, ...taken) + 1).padStart(10, '0')}`;
}
