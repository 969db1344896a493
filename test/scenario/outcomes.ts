/** What became of the changes of a story, read where people would look: repositories, notes, history, decisions. */
import type { Api } from '../../src/cmd/client/api.ts';
import type { Developer } from './developer.ts';
import type { Observer } from './observer.ts';
import { TENANT } from './site.ts';
import type { Stage } from './stage.ts';
import { nameOf, shownTopic } from './topic-names.ts';
import type { World } from './world.ts';

export interface Topic {
  readonly project: string;
  readonly branch: string;
  /** Of the present patchset. */
  readonly commit: string;
}

export interface ShownDecision {
  readonly code: string;
  readonly text: string;
  readonly pipeline: string | null;
}

interface OutcomeDeps {
  /** As it runs now. */
  site(): { readonly api: Api; readonly observer: Observer };
  readonly stage: Stage;
  developer(project: string): Developer;
  topicOf(topic: string): Topic;
}

type Outcomes = Pick<World, 'history' | 'landed' | 'notes' | 'decisions' | 'decided'>;

export function outcomes({ site, stage, developer, topicOf }: OutcomeDeps): Outcomes {
  async function decisions(topic: string): Promise<readonly ShownDecision[]> {
    const { project, branch } = topicOf(topic);
    const path = `/api/tenant/${TENANT}/changes/${nameOf(topic, branch)}/decisions?project=${encodeURIComponent(project)}`;
    return (await site().api.get<{ readonly decisions: readonly ShownDecision[] }>(path)).decisions;
  }

  async function notesOn({ project, commit }: Topic): Promise<readonly string[]> {
    const listed = await developer(project).git('notes', '--ref=gatehouse', 'list');
    if (!listed.includes(commit)) return [];
    const text = await developer(project).git('notes', '--ref=gatehouse', 'show', commit);
    return text.split(/\n\n+/).filter(paragraph => paragraph.trim() !== '');
  }

  return {
    async history() {
      const path = `/api/tenant/${TENANT}/builds?limit=200`;
      const builds =
        await site().api.get<readonly { readonly uuid: string; readonly result: string }[]>(path);
      const lines = builds.flatMap(({ uuid, result }) => {
        const staged = stage.builds.find(build => build.uuid === uuid);
        return staged === undefined ? [] : [`${staged.job}: ${staged.changes} ${result}`];
      });
      return lines.toSorted();
    },
    async landed(project = 'org/project', branch = 'master') {
      const options = ['--first-parent', '--merges', '--reverse', '--format=%s'];
      const subjects = (await developer(project).git('log', ...options, branch)).split('\n');
      return subjects
        .filter(each => each !== '')
        .map(each => shownTopic(each.slice(`Merge ${project} `.length)));
    },
    async notes(topic, count = 0) {
      return site().observer.until(`${count} notes on ${topic}`, async () => {
        const notes = await notesOn(topicOf(topic));
        return notes.length >= count ? notes : undefined;
      });
    },
    decisions,
    async decided(topic, code, text = '') {
      return site().observer.until(`${code} to be on record for ${topic}`, async () =>
        (await decisions(topic)).find(each => each.code === code && each.text.includes(text)),
      );
    },
  };
}
