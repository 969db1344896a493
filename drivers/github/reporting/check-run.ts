/**
 * Check runs: one for each item on its commit, named for the pipeline.
 *
 * A run is found again by name, App and external id, so that any process can end what another began. The host appends
 * annotations and replaces the rest; the number it holds says which are missing after a lost answer. The result goes with
 * the first call: annotations never hold it back.
 *
 * Runs that this process wrote are remembered, and the id goes with the item to the next process. That saves a request and decides
 * nothing: a run that is not remembered, is gone, or gets annotations is looked up, unless nothing of the item is at GitHub.
 */
import { createLru } from '../../../src/git/support/lru.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GithubAnswer, Weight } from '../api/port.ts';
import { ANNOTATIONS_PER_CALL, type CheckAnnotation } from './annotations.ts';
import { type GithubReportContext, isGone, type NotOk } from './report-context.ts';
import { checkNameOf, externalIdOf, isBeginning } from './report-key.ts';
import { isLateBeginning, type KnownRun, saysAll, type WantedRun, withAnnotations } from './wanted-run.ts';

/** Runs as this process last wrote them. */
export interface CheckRunMemory {
  get(key: string): KnownRun | undefined;
  set(key: string, run: KnownRun): void;
  delete(key: string): void;
}

/** Entries; a run remembered for an item that has left is never asked for again. */
const REMEMBERED = 5_000;
/** Characters kept, each entry at least one. */
const REMEMBERED_TEXT = 20_000_000;

/** Empty at first. */
export function createCheckRunMemory(): CheckRunMemory {
  return createLru<string, KnownRun>(
    REMEMBERED_TEXT,
    ({ summary }) => REMEMBERED_TEXT / REMEMBERED + (summary?.length ?? 0),
  );
}

/** `ok`: GitHub holds the run as wanted. */
type RunAnswer = { readonly kind: 'ok' } | NotOk;

/** A write whose answer was lost comes back as `lost`: call again, it looks first. @param app id of our App. */
export async function writeCheckRun(
  wanted: WantedRun,
  annotations: readonly CheckAnnotation[],
  app: number,
  context: GithubReportContext,
  memory: CheckRunMemory,
): Promise<RunAnswer> {
  const key = memoryKey(context);
  if (context.isFirst) return bring(undefined, wanted, annotations, context, memory);
  const remembered = annotations.length === 0 ? (memory.get(key) ?? earlierRun(context)) : undefined;
  if (remembered !== undefined) {
    const answer = await bring(remembered, wanted, annotations, context, memory);
    if (!isGone(answer)) return answer;
  }
  const found = await findCheckRun(app, context);
  if (found.kind !== 'ok') return found;
  return bring(found.data, wanted, annotations, context, memory);
}

/** Its texts are not known, so that they are written in any case. */
function earlierRun({ remembered: { run }, commit }: GithubReportContext): KnownRun | undefined {
  if (run?.commit !== commit) return undefined;
  return { id: run.id, status: 'unknown', conclusion: null, title: null, summary: null, annotations: 0 };
}

/** From `run` as it is to `wanted`. @param run undefined: there is none yet. */
async function bring(
  run: KnownRun | undefined,
  wanted: WantedRun,
  annotations: readonly CheckAnnotation[],
  context: GithubReportContext,
  memory: CheckRunMemory,
): Promise<RunAnswer> {
  let known = run;
  if (run !== undefined) context.note({ run: { id: run.id, commit: context.commit } });
  if (context.reopens !== true && isLateBeginning(context.report, run)) return OK;
  // Each round adds annotations, and the last one finds nothing to do.
  for (let calls = 0; calls <= Math.ceil(annotations.length / ANNOTATIONS_PER_CALL); calls++) {
    const held = known?.annotations ?? 0;
    if (known !== undefined && saysAll(known, wanted) && held >= annotations.length) return OK;
    const batch = annotations.slice(held, held + ANNOTATIONS_PER_CALL);
    const answer = await put(known?.id, withAnnotations(wanted, batch), context);
    if (answer.kind !== 'ok') {
      memory.delete(memoryKey(context));
      return answer;
    }
    // What was sent, not what came back: the host may have normalized the texts.
    known = { ...sent(wanted), id: Number(answer.data.id), annotations: held + batch.length };
    memory.set(memoryKey(context), known);
    context.note({ run: { id: known.id, commit: context.commit } });
  }
  return OK;
}

const OK = { kind: 'ok' } as const;

/**
 * Title and summary of a run in progress that is known here. The status is not sent: a text that arrives late, after the result,
 * opens no run again.
 */
export async function writeProgress(
  { output }: WantedRun,
  context: GithubReportContext,
  memory: CheckRunMemory,
): Promise<RunAnswer> {
  const key = memoryKey(context);
  const run = memory.get(key) ?? earlierRun(context);
  if (run === undefined || run.status === 'completed') return OK;
  if (run.title === output.title && run.summary === output.summary) return OK;
  const answer = await context.api.rest(
    'checks/update',
    'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}',
    { check_run_id: run.id, output },
    context.call('live'),
  );
  if (isGone(answer)) {
    memory.delete(key);
    return OK;
  }
  // After an answer that was lost the texts may be those before or these.
  const texts = answer.kind === 'ok' ? output : { title: null, summary: null };
  if (answer.kind === 'ok' || answer.kind === 'lost')
    memory.set(key, { ...run, status: 'in_progress', ...texts });
  return answer;
}

async function put(
  id: number | undefined,
  run: ReturnType<typeof withAnnotations>,
  { api, commit, call, report }: GithubReportContext,
): Promise<GithubAnswer<{ readonly id: number | bigint }>> {
  const weight: Weight = isBeginning(report) ? 'notice' : 'final';
  return id === undefined
    ? api.rest(
        'checks/create',
        'POST /repos/{owner}/{repo}/check-runs',
        { ...run, head_sha: commit },
        call(weight),
      )
    : api.rest(
        'checks/update',
        'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}',
        { ...run, check_run_id: id },
        call(weight),
      );
}

function sent({ status, conclusion, output }: WantedRun): Omit<KnownRun, 'id' | 'annotations'> {
  return { status, conclusion: conclusion ?? null, title: output.title, summary: output.summary };
}

const PAGE = 100;
/** Runs of one pipeline on one commit: each is a run of the whole pipeline. */
const MOST_PAGES = 3;

/** The newest run of this item on the commit. */
export async function findCheckRun(
  app: number,
  { api, commit, report, call }: GithubReportContext,
): Promise<GithubAnswer<KnownRun | undefined>> {
  const externalId = externalIdOf(report);
  let newest: KnownRun | undefined;
  for (let page = 1; page <= MOST_PAGES; page++) {
    const answer = await api.rest(
      'checks/list-for-ref',
      'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
      { ref: commit, check_name: checkNameOf(report), app_id: app, filter: 'all', per_page: PAGE, page },
      call('final'),
    );
    if (answer.kind !== 'ok') return answer;
    const runs = answer.data.check_runs;
    for (const run of runs) {
      const id = Number(run.id);
      if (run.external_id !== externalId || id < (newest?.id ?? 0)) continue;
      const { title, summary, annotations_count: annotations } = run.output;
      newest = { id, status: run.status, conclusion: run.conclusion, title, summary, annotations };
    }
    if (runs.length < PAGE) break;
  }
  return { kind: 'ok', status: 200, data: newest };
}

function memoryKey({ change, commit, report }: GithubReportContext): string {
  return `${projectIdOf(change.project).name} ${commit} ${externalIdOf(report)}`;
}
