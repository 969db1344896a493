/** Whether everything that was begun has ended, by what the store holds; and if not, what is left. */

import { deadLetterPath } from '../../src/store/dead-letter.ts';
import { CONNECTION } from './host/host-git.ts';
import { TENANT } from './site.ts';
import type { World } from './world.ts';

/** One line per thing that is not at rest. */
export function unrest(world: World): readonly string[] {
  const { paths, server } = world;
  const left: string[] = [];
  const children = (path: string) => [...(server.leader.find(path)?.children ?? [])];
  const empty = (path: string, what: string) => {
    const count = children(path).length;
    if (count > 0) left.push(`${count} ${what}`);
  };
  empty(paths.connection(CONNECTION).queue, 'connection events');
  empty(paths.tenant(TENANT).triggerQueue, 'tenant events');
  for (const pipeline of children(paths.tenant(TENANT).pipelines)) {
    const places = paths.pipeline(TENANT, pipeline);
    empty(places.items, `items in ${pipeline}`);
    empty(places.eventQueue, `events of ${pipeline}`);
    empty(paths.reportOutbox(TENANT, pipeline), `reports of ${pipeline}`);
  }
  for (const kind of ['merge', 'build'] as const) {
    empty(`${paths.requests(kind)}/queue`, `${kind} requests`);
    empty(`${paths.requests(kind)}/claimed`, `claims of ${kind} requests`);
  }
  empty(paths.spanOutbox, 'span rows');
  empty(paths.historyOutbox, 'history rows');
  const open = world.deliveries.filter(delivery => delivery.acknowledgedAt === undefined).length;
  if (open > 0) left.push(`${open} webhooks not taken`);
  // What a process does that comes back late counts, too.
  const away = world.names.filter(name => !world.process(name).alive || world.process(name).paused);
  if (away.length > 0) left.push(`${away.join(', ')} away`);
  return left;
}

/** What was quarantined. */
export function deadLetters(world: World): readonly string[] {
  const { paths, server } = world;
  const queues = [
    paths.connection(CONNECTION).queue,
    paths.tenant(TENANT).triggerQueue,
    ...[...(server.leader.find(paths.tenant(TENANT).pipelines)?.children ?? [])].map(
      pipeline => paths.pipeline(TENANT, pipeline).eventQueue,
    ),
  ];
  return queues.flatMap(queue =>
    [...(server.leader.find(deadLetterPath(queue))?.children ?? [])].map(name => {
      const text = new TextDecoder().decode(server.leader.find(`${deadLetterPath(queue)}/${name}`)?.data);
      return `${queue}: ${text.slice(0, 300)}`;
    }),
  );
}
