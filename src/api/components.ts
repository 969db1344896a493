/** `/api/components`: every process of the installation by kind, as Zuul's clients know it, with a `gatehouse` block. */
import { toMilliseconds } from '../lib/clock.ts';
import type { ComponentRecord, ComponentState } from '../model/component.ts';
import type { WallName } from '../model/wall.ts';
import { byName, type Document, document, flag, list, nullable, oneOf, text, whole } from './schema.ts';

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
    ansible_versions: list(text(), 'Versions of Ansible that its jobs may name'),
    zone: nullable(text(), 'Of the hosts that an executor reaches; null: those without one'),
    allow_unzoned: flag('Whether an executor with a zone also takes builds without one'),
    address: nullable(text(), 'Where an executor serves logs'),
    wanted: nullable(oneOf(STATES), 'State an operator requested last; null: none'),
    trouble: nullable(text(), 'Why a running component takes no work'),
    walls: list(
      document({
        name: oneOf(Object.keys(WALLS) as WallName[]),
        state: oneOf(['stands', 'off', 'missing']),
        text: text('How it is enforced, or why it is not'),
      }),
      'Limits between a job and the machine; empty: not an executor, or an executor of 0.3',
    ),
  }),
});
/** One registered component. */
export type ComponentJson = Document<typeof componentSchema>;

/** `GET /api/components`. */
export const componentsSchema = byName(list(componentSchema), 'By kind, including kinds without components');
/** Printed by `gatehouse components`. Every kind is a key, also one without a component. */
export type ComponentsJson = Document<typeof componentsSchema>;

/** Actions of `POST /api/components/<id>/<action>`, each with the state it requests. */
export const STATE_ACTIONS: ReadonlyMap<string, ComponentState> = new Map([
  ['pause', 'paused'],
  ['resume', 'running'],
  ['stop', 'stopping'],
]);

/** Answer to a request for a state. */
export const requestedStateSchema = document({ id: text(), wanted: oneOf(STATES) });

interface Component extends ComponentRecord {
  readonly id: string;
  readonly kind: string;
}

/** @param kinds all kinds of components, in the order of the document. */
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
      ansible_versions: component.ansibleVersions ?? [],
      zone: component.zone ?? null,
      allow_unzoned: component.allowUnzoned ?? false,
      address: component.address,
      wanted: component.wanted ?? null,
      trouble: component.trouble ?? null,
      walls: component.walls ?? [],
    },
  };
}
