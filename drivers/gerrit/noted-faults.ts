/** Faults that an operator has to mend, shown where the health of the connection is: on the page, in the API, in metrics. */
import type { HostHealth } from '../../src/driver/host-health.ts';
import type { GerritListenerDeps } from './listener/listening.ts';
import type { GerritReporterDeps } from './reporting/gerrit-reporter.ts';
import { droppedText } from './reporting/review-message.ts';
import type { GerritUsage } from './usage.ts';

type Faults = Pick<HostHealth, 'misconfigured'>;

/** A stream that Gerrit refuses; one that is only away is not. */
export function noteStream(
  usage: Pick<GerritUsage, 'streamed'>,
  { misconfigured }: Faults,
): NonNullable<GerritListenerDeps['noted']> {
  return state => {
    usage.streamed(state);
    const text = state?.isRefused === true ? `no event stream: ${state.text}` : undefined;
    misconfigured('event stream', text);
  };
}

/** Votes that Gerrit does not take, until it takes one for the same label of the project. */
export function noteVotes({ misconfigured }: Faults): GerritReporterDeps['answered'] {
  return (project, votes, dropped) => {
    for (const { label } of votes) {
      const refused = dropped.filter(each => each.label === label);
      const text = refused.length === 0 ? undefined : `${project}: ${droppedText(refused)}`;
      misconfigured(`${project} ${label}`, text);
    }
  };
}
