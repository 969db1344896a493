/** `gerrit review` of `CHANGE,PATCHSET` with `--message`, `--label NAME=VALUE`, `--tag` and `--notify`, or with `--submit`. */
import type { Shape } from '../../../github/fake/shape.ts';
import { seesChange } from '../authority.ts';
import { submit } from '../doing/submit.ts';
import { postReview } from '../rest/review-request.ts';
import { RestRefused } from '../rest-refused.ts';
import { currentPatchSet, type FakeAccount, type GerritWorld } from '../world.ts';
import type { SshAnswer } from './fake-ssh.ts';

/** @param args behind `gerrit review`. */
export async function reviewCommand(
  world: GerritWorld,
  caller: FakeAccount,
  args: readonly string[],
): Promise<SshAnswer> {
  const named = /^(\d+),(\d+)$/.exec(args.at(-1) ?? '');
  const change = world.changes.get(Number(named?.[1]));
  const patchSet = change?.now.patchSets.find(({ number }) => String(number) === named?.[2]);
  if (change === undefined || patchSet === undefined || !seesChange(caller, change))
    return failed(`"${args.at(-1)}" no such patch set`);
  try {
    await world.exclusively(async () => {
      if (!args.includes('--submit')) {
        const parts = [String(change.number), String(patchSet.number)];
        const query = new URLSearchParams();
        return void (await postReview({ world, caller, query, parts, body: bodyOf(args) }));
      }
      if (change.now.status === 'NEW' && patchSet !== currentPatchSet(change.now))
        throw new RestRefused(409, `revision ${patchSet.commit} is not current revision`);
      await submit(world, caller, change);
    });
  } catch (error) {
    if (!(error instanceof RestRefused)) throw error;
    return failed(`fatal: ${error.message}`);
  }
  return { code: 0 };
}

function bodyOf(args: readonly string[]): Shape {
  const valuesOf = (option: string) =>
    args.flatMap((each, at) => (each === option ? [args[at + 1] ?? ''] : []));
  const labels = valuesOf('--label').map(each => each.split('=', 2));
  const fields = ['message', 'tag', 'notify'].flatMap(name =>
    valuesOf(`--${name}`).map(value => [name, value] as const),
  );
  return { ...Object.fromEntries(fields), labels: Object.fromEntries(labels) };
}

/** As a real one says it. */
export function failed(text: string): SshAnswer {
  return { err: `error: ${text}\n\nfatal: one or more reviews failed; review output above\n`, code: 1 };
}
