/** Faults that an operator has to mend, shown where the health of the connection is: on the page, in the API, in metrics. */
import type { HostHealth } from '../../src/driver/host-health.ts';
import type { GerritListenerDeps } from './listener/listening.ts';
import type { GerritReporterDeps } from './reporting/gerrit-reporter.ts';
import { droppedText } from './reporting/review-message.ts';
import type { GerritUsage } from './usage.ts';

type Faults = Pick<HostHealth, 'misconfigured'>;

const ERROR = { severity: 'error', onlyForCycles: false } as const;

/** A stream that Gerrit refuses; one that is only away is not. */
export function noteStream(
  usage: Pick<GerritUsage, 'streamed'>,
  { misconfigured }: Faults,
): NonNullable<GerritListenerDeps['noted']> {
  return state => {
    usage.streamed(state);
    const text = `no event stream: ${state?.text}`;
    misconfigured('event stream', state?.isRefused === true ? { ...ERROR, project: null, text } : undefined);
  };
}

/** Votes that Gerrit does not take, until it takes one for the same label of the project. */
export function noteVotes({ misconfigured }: Faults): GerritReporterDeps['answered'] {
  return (project, votes, dropped) => {
    for (const { label } of votes) {
      const refused = dropped.filter(each => each.label === label);
      const text = `${project}: ${droppedText(refused)}`;
      misconfigured(`${project} ${label}`, refused.length === 0 ? undefined : { ...ERROR, project, text });
    }
  };
}

/** Whether changes that depend on each other land in one go. */
export function noteTopics({ misconfigured }: Faults): (submitsTopics: boolean) => void {
  return submitsTopics =>
    misconfigured(
      'topics',
      submitsTopics
        ? undefined
        : { severity: 'warning', project: null, text: ONE_BY_ONE, onlyForCycles: true },
    );
}

const ONE_BY_ONE =
  'Gerrit submits the changes of a cycle or topic one after the other (change.submitWholeTopic is off): when it refuses one, those before it have landed';
