/**
 * The `git` driver: any git remote (a directory, ssh, https) is a code host with nothing but refs.
 *
 * Pushing a commit to `for/<branch>/<topic>` proposes it for `<branch>`. Pushing the same commit to `gate/<branch>/<topic>`
 * approves it. Deleting the one abandons the change, deleting the other withdraws the approval, pushing a new commit to
 * the proposal makes a new patchset, which the old approval does not cover. Results come back as git notes; what passes the
 * gate is pushed to the branch, together with the deletion of both refs.
 *
 *     git push origin HEAD:for/master/login        →  event proposed, change local/acme/app#master/login
 *     git push origin HEAD:gate/master/login       →  event approved
 *     (the gate tests it)                          →  master holds it, both branches are gone, the commit has a note
 *
 * A connection without `proposals` only reads: its branches and tags are sources of jobs, configuration and `ref-updated`
 * events, and nothing is written to it.
 *
 * A driver is two things. A language (`config`): pure functions that check what pipelines say about the connection and
 * evaluate it. And a connection: `source` reads the host, `listener` and `webhook` receive notifications,
 * `reporter` reports results, `landing` lands changes. Files:
 *
 *   options.ts, branch-template.ts     `[connection NAME]`
 *   languages.ts                       the language: trigger-config.ts, requirement-config.ts, reporter-config.ts; read-only-config.ts
 *   listener.ts, webhook.ts            notifications: "the refs of this project may have changed", nothing more
 *                                      (refs-changed.ts)
 *   source.ts, process-event.ts        notification → events: project-memory.ts, read-project.ts (next-refs.ts), ref-view.ts, ref-changes.ts,
 *                                      refusals.ts
 *   proposal-states.ts                 proposals: facts.ts, commit-graph.ts, commit-text.ts, depends-on.ts, proposal-has-landed.ts
 *   reporter.ts                        results
 *   landing.ts, land.ts                merges: landing-step.ts; merge-message.ts
 *   remote-git.ts                      all requests to git: mirror-reads.ts, graph-memory.ts, watched-git.ts, recorded-git.ts, acting.ts (writes); project-url.ts
 *   connection.ts                      builds a connection from the parts
 *   post-receive.sh, install-hook.ts   the webhook's other end
 */
import type { Driver } from '../../src/driver/driver.ts';
import { pause } from '../../src/lib/pause.ts';
import { gitLanguages } from './languages.ts';
import { readOptions } from './options.ts';

/** Listed in `drivers/index.ts`. */
export const gitDriver: Driver = {
  ...gitLanguages,
  eventSpanKind: 'GitEvent',
  async connect(name, options, deps) {
    const read = readOptions(name, options);
    if (read === undefined) return undefined;
    const { createConnection } = await import('./connection.ts');
    return createConnection(name, read, deps, { wait: pause, random: Math.random });
  },
};
