/** Steps of a worker, below `MergerJob` or `JobExecution`. */
import type { SpanId } from '../../lib/ids.ts';
import { clampInto, earliest, latest, type TimeWindow } from '../../lib/time-window.ts';
import type { Step } from '../../model/step.ts';
import { STEP_FACTS } from '../allowed-attributes.ts';
import type { AttributeInput } from '../attribute-values.ts';
import type { AttributeKey } from '../attributes.ts';
import { keyedStepSpanId, stepSpanId } from '../span-ids.ts';
import type { ItemContext } from './item-context.ts';
import { once, type ParentSpan, type SpanPlan, spanOf } from './span-plan.ts';

/** Where a list of steps hangs in its trace. */
export interface StepsPlace {
  /** Prefix of the plans' keys, unique within the trace. */
  readonly key: string;
  readonly parent: ParentSpan;
  /** Attributes that all steps share. */
  readonly own: AttributeInput;
}

/** Plans of the steps and of their parts, parents first; children lie within their parents. */
export function planSteps(
  context: Pick<ItemContext, 'draft'>,
  place: StepsPlace,
  steps: readonly Step[],
): readonly SpanPlan[] {
  const seen = new Map<string, number>();
  return steps.flatMap((step, index) => {
    const own = { ...place, key: `${place.key}/${index}` };
    if (step.key !== undefined) {
      const { key } = step;
      return planStep(context, own, step, () => keyedStepSpanId(place.parent.id(), key));
    }
    const name = `${step.kind} ${step.subject}`;
    const ordinal = seen.get(name) ?? 0;
    seen.set(name, ordinal + 1);
    return planStep(context, own, step, () =>
      stepSpanId(place.parent.id(), step.kind, step.subject, ordinal),
    );
  });
}

function planStep(
  context: Pick<ItemContext, 'draft'>,
  { key, parent, own }: StepsPlace,
  step: Step,
  spanId: () => SpanId,
): readonly SpanPlan[] {
  const { start, end } = clampInto(parent, step.startedAt, step.endedAt);
  const self: ParentSpan = { id: once(spanId), start, end };
  const plan: SpanPlan = {
    key,
    end,
    make: () =>
      spanOf({
        ...context.draft,
        kind: step.kind,
        subject: step.subject,
        id: self.id(),
        parent,
        start: step.startedAt,
        end: step.endedAt,
        result: stepResult(step),
        own: { ...own, spanSubject: step.subject, ...testName(step), ...factAttributes(step) },
      }),
  };
  if (step.steps === undefined) return [plan];
  return [plan, ...planSteps(context, { key, parent: self, own }, step.steps)];
}

/** A stopped step is not a failure. */
function stepResult(step: Step): string | undefined {
  return step.result === 'ABORTED' ? 'CANCELED' : step.result;
}

/** The conventions have names of their own for what is tested. */
function testName({ kind, subject }: Step): AttributeInput {
  if (kind === 'TestSuite') return { testSuiteName: subject };
  return kind === 'TestCase' ? { testCaseName: subject } : {};
}

function factAttributes(step: Step): AttributeInput {
  const own: { [key in AttributeKey]?: unknown } = {};
  for (const [name, value] of Object.entries(step.facts ?? {})) {
    const key = STEP_FACTS.get(name);
    if (key !== undefined) own[key] = value;
  }
  return own;
}

/** From the begin of the first step to the end of the last; undefined without steps. */
export function windowOfSteps(steps: readonly Step[]): TimeWindow | undefined {
  let window: TimeWindow | undefined;
  for (const { startedAt, endedAt } of steps) {
    window = {
      start: earliest(window?.start ?? startedAt, startedAt),
      end: latest(window?.end ?? endedAt, endedAt),
    };
  }
  return window;
}

/** A parent that is already clamped into its own parent. */
export function clampedParent(id: () => SpanId, parent: TimeWindow, window: TimeWindow): ParentSpan {
  const { start, end } = clampInto(parent, window.start, window.end);
  return { id, start, end };
}
