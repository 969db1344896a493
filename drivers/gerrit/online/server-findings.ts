/** What pipelines and the connection's settings want of a Gerrit as a whole, against what it grants. Pure. */
import type { OnlineFinding, PipelineUse, ProjectUse } from '../../../src/driver/online-check.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import { gerritLandingMode } from '../language/reporter-config.ts';
import { parseGerritTrigger } from '../language/trigger-config.ts';
import type { GerritOptions } from '../options.ts';
import type { GerritServerFacts } from './read-server.ts';

type Settings = Pick<GerritOptions, 'ssh' | 'streams'>;
type Finding = Omit<OnlineFinding, 'project'>;

/** The first version whose answers this driver has been held against. */
const OLDEST = [3, 2] as const;

/** Events that no Gerrit sends any more. */
const GONE: readonly string[] = ['pending-check', 'draft-published'];

/** One for each thing to do, of the connection as a whole. */
export function gerritServerFindings(
  uses: readonly ProjectUse[],
  facts: GerritServerFacts,
  settings: Settings,
): readonly OnlineFinding[] {
  return [
    ...streamFindings(facts, settings),
    ...versionFindings(facts),
    ...topicFindings(uses, facts),
    ...goneEvents(uses),
  ].map(finding => ({ ...finding, project: null }));
}

function streamFindings(
  { username, streamEvents }: GerritServerFacts,
  { ssh, streams }: Settings,
): readonly Finding[] {
  if (!streams || ssh === undefined) return [];
  if (username !== ssh.user)
    return [
      {
        severity: 'warning',
        text: `the stream of events is read as ${ssh.user}, and REST is used as ${username ?? 'an account without user name'}: whether ${ssh.user} may read the stream was not asked`,
      },
    ];
  if (streamEvents) return [];
  const text = `the account ${username} may not read the stream of events: grant it the global capability Stream Events in All-Projects, or set stream_events = false to poll`;
  return [{ severity: 'error', text }];
}

function versionFindings({ version }: GerritServerFacts): readonly Finding[] {
  const numbers = /^(\d+)\.(\d+)/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number);
  if (numbers === undefined)
    return [{ severity: 'warning', text: 'Gerrit does not say its version: 3.2 and later are supported' }];
  const [major = 0, minor = 0] = numbers;
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return [];
  return [
    { severity: 'warning', text: `this is Gerrit ${version}: ${OLDEST.join('.')} and later are supported` },
  ];
}

/** How changes of an item land together is Gerrit's setting; who has to know of it are pipelines that submit. */
function topicFindings(uses: readonly ProjectUse[], { wholeTopic }: GerritServerFacts): readonly Finding[] {
  const submitting = ({ success }: PipelineUse) => success.some(each => gerritLandingMode(each) !== null);
  if (wholeTopic) {
    const lacking = pipelinesOf(uses, each => submitting(each) && each.cycleQueue === undefined);
    if (lacking.length === 0) return [];
    const text = `Gerrit submits all changes of a topic together (change.submitWholeTopic): queues of ${listed(lacking)} need allow-circular-dependencies: true, or changes of a topic do not land`;
    return [{ severity: 'warning', text }];
  }
  const queues = uses.flatMap(({ pipelines }) =>
    pipelines.flatMap(each => (submitting(each) && each.cycleQueue !== undefined ? [each.cycleQueue] : [])),
  );
  if (queues.length === 0) return [];
  const text = `Gerrit does not submit topics in one go (change.submitWholeTopic is off): changes that depend on each other in ${listed([...new Set(queues)])} are submitted one by one, as allow-circular-dependencies allows, and when Gerrit refuses one after another was merged, only a part of them is in`;
  return [{ severity: 'warning', text }];
}

function goneEvents(uses: readonly ProjectUse[]): readonly Finding[] {
  return GONE.flatMap(event => {
    const waiting = pipelinesOf(uses, ({ triggers }) =>
      triggers.some(each => parsedBefore(parseGerritTrigger(each)).event.some(name => name === event)),
    );
    if (waiting.length === 0) return [];
    const text = `no Gerrit sends the event ${event} any more, and ${listed(waiting)} waits for it: use patchset-created`;
    return [{ severity: 'warning', text }];
  });
}

function pipelinesOf(
  uses: readonly ProjectUse[],
  takes: (pipeline: ProjectUse['pipelines'][number]) => boolean,
): readonly string[] {
  const found = uses.flatMap(({ pipelines }) => pipelines.filter(takes));
  return [...new Set(found.map(({ tenant, pipeline }) => `${tenant}/${pipeline}`))];
}

/** Names in one sentence. */
const MOST_NAMED = 5;

/** The first few names, and how many more. */
export function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
