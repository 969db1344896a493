/**
 * The text of a report, in the form tools parse from Zuul:
 *
 *     Build succeeded (gate).
 *     http://gate.example.org/t/acme/item/4f0c...
 *     Trace: http://jaeger.example.org/trace/4f0c...
 *
 *     - unit-tests http://gate.example.org/t/acme/build/91ab... : SUCCESS in 1m 02s
 *     - lint http://gate.example.org/t/acme/build/77cd... : FAILURE in 4s (non-voting)
 *
 * A failure shows only the first reason that applies: needed change, requirement, conflict, configuration, else the jobs.
 */
import { millisecondsBetween } from '../../lib/clock.ts';
import { durationText } from '../../lib/duration-text.ts';
import { type Build, resultOf } from '../../model/build.ts';
import { currentBuild, graphOf } from '../../model/build-set.ts';
import { resetText } from '../../model/cause.ts';
import { configErrorText } from '../../model/config-error.ts';
import type { FrozenJob } from '../../model/job.ts';
import type { Pipeline, ReportAction } from '../../model/pipeline.ts';
import { projectIdOf } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { buildPage, itemPage } from '../pages.ts';

const SHOWN_ERRORS = 10;

export interface MessageContext {
  readonly root: string;
  readonly pipeline: Pipeline;
  readonly jobs: readonly FrozenJob[];
  /** Of the item in the trace viewer; null: none to tell of. */
  readonly traceUrl: string | null;
  /** A line that replaces the reason, e.g. of a refusal. */
  readonly text?: string;
}

export function reportMessage(action: ReportAction, item: QueueItem, context: MessageContext): string {
  const lines = [headline(action, context.pipeline), itemPage(context.root, item.tenant, item.uuid)];
  const isOver = action !== 'start' && action !== 'enqueue';
  if (isOver && context.traceUrl !== null) lines.push(`Trace: ${context.traceUrl}`);
  if (isOver) lines.push('', ...reasonLines(action, item, context), ...resetLines(item));
  const footer = context.pipeline.messages.footer;
  if (footer !== undefined) lines.push('', footer);
  return lines.join('\n');
}

export function headline(action: ReportAction, pipeline: Pipeline): string {
  const own = pipeline.messages[action];
  if (own !== undefined) return own;
  const texts: { readonly [action in ReportAction]: string } = {
    enqueue: `Enqueued (${pipeline.name}).`,
    start: `Starting ${pipeline.name} jobs.`,
    success: `Build succeeded (${pipeline.name}).`,
    failure: `Build failed (${pipeline.name}).`,
    'merge-conflict': `Merge failed (${pipeline.name}): the change or one of its dependencies conflicts with the branch or a change ahead of it.`,
    'config-error': `The configuration in this change is not valid (${pipeline.name}).`,
    'no-jobs': `No jobs ran (${pipeline.name}).`,
    dequeue: `Build canceled (${pipeline.name}).`,
    disabled: `Build finished (${pipeline.name}; the pipeline is disabled after repeated failures).`,
  };
  return texts[action];
}

function reasonLines(action: ReportAction, item: QueueItem, context: MessageContext): readonly string[] {
  if (context.text !== undefined) return [context.text];
  const { conflict, configErrors } = item.buildset;
  if (conflict !== null) {
    return [
      `Conflicting in ${projectIdOf(conflict.project).name}${conflict.with === undefined ? '' : ` with ${conflict.with}`}:`,
      ...conflict.files.map(file => `- ${file}`),
    ];
  }
  if (configErrors.length > 0) {
    const shown = configErrors.slice(0, SHOWN_ERRORS).map(error => `- ${configErrorText(error)}`);
    return configErrors.length > SHOWN_ERRORS
      ? [...shown, `and ${configErrors.length - SHOWN_ERRORS} more`]
      : shown;
  }
  if (action === 'no-jobs') {
    return graphOf(item.buildset) === null
      ? [`The project takes no part in pipeline ${item.pipeline}.`]
      : ['No job of this pipeline matches what the change touches.'];
  }
  return jobLines(item, context);
}

function jobLines(item: QueueItem, context: MessageContext): readonly string[] {
  const nodes = graphOf(item.buildset)?.jobs ?? [];
  return nodes.flatMap(node => {
    const build = currentBuild(item.buildset, node.name);
    if (build === undefined) return [];
    const job = context.jobs.find(each => each.name === node.name);
    return [jobLine(build, job, item, context.root)];
  });
}

function jobLine(build: Build, job: FrozenJob | undefined, item: QueueItem, root: string): string {
  const result = resultOf(build) ?? 'unfinished';
  const own =
    result === 'SUCCESS' ? job?.successMessage : result === 'FAILURE' ? job?.failureMessage : undefined;
  const detail =
    build.state.state === 'completed' && build.state.detail !== undefined ? ` ${build.state.detail}` : '';
  const skipped = build.state.state === 'skipped' ? ` because of ${build.state.because}` : '';
  const voting = build.voting ? '' : ' (non-voting)';
  return `- ${build.job} ${buildPage(root, item.tenant, build.uuid)} : ${own ?? result}${detail}${skipped}${timeText(build)}${voting}`;
}

function timeText(build: Build): string {
  const { state } = build;
  if (state.state !== 'completed' || state.startedAt === null) return '';
  return ` in ${durationText(millisecondsBetween(state.startedAt, state.at))}`;
}

/** How often it was tested again and why: the part Zuul keeps to itself. */
function resetLines(item: QueueItem): readonly string[] {
  const causes = [...item.earlier.slice(1), item.buildset].flatMap(buildset =>
    buildset.cause === null ? [] : [buildset.cause],
  );
  if (item.earlier.length === 0 || causes.length === 0) return [];
  return ['', ...causes.map(cause => `Tested again because ${resetText(cause)}.`)];
}
