/** The pipelines most stories share: the ones of the tutorial, for a connection called `local`. */
import { indented, projectStanzas } from '../../fake/code-host/stanzas.ts';

export interface GerritLayout {
  /** More lines of the gate's `require: {local: …}`, at its indentation. */
  readonly require?: readonly string[];
  /** More lines of `project`, e.g. `merge-mode: cherry-pick`. */
  readonly project?: readonly string[];
  /** Default acme/app and acme/library, which share a queue. */
  readonly projects?: readonly string[];
  /** More lines of the shared queue. */
  readonly queue?: readonly string[];
  /** More stanzas. */
  readonly more?: string;
}

/** check (a patch set, restored, recheck), gate (Workflow +1, ready) and post (a branch that moved). */
export function gerritLayout(options: GerritLayout = {}): string {
  return `
- pipeline:
    name: check
    manager: independent
    trigger:
      local:
        - event: patchset-created
        - event: change-restored
        - event: comment-added
          comment: (?i)(^|\\n)\\s*recheck\\s*$
    success:
      local: {Verified: 1}
    failure:
      local: {Verified: -1}
- pipeline:
    name: gate
    manager: dependent
    supercedes: check
    require:
      local:
        open: true
        current-patchset: true
        wip: false
        approval:
          - Workflow: 1
          - Code-Review: 2
${indented(options.require, '        ')}    trigger:
      local:
        - event: comment-added
          approval:
            - Workflow: 1
        - event: wip-state-changed
    start:
      local: {Verified: 0}
    success:
      local: {Verified: 2, submit: true}
    failure:
      local: {Verified: -2}
- pipeline:
    name: post
    manager: independent
    post-review: true
    trigger:
      local:
        - event: ref-updated
          ref: ^refs/heads/
- queue:
    name: integrated
${indented(options.queue, '    ')}- job:
    name: base
    parent: null
    run: playbooks/job.sh
- job: {name: unit}
${projectStanzas(options.projects, options.project)}${options.more ?? ''}`;
}
