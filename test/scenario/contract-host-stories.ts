/** What stories at the fake host of the contract ask of it. */
import type { ContractHost } from '../fake/contract-host/host.ts';
import { layoutWith } from './layouts.ts';
import type { World } from './world.ts';

/** One job; `merge` as the reporter has it. */
export function contractLayout(merge: 'merge' | 'squash'): string {
  const text = layoutWith(`
- job:
    name: unit
- project:
    name: org/project
    gate:
      jobs: [unit]
`);
  return text.replace('merge: true', `merge: ${merge}`);
}

export function contractOf({ contract }: World): ContractHost {
  if (contract === undefined) throw new Error('the story has no fake host');
  return contract;
}

/** Topics in the order in which the host made commits of them. */
export async function landedAtHost(world: World): Promise<readonly string[]> {
  const log = await world
    .developer('org/project')
    .git('log', '--first-parent', '--reverse', '--format=%s', 'master');
  return log.split('\n').flatMap(subject => /^master\/(\S+) \((merge|squash)\)$/.exec(subject)?.[1] ?? []);
}

/** Merges that the host was asked for, by topic. */
export function mergesAsked(world: World): readonly string[] {
  return contractOf(world).calls.flatMap(call => /^merge org\/project master\/(\S+)$/.exec(call)?.[1] ?? []);
}
