/**
 * What is documented must be produced: kinds of spans, attributes, span events and codes, by the real service in the stories of a
 * whole run. `test/fake/produced/note-story.ts` notes what they produced; here it is compared.
 */
import { isOwnGap, isWait, STRETCH_STATES } from '../../src/model/item-states.ts';
import { ALLOWED } from '../../src/tracing/allowed-attributes.ts';
import { unionMembers } from '../unit/docs/repository-text.ts';
import { NOT_PRODUCED_YET } from './not-produced-yet.ts';

/** Of items and of events, as doc/guide/traces.md names them. */
const SPAN_EVENTS = [
  ...[
    'moved',
    'reset',
    'retest',
    'failing',
    'landed-tree-differs',
    'window-entered',
    'cancel-requested',
    'dequeue-requested',
    'promoted',
  ],
  ...['attempt-failed', 'matched', 'refused', 'dequeued'],
];

/** Everything the tables promise, as notes are written. */
export function promised(): ReadonlySet<string> {
  const names = [...ALLOWED.values()].flatMap(allowed => [...allowed.values()]);
  const states = STRETCH_STATES.filter(state => isWait(state) && !isOwnGap(state));
  return new Set([
    ...[...ALLOWED.keys()].map(kind => `kind ${kind}`),
    ...names.map(name => `attribute ${name}`),
    ...SPAN_EVENTS.map(name => `event ${name}`),
    ...states.map(state => `code gatehouse.wait.state ${state}`),
    ...unionMembers('src/model/decision.ts', 'DecisionCode').map(code => `decision ${code}`),
    ...unionMembers('src/model/cause.ts', 'ResetCode').map(code => `code gatehouse.superseded.code ${code}`),
    ...unionMembers('src/model/cause.ts', 'LeaveCode').map(code => `code gatehouse.leave.code ${code}`),
    ...['BuildSetResult', 'BuildResult'].flatMap(type =>
      unionMembers('src/model/results.ts', type).map(result => `code gatehouse.result ${result}`),
    ),
  ]);
}

/**
 * @param notes of all stories of the run.
 * @returns what no story produced and no table excuses; sorted. Empty: all is as documented.
 */
export function missingFrom(
  notes: Iterable<string>,
  wanted: ReadonlySet<string> = promised(),
  excused: ReadonlySet<string> = NOT_PRODUCED_YET,
): readonly string[] {
  const produced = new Set([...notes].map(note => note.replace(/^attribute \S+ /, 'attribute ')));
  return [...wanted].filter(each => !produced.has(each) && !excused.has(each)).toSorted();
}
