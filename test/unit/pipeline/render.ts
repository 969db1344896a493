/**
 * The compact notation of the transcripts.
 *
 *     > merge A,1#1                      a command: what is asked for, buildset number after #
 *     > build A,1 unit                   (unit*2: second attempt)
 *     > report A,1 success, awaited
 *     . reset B: text                    a decision
 *     ~ text                             an ignored event, for the debug log
 *     < A,1 SUCCESS (reported)           left
 *     queue app, window 20
 *       A,1 #1 running: unit=started lint=SUCCESS          state name of the timeline, subject after it
 *       B,1 #2 <- A,1 merge                                extends A; nothing: extends the branch
 *      (C,1) dependency                                    holds a place only
 */
import { type Build, resultOf } from '../../../src/model/build.ts';
import { currentBuild, graphOf } from '../../../src/model/build-set.ts';
import type { ChangeQueue } from '../../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import type { Command, TurnOutput } from '../../../src/pipeline/turn.ts';
import type { PipelineWorld } from './world.ts';

export function renderTurn(
  pipeline: PipelineWorld,
  before: ReadonlyMap<string, QueueItem>,
  turn: TurnOutput,
): string[] {
  const known = new Map<string, QueueItem>([
    ...before,
    ...turn.left.map(item => [item.uuid, item] as const),
    ...pipeline.state.items,
  ]);
  return [
    ...turn.decisions.map(decision => `. ${decision.code} ${decision.changeText}: ${decision.text}`),
    ...turn.ignored.map(({ text }) => `~ ${text}`),
    ...turn.commands.map(command => `> ${renderCommand(command, known)}`),
    ...turn.left.flatMap(item =>
      item.phase.phase === 'left' ? `< ${label(item)} ${item.phase.result} (${item.phase.reason})` : [],
    ),
  ];
}

function renderCommand(command: Command, known: ReadonlyMap<string, QueueItem>): string {
  const item = 'item' in command && command.item !== null ? known.get(command.item) : undefined;
  const who = item === undefined ? '?' : label(item);
  switch (command.kind) {
    case 'request-merge':
      return `merge ${who}#${item?.buildset.number ?? '?'}`;
    case 'request-repo-state':
      return `repo-state ${who}#${item?.buildset.number ?? '?'} ${command.states.map(state => state.project).join(' ')}`;
    case 'withdraw-merger-request':
      return `withdraw merger request`;
    case 'request-build':
      return `build ${who} ${command.job}${command.attempt === 1 ? '' : `*${command.attempt}`}`;
    case 'cancel-build':
      return `cancel ${buildName(command.build, known)}`;
    case 'resume-build':
      return `resume ${buildName(command.build, known)}`;
    case 'report': {
      const about = command.item === null ? `change ${command.change.split('#')[1] ?? ''}` : who;
      const text = command.text === undefined ? '' : `: ${command.text}`;
      return `report ${about} ${command.action}${command.awaited ? ', awaited' : ''}${text}`;
    }
    case 'supersede':
      return `supersede ${command.change.split('#')[1] ?? ''} in ${command.pipelines.join(', ')}`;
  }
}

function buildName(uuid: string, known: ReadonlyMap<string, QueueItem>): string {
  for (const item of known.values()) {
    for (const buildset of [item.buildset, ...item.earlier]) {
      const build = buildset.builds.find(entry => entry.uuid === uuid);
      if (build !== undefined) return `${label(item)} ${build.job}`;
    }
  }
  return '?';
}

export function renderState(pipeline: PipelineWorld): string[] {
  const { state } = pipeline;
  const disabled = state.disabled
    ? [`${pipeline.pipeline.name} is disabled after ${state.consecutiveFailures} failures`]
    : [];
  return [...disabled, ...state.queues.flatMap(queue => renderQueue(pipeline, queue))];
}

function renderQueue(pipeline: PipelineWorld, queue: ChangeQueue): string[] {
  const items = queue.items.flatMap(uuid => pipeline.state.items.get(uuid) ?? []);
  const window = queue.window === 0 ? '' : `, window ${queue.window}`;
  return [
    `${pipeline.pipeline.name} ${queue.name}${window}${items.length === 0 ? ', empty' : ''}`,
    ...items.map(item => renderItem(pipeline, item)),
  ];
}

function renderItem(pipeline: PipelineWorld, item: QueueItem): string {
  if (item.role === 'dependency') return ` (${label(item)})`;
  const behind = item.behind === null ? undefined : pipeline.state.items.get(item.behind);
  const ahead = behind === undefined ? (item.behind === null ? '' : ' <- gone') : ` <- ${label(behind)}`;
  const state = item.timeline.at(-1);
  const subject = state?.subject === undefined ? '' : ` (${state.subject})`;
  return `  ${label(item)} #${item.buildset.number}${ahead} ${state?.state ?? '?'}${subject}${renderJobs(item)}`;
}

function renderJobs(item: QueueItem): string {
  const jobs = graphOf(item.buildset)?.jobs ?? [];
  const shown = jobs.flatMap(job => {
    const build = currentBuild(item.buildset, job.name);
    return build === undefined
      ? []
      : `${job.name}${build.attempt === 1 ? '' : `*${build.attempt}`}=${renderBuild(build)}`;
  });
  return shown.length === 0 ? '' : `: ${shown.join(' ')}`;
}

function renderBuild(build: Build): string {
  if (build.state.state === 'started' && build.state.failingSince !== undefined) return 'failing';
  return resultOf(build) ?? build.state.state;
}

function label(item: QueueItem): string {
  return item.changes
    .map(change => (change.kind === 'change' ? `${change.id},${change.patchset}` : change.ref))
    .join('+');
}
