/** The pipelines most stories share: the ones of the tutorial, for a connection called `local`. */
import { indented, projectStanzas } from '../../fake/code-host/stanzas.ts';

export interface GithubLayout {
  /** More lines of the gate's `require: {local: …}`, at its indentation. */
  readonly require?: readonly string[];
  /** The success reporter of the gate; default `{check: success, merge: true}`. */
  readonly gateSuccess?: string;
  /** More lines of `project`, e.g. `merge-mode: squash-merge`. */
  readonly project?: readonly string[];
  /** Default acme/app and acme/library, which share a queue. */
  readonly projects?: readonly string[];
  /** More stanzas. */
  readonly more?: string;
}

/** check (opened, pushed, recheck, re-run), gate (approved, label, status, ready) and post (a push to main). */
export function githubLayout(options: GithubLayout = {}): string {
  return `
- pipeline:
    name: check
    manager: independent
    trigger:
      local:
        - event: pull_request
          action: [opened, changed, reopened, ready_for_review]
        - event: pull_request
          action: comment
          comment: (?i)^\\s*recheck\\s*$
        - event: check_run
          action: rerequested
          check: .*/check:.*
    start:
      local: {check: in_progress}
    success:
      local: {check: success}
    failure:
      local: {check: failure}
    dequeue:
      local: {check: cancelled}
- pipeline:
    name: gate
    manager: dependent
    supercedes: check
    require:
      local:
        open: true
        current-patchset: true
        draft: false
        review:
          - type: approved
            permission: write
${indented(options.require, '        ')}    trigger:
      local:
        - event: pull_request_review
          action: [submitted, dismissed]
        - event: pull_request
          action: [labeled, status, ready_for_review]
        - event: check_run
          action: completed
          check: .*:success
    start:
      local: {check: in_progress}
    success:
      local: ${options.gateSuccess ?? '{check: success, merge: true}'}
    failure:
      local: {check: failure}
    dequeue:
      local: {check: cancelled}
- pipeline:
    name: post
    manager: independent
    post-review: true
    trigger:
      local:
        - event: push
          ref: ^refs/heads/
- queue: {name: integrated}
- job:
    name: base
    parent: null
    run: playbooks/job.sh
- job: {name: unit}
${projectStanzas(options.projects, options.project)}${options.more ?? ''}`;
}
