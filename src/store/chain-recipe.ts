/**
 * How the tested commits of an item were merged, where items are tested ahead of it: a blob that is written once, with the merger's
 * answer. The answer and the item, which is written with every step it takes, have the item's own changes and the blob's name.
 *
 *     merger     recipeApart(paths, request, outcome)     the answer without the chain, and the blob
 *     executor   withRecipe(store, paths, item)           the item with the chain, when a commit is missing
 *
 * The blob is in use as long as an event or an item names it (sweep-blobs.ts removes it after that).
 */
import { sha256 } from '../lib/ids.ts';
import { testedMergeOf } from '../model/build-set.ts';
import { isBrokenRecord } from '../model/codec/record.ts';
import { chainRecipeCodec } from '../model/codec/records.ts';
import type {
  ChainRecipe,
  MergedBranch,
  MergedInput,
  MergeInput,
  MergerOutcome,
  MergerRequest,
} from '../model/merge.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { StorePaths } from './paths.ts';
import { create, type Operation, type Store } from './port.ts';
import { readNow } from './read-now.ts';

/** What a merger stores: the outcome as it goes into the event, and what goes with it. */
interface Apart {
  readonly outcome: MergerOutcome;
  readonly operations: readonly Operation[];
}

/** As it is, without operations, where nothing but the item's own changes was merged. */
export function recipeApart(paths: StorePaths, request: MergerRequest, outcome: MergerOutcome): Apart {
  if (request.kind !== 'merge' || outcome.kind !== 'merged') return { outcome, operations: [] };
  const own = request.inputs.slice(request.inputs.length - request.own);
  const chains = outcome.branches.filter(
    branch => ownInputs(branch, own).length < (branch.inputs ?? []).length,
  );
  if (chains.length === 0) return { outcome, operations: [] };
  const bytes = chainRecipeCodec.encode({
    request: request.uuid,
    branches: chains.map(({ project, branch, inputs = [] }) => ({ project, branch, inputs })),
  });
  const recipe = sha256(bytes);
  const branches = outcome.branches.map(branch =>
    chains.includes(branch) ? { ...branch, inputs: ownInputs(branch, own), recipe } : branch,
  );
  // No other request has the same uuid, so no other recipe has the same name.
  return { outcome: { ...outcome, branches }, operations: [create(paths.blob(recipe), bytes)] };
}

function ownInputs(
  { project, branch, inputs = [] }: MergedBranch,
  own: readonly MergeInput[],
): readonly MergedInput[] {
  const here = own.filter(each => each.project === project && each.branch === branch);
  return inputs.filter(({ ref, commit }) => here.some(each => each.ref === ref && each.commit === commit));
}

/** Branches whose recipe is gone or cannot be read have no `inputs`. @throws RecordError of a newer version. */
export async function withRecipe(store: Store, paths: StorePaths, item: QueueItem): Promise<QueueItem> {
  const { buildset } = item;
  const { stage } = buildset;
  const tested = testedMergeOf(buildset);
  if (tested === null || !('tested' in stage) || tested.branches.every(({ recipe }) => recipe === undefined))
    return item;
  const branches = await Promise.all(tested.branches.map(branch => complete(store, paths, branch)));
  return { ...item, buildset: { ...buildset, stage: { ...stage, tested: { ...tested, branches } } } };
}

async function complete(store: Store, paths: StorePaths, merged: MergedBranch): Promise<MergedBranch> {
  const { recipe, inputs: _own, ...branch } = merged;
  if (recipe === undefined) return merged;
  const known = (await readRecipe(store, paths.blob(recipe)))?.branches ?? [];
  const inputs = known.find(each => each.project === branch.project && each.branch === branch.branch)?.inputs;
  return inputs === undefined ? branch : { ...branch, inputs };
}

async function readRecipe(store: Store, path: string): Promise<ChainRecipe | undefined> {
  const node = await readNow(store, () => store.get(path));
  try {
    return node === undefined ? undefined : chainRecipeCodec.decode(node.data);
  } catch (error) {
    if (isBrokenRecord(error)) return undefined;
    throw error;
  }
}
