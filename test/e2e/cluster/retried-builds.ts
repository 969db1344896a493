/** Builds whose executor was killed, as the collector has them: ended as an error, and followed by another attempt. */
import type { CheckedSpan } from '../../fake/check-traces.ts';

/** One sentence per build that ended as RETRY and is not as it must be. */
export function retriedBuildProblems(spans: readonly CheckedSpan[]): readonly string[] {
  const builds = spans.filter(span => span.attributes['gatehouse.span.type'] === 'Build');
  const sweeps = spans.filter(span => span.name === 'Sweep lost-build');
  return builds.filter(isRetried).flatMap(build => {
    const say = (text: string) => `${build.name} (${build.spanId}) was given up and ${text}`;
    const problems: string[] = [];
    if (build.status.code !== 2) problems.push(say('does not count as failed'));
    if (build.attributes['error.type'] !== 'retry')
      problems.push(say(`has error.type ${String(build.attributes['error.type'])}`));
    const detail = build.attributes['gatehouse.detail'];
    if (typeof detail !== 'string' || build.status.message !== `RETRY: ${detail}`)
      problems.push(say(`does not say why: ${build.status.message}`));
    if (detail === LOST && !sweeps.some(sweep => sweep.links.some(link => link.spanId === build.spanId)))
      problems.push(say('what noticed it does not lead to it'));
    const attempt = Number(build.attributes['gatehouse.attempt']);
    const next = builds.find(
      each => each.parentSpanId === build.parentSpanId && isNext(each, build, attempt),
    );
    if (next === undefined && !isOver(build, spans)) problems.push(say('was not tried again'));
    if (next !== undefined && !next.links.some(link => link.spanId === build.spanId))
      problems.push(say('its next attempt does not say so'));
    return problems;
  });
}

/** What a build says whose executor was killed. */
const LOST = 'its executor is gone';

export function isRetried(span: CheckedSpan): boolean {
  return (
    span.attributes['gatehouse.span.type'] === 'Build' && span.attributes['gatehouse.result'] === 'RETRY'
  );
}

function isNext(each: CheckedSpan, { attributes }: CheckedSpan, attempt: number): boolean {
  return (
    each.attributes['gatehouse.job'] === attributes['gatehouse.job'] &&
    each.attributes['gatehouse.attempt'] === attempt + 1
  );
}

/** Its buildset ended before there could be another attempt. */
function isOver(build: CheckedSpan, spans: readonly CheckedSpan[]): boolean {
  const set = spans.find(span => span.spanId === build.parentSpanId);
  return ['SUPERSEDED', 'DEQUEUED'].includes(String(set?.attributes['gatehouse.result']));
}
