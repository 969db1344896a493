/** The demo's code host is a directory of repositories: proposals and approvals are pushes. */
import path from 'node:path';
import { APP } from './demo-files.ts';
import type { DemoHost, LocalDemo } from './demo-host.ts';
import { approve, commitTopic, propose } from './developer.ts';
import { prepareSite, type Site, type SiteOptions, TRY } from './prepare-site.ts';
import { THINGS_TO_TRY } from './things-to-try.ts';

/** @param site its repositories and clones. */
export function gitHost({ repositories, clone }: Pick<Site, 'repositories' | 'clone'>): DemoHost {
  return {
    repositories,
    words: { proposed: 'with git push', approved: 'with git push' },
    async propose({ project, topic, subject, files }) {
      const commit = await commitTopic(clone(project), topic, subject, files);
      await propose(clone(project), topic);
      return { change: `master/${topic}`, commit };
    },
    approve: ({ project, topic }) => approve(clone(project), topic),
  };
}

/** Sets the demo up below the directory of the options. */
export async function startGitDemo(options: SiteOptions): Promise<LocalDemo> {
  const site = await prepareSite(options);
  return {
    site: { ...site, host: gitHost(site) },
    places: [`repositories   ${path.join(options.directory, 'repositories')}`],
    invitation: [
      'Three things to try, while the page is open:',
      ...THINGS_TO_TRY.map(
        ({ file, what }) => `  sh ${path.join(options.directory, TRY, file.path)}   ${what}`,
      ),
      `Each shows its git commands. For a change of your own commit in ${site.clone(APP)}, and`,
      '  git push origin HEAD:for/master/<topic> HEAD:gate/master/<topic>',
    ],
    shown: async () => [],
    [Symbol.asyncDispose]: async () => undefined,
  };
}
