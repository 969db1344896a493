/** Rules of the product, each broken on purpose: the measure of the simulation is that it notices every one. */
import type { Patch } from './patch.ts';

export const PATCHES: readonly Patch[] = [
  {
    name: 'no-epoch-check',
    rule: 'a write under a fence checks the epoch',
    edits: [
      {
        file: 'src/store/fence.ts',
        find: 'check(epochPath, this.epoch)',
        replace: 'check(epochPath)',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'single-change', calm: true },
  },
  {
    name: 'takeovers-not-marked',
    rule: 'each item that is taken over says so',
    edits: [
      {
        file: 'src/scheduler/turn/pipeline-turn.ts',
        find: 'const draft = withArrival(state, decided, arrival);',
        replace: 'const draft = withArrival(state, decided, { ...arrival, takeover: null });',
      },
    ],
    caughtBy: { kind: 'seeds', from: 7, scenario: 'failure-in-the-middle' },
  },
  {
    name: 'no-lock-check',
    rule: 'a write under a fence checks the lock',
    edits: [
      {
        file: 'src/store/fence.ts',
        find: 'const checks = [check(lock.path), check(epochPath, this.epoch)];',
        replace: 'const checks = [check(lockPath), check(epochPath, this.epoch)];',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'single-change', calm: true },
  },
  {
    name: 'epoch-not-raised',
    rule: 'who takes a lock raises the epoch',
    edits: [
      {
        file: 'src/store/fence.ts',
        find: 'if (Buffer.from(node.data).equals(holder)) return node.stat.version;',
        replace: 'if (node.stat.version > 0) return node.stat.version;',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'lost-executor' },
  },
  {
    name: 'lost-reply-means-done',
    rule: 'a write whose reply was lost is looked up',
    edits: [
      {
        file: 'src/store/fence.ts',
        find: 'return node !== undefined && new TextDecoder().decode(node.data) === operationId;',
        replace: 'return node !== undefined || operationId === lockPath;',
      },
    ],
    caughtBy: {
      kind: 'calls',
      scenario: 'single-change',
      label: 'multi create /requests/',
      strike: 'before/break',
      last: 46,
    },
  },
  {
    name: 'acknowledge-before-forward',
    rule: 'an event is taken from its queue in the write that records what came of it',
    edits: [
      {
        file: 'src/scheduler/events/read-host.ts',
        find: 'await fence.commit([...forward, ...remembered], deps.ids.uuid());',
        replace:
          'const [taken, ...rest] = forward; await fence.commit(taken === undefined ? [] : [taken], deps.ids.uuid()); await fence.commit([...rest, ...remembered], deps.ids.uuid());',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'single-change', calm: true },
  },
  {
    name: 'acknowledge-webhook-first',
    rule: 'a webhook is acknowledged when its event is durable',
    edits: [
      {
        file: 'src/store/event-queue.ts',
        find: 'await store.multi(this.put(value, id));',
        replace: 'store.multi(this.put(value, id)).catch(() => {});',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'single-change', calm: true },
  },
  {
    name: 'no-seen-node',
    rule: 'a delivery that comes again is recognised',
    edits: [
      {
        file: 'src/store/event-queue.ts',
        find: 'if (id === undefined || seenPath === undefined) return [append];',
        replace: 'if (id !== undefined || seenPath === undefined) return [append];',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'single-change' },
  },
  {
    name: 'retry-create-blindly',
    rule: 'after a lost reply to a sequential create one looks for one’s own node first',
    edits: [
      {
        file: 'src/store/lock.ts',
        find: 'if (ours !== undefined) return ours;',
        replace: 'void ours;',
      },
    ],
    caughtBy: {
      kind: 'calls',
      scenario: 'single-change',
      label: 'multi create /tenants/acme/pipelines',
      strike: 'effect/break',
      last: 19,
    },
  },
  {
    name: 'export-before-commit',
    rule: 'spans are written with the turn that ends them',
    edits: [
      {
        file: 'src/scheduler/turn/pipeline-turn.ts',
        find: '      ...outboxOperations(state, draft, context, now),\n',
        replace: '',
      },
      {
        file: 'src/scheduler/turn/pipeline-turn.ts',
        find: '  try {\n    await commitTurn(commit,',
        replace:
          '  await fence.commit(outboxOperations(state, draft, context, context.clock.now()), context.ids.uuid());\n  try {\n    await commitTurn(commit,',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'reset' },
  },
  {
    name: 'act-without-intent',
    rule: 'the intent of a report stays until the deed is known to be done',
    edits: [
      {
        file: 'src/scheduler/report/report-loop.ts',
        find: '    const performed = await inContact(',
        replace:
          '    await fence.commit([remove(offer.path)], deps.ids.uuid());\n    const performed = await inContact(',
      },
      {
        file: 'src/scheduler/report/report-loop.ts',
        find: '  return [rest, ...answer(intent, performed, deps)];',
        replace:
          '  return rest.kind === "delete" ? answer(intent, performed, deps) : [rest, ...answer(intent, performed, deps)];',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'single-change', calm: true },
  },
  {
    name: 'held-ignores-suspension',
    rule: 'who is out of contact with the store starts no effect',
    edits: [
      {
        file: 'src/store/fence.ts',
        find: "return !this.#lost.signal.aborted && this.#deps.store.sessionState === 'connected';",
        replace: 'return !this.#lost.signal.aborted;',
      },
    ],
    caughtBy: {
      kind: 'calls',
      scenario: 'single-change',
      label: 'host ',
      strike: 'effect/pause',
      last: 33,
    },
  },
  {
    name: 'claim-without-node',
    rule: 'who takes a request claims it in the same write',
    edits: [
      {
        file: 'src/store/request-worker.ts',
        find: 'store.multi([claim, set(request.path, taken, request.version)])',
        replace: 'store.multi([set(request.path, taken)])',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'single-change', calm: true },
  },
  {
    name: 'result-before-its-claim-ends',
    rule: 'a result and the end of its request are one write',
    edits: [
      {
        file: 'src/executor/store-builds.ts',
        find: 'claim.complete([...(first ?? []), ...states]),',
        replace: 'deps.store.multi([...(first ?? []), ...states]).then(() => claim.complete()),',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'single-change', calm: true },
  },
  {
    name: 'superseded-results-count',
    rule: 'only an open build takes a result',
    edits: [
      {
        file: 'src/pipeline/apply-build-events.ts',
        find: '  if (!isOpen(build)) {\n    attachExecution(draft, found, event);',
        replace: '  if (isOpen(build) && !isOpen(build)) {\n    attachExecution(draft, found, event);',
      },
    ],
    caughtBy: { kind: 'seeds', from: 2, scenario: 'reset' },
  },
  {
    name: 'no-resync',
    rule: 'after a lost contact one looks again',
    edits: [
      {
        file: 'src/store/wake-ups.ts',
        find: "if (event.kind === 'resync' || concerns(event)) dirty.set();",
        replace: "if (event.kind !== 'resync' && concerns(event)) dirty.set();",
      },
      {
        file: 'src/store/wake-ups.ts',
        find: 'store.onSessionState(() => dirty.set())',
        replace: "store.onSessionState(state => state === 'lost' && dirty.set())",
      },
    ],
    caughtBy: { kind: 'seeds', from: 17, scenario: 'failure-in-the-middle', faults: 'break,cut,store-loss' },
  },
  {
    name: 'take-over-without-reconcile',
    rule: 'a new holder settles work that no worker has',
    edits: [
      {
        file: 'src/scheduler/turn/pipeline-runner.ts',
        find: 'if (deps.clock.monotonic() >= careAt) {',
        replace: 'if (deps.clock.monotonic() < careAt) {',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'failure-in-the-middle', faults: 'request-removed' },
  },
  {
    name: 'lost-workers-unsettled',
    rule: 'requests whose worker vanished are settled',
    edits: [
      {
        file: 'src/scheduler/care/lost-workers.ts',
        find: 'for (const abandoned of await abandonedRequests(deps.buildRequests, among)) {',
        replace:
          'for (const abandoned of (await abandonedRequests(deps.buildRequests, among)).slice(0, 0)) {',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'lost-executor', calm: true },
  },
  {
    name: 'lost-worker-without-result',
    rule: 'a lost build leaves its request and gets its result in one write',
    edits: [
      {
        file: 'src/scheduler/care/lost-workers.ts',
        find: '[...discarded(deps.buildRequests, abandoned), ...result],',
        replace: '[...discarded(deps.buildRequests, abandoned), ...result.slice(0, 0)],',
      },
      {
        file: 'src/scheduler/turn/pipeline-runner.ts',
        find: 'if (deps.clock.monotonic() >= careAt) {',
        replace: 'if (deps.clock.monotonic() < careAt) {',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'lost-executor', calm: true },
  },
  {
    name: 'dequeue-without-root-span',
    rule: 'an item that leaves ends its trace in the same write',
    edits: [
      {
        file: 'src/scheduler/turn/turn-operations.ts',
        find: 'const changed = [...draft.changed, ...left];',
        replace: 'const changed = draft.changed;',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'single-change', calm: true },
  },
  {
    name: 'dequeue-without-history',
    rule: 'an item that leaves goes into the history in the same write',
    edits: [
      {
        file: 'src/scheduler/turn/turn-operations.ts',
        find: 'const items = left\n    .filter(isWorthKeeping)',
        replace: 'const items = left\n    .slice(1)\n    .filter(isWorthKeeping)',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'single-change', calm: true },
  },
  {
    name: 'merge-out-of-order',
    rule: 'only the head of a queue is reported',
    edits: [
      {
        file: 'src/pipeline/process-item.ts',
        find: '    pass.directlyAhead === null ? mayAskHost(',
        replace: '    pass.directlyAhead !== item ? mayAskHost(',
      },
    ],
    caughtBy: { kind: 'seeds', from: 2, scenario: 'failure-in-the-middle', calm: true },
  },
  {
    name: 'serial-side-by-side',
    rule: 'a serial pipeline runs one item of a queue at a time',
    edits: [
      {
        file: 'src/layout/stanzas/parse-window.ts',
        find: "serial: { initial: 1, options: 'refused' },",
        replace: "serial: { initial: 20, options: 'refused' },",
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'deployments', calm: true },
  },
  {
    name: 'old-updates-promoted',
    rule: 'between the item that runs and the newest of its ref a supercedent pipeline keeps none',
    edits: [
      {
        file: 'src/pipeline/overtake.ts',
        find: 'items.slice(1, -1)',
        replace: 'items.slice(1, 1)',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'deployments', calm: true },
  },
  {
    name: 'overtaken-by-another-project',
    rule: 'a supercedent pipeline has a queue for each project and ref',
    edits: [
      {
        file: 'src/pipeline/manager/supercedent.ts',
        find: 'queueFor: ({ change }) => queueOfRef(change),',
        replace:
          'queueFor: ({ change, shared }) => (change.key === shared.key ? queueOfRef(change) : shared),',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'deployments', calm: true },
  },
  {
    name: 'cancel-ignored',
    rule: 'an executor gets the cancel of a build',
    edits: [
      {
        file: 'src/store/request-queue.ts',
        find: 'return marks[index] === undefined ? [create(this.cancelPath(uuid), message(uuid))] : [];',
        replace: 'return [];',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'reset', calm: true },
  },
  {
    name: 'sweep-graphs-of-others',
    rule: 'a sweeper removes only what is unused',
    edits: [
      {
        file: 'src/scheduler/care/sweep-blobs.ts',
        find: 'const removed = [...versions].filter(([blob]) => !used.has(blob));',
        replace: 'const removed = [...versions];',
      },
      {
        file: 'src/scheduler/care/sweep-blobs.ts',
        find: 'unusedBefore = new Set(all.filter(blob => !used.has(blob) && !versions.has(blob)));',
        replace: 'unusedBefore = new Set(all);',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'long-jobs', calm: true },
  },
  {
    name: 'land-what-was-not-tested',
    rule: 'a branch goes from where the test began to what was tested',
    edits: [
      {
        file: 'drivers/git/landing-step.ts',
        find: '  if (tip !== before && tip !== commit) {\n',
        replace: '  if (tip === head) {\n',
      },
      {
        file: 'drivers/git/land.ts',
        find: '...moves(free),',
        replace: '...moves(free).map(move => ({ ...move, from: refs.get(move.ref) ?? move.from })),',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'lost-race', calm: true },
  },
  {
    name: 'failures-are-retried',
    rule: 'only infrastructure is tried again, never a verdict',
    edits: [
      {
        file: 'src/model/build.ts',
        find: "return state.state === 'completed' && state.result === 'RETRY';",
        replace:
          "return state.state === 'completed' && (state.result === 'RETRY' || state.result === 'FAILURE');",
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'failure-in-the-middle', calm: true },
  },
  {
    name: 'late-executions-dropped',
    rule: 'what an executor reports after its item has left is in the trace',
    edits: [{ file: 'src/scheduler/turn/pipeline-turn.ts', find: '      ...late,\n', replace: '' }],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'dequeue', calm: true },
  },
  {
    name: 'left-out-and-sent',
    rule: 'of what the ratio leaves out nothing is sent',
    edits: [
      {
        file: 'src/tracing/spans/item-spans.ts',
        find: 'if (!isExported(after) || before === after) return [];',
        replace: 'if ((!isExported(after) && after.timeline.length < 5) || before === after) return [];',
      },
    ],
    caughtBy: { kind: 'seeds', from: 2, scenario: 'single-change', calm: true },
  },
  {
    name: 'kept-in-part',
    rule: 'an item that is kept for what became of it is sent whole',
    edits: [
      {
        file: 'src/tracing/spans/item-spans.ts',
        find: 'if (after.kept === true) return exportedSpans(after, options);',
        replace: '',
      },
    ],
    caughtBy: { kind: 'seeds', from: 2, scenario: 'failure-in-the-middle', calm: true },
  },
  {
    name: 'landing-not-noted',
    rule: 'a merge of ours is noted before the host hears of it',
    edits: [
      {
        file: 'src/scheduler/turn/commands.ts',
        find: '? landingOperations(intent, context.nodes.landings)',
        replace: '? landingOperations(intent, context.nodes.landings).slice(1)',
      },
    ],
    caughtBy: { kind: 'seeds', from: 1, scenario: 'single-change', calm: true },
  },
  {
    name: 'outbox-removed-before-delivery',
    rule: 'a row leaves the outbox when it has arrived',
    edits: [
      {
        file: 'src/store/outbox-drain.ts',
        find: "    const outcome = data.length === 0 ? 'delivered' : await this.#deliver(data, signal);\n",
        replace:
          "    await this.#remove(entries);\n    const outcome = data.length === 0 ? 'delivered' : await this.#deliver(data, signal);\n",
      },
    ],
    caughtBy: { kind: 'calls', scenario: 'single-change', label: 'collector takes', strike: 'before' },
  },
];

/** @throws Error when there is none. */
export function patchNamed(name: string): Patch {
  const patch = PATCHES.find(each => each.name === name);
  if (patch === undefined)
    throw new Error(`there is no patch ${name}; there are: ${PATCHES.map(each => each.name).join(', ')}`);
  return patch;
}
