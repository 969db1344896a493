/** `/api/components`: every process of the installation by kind, as Zuul's clients know it, with a `gatehouse` block. */
import { toMilliseconds } from '../lib/clock.ts';
import type { ComponentRecord, ComponentState } from '../model/component.ts';
import type { WallName } from '../model/wall.ts';
import { byName, type Document, document, list, nullable, oneOf, text, whole } from './schema.ts';

const STATES = ['running', 'paused', 'stopping'] as const;
const WALLS: { readonly [name in WallName]: true } = {
  sandbox: true,
  'system-calls': true,
  memory: true,
  processes: true,
  cpu: true,
  oom: true,
  disk: true,
  files: true,
};

const componentSchema = document({
  hostname: text(),
  state: oneOf(STATES),
  version: text(),
  gatehouse: document({
    id: text('Kind and number of the registration, such as executor-4'),
    pid: whole(),
    started_at: whole('Milliseconds since the epoch'),
    labels: list(text()),
    address: nullable(text(), 'Where an executor serves logs'),
    wanted: nullable(oneOf(STATES), 'What an operator asked for last; null: nothing yet'),
    trouble: nullable(text(), 'Why it takes no work although it runs'),
    walls: list(
      document({
        name: oneOf(Object.keys(WALLS) as WallName[]),
        state: oneOf(['stands', 'off', 'missing']),
        text: text('How it stands, or why not'),
      }),
      'What stands between a job and the machine; empty: no executor, or one of 0.3',
    ),
  }),
});
export type ComponentJson = Document<typeof componentSchema>;

export const componentsSchema = byName(
  list(componentSchema),
  'By kind; a kind without components is there, too',
);
export type ComponentsJson = Document<typeof componentsSchema>;

/** What an operator may want of a component, and the state that leads to. */
export const WISHES: ReadonlyMap<string, ComponentState> = new Map([
  ['pause', 'paused'],
  ['resume', 'running'],
  ['stop', 'stopping'],
]);

export const wishSchema = document({ id: text(), wanted: oneOf(STATES) });

interface Component extends ComponentRecord {
  readonly id: string;
  readonly kind: string;
}

export function componentsJson(kinds: readonly string[], components: readonly Component[]): ComponentsJson {
  return Object.fromEntries(
    kinds.map(kind => [kind, components.filter(each => each.kind === kind).map(componentJson)]),
  );
}

function componentJson(component: Component): ComponentJson {
  return {
    hostname: component.host,
    state: component.state,
    version: component.version,
    gatehouse: {
      id: component.id,
      pid: component.pid,
      started_at: Math.round(toMilliseconds(component.startedAt)),
      labels: component.labels,
      address: component.address,
      wanted: component.wanted ?? null,
      trouble: component.trouble ?? null,
      walls: component.walls ?? [],
    },
  };
}
