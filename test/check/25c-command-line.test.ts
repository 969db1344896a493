/**
 * Check 25c: a command without any setting of a collector arrives there through the server, under its own service name, and what
 * the server did for it links to its request; an unauthenticated client adds to no trace.
 */

import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { runProgram } from '../../src/cmd/commands/program.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { compileCacheVariable } from '../../src/lib/compile-cache.ts';
import type { SinkSpan } from '../fake/otlp-sink.ts';
import { classicLayout } from '../scenario/layouts.ts';
import { CONNECTION, TENANT, TOKEN } from '../scenario/site.ts';
import { story } from '../scenario/story.ts';
import type { World } from '../scenario/world.ts';
import { builtProgram } from '../setup/built-program.ts';
import { recordingIo } from '../unit/cmd/fixture.ts';
import { kindsBelow } from './spans-by.ts';

const MAIN = await builtProgram();
const FORGED = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const traceparent = `00-${FORGED.traceId}-${FORGED.spanId}-01`;
const AUTH = `[auth operators]
driver = HS256
realm = gate.example.org
issuer_id = gatehouse
client_id = gate.example.org
secret = a secret that is long enough for it
allow_authz_override = true`;

const run = promisify(execFile);

/** The real command line in a process of its own, which knows nothing but where the service and its settings are. */
async function gatehouse(world: World, ...args: readonly string[]): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    GATEHOUSE_URL: world.service.url,
    GATEHOUSE_CONFIG: world.config,
    ...compileCacheVariable(),
  };
  const { stdout } = await run(process.execPath, [MAIN, ...args], { env });
  return stdout.trim();
}

async function arrived(world: World, what: string, isIt: (span: SinkSpan) => boolean): Promise<SinkSpan> {
  return world.observer.until(`${what} to arrive`, () => world.sink.spans.find(isIt));
}

const kindOf = (span: SinkSpan) => span.attributes['gatehouse.span.type'];

type Time = Pick<SinkSpan, 'start' | 'end'>;

/** Each clock reads the wall clock once, in whole milliseconds: two of them differ by less than one. */
const CLOCKS_DIFFER = 1_000_000n;

function expectWithin(inner: Time | undefined, outer: Time): void {
  expect(inner?.start).toBeGreaterThan(outer.start - CLOCKS_DIFFER);
  expect(inner?.end).toBeLessThan(outer.end + CLOCKS_DIFFER);
}

function lengthOf(time: Time | undefined): bigint {
  return time === undefined ? 0n : time.end - time.start;
}

story(
  'check 25c: a command is traced through the server, and what the server did links to its request',
  { layout: classicLayout({ check: true }) },
  async world => {
    await world.propose('A');
    await world.runs('project-merge: A');
    const clock = systemClock();
    const begun = BigInt(clock.now());
    await gatehouse(world, 'dequeue', 'org/project', 'master/A', '--pipeline', 'check');
    const returned = BigInt(clock.now());
    await world.leaves('A', 'DEQUEUED', 'check');
    const seen = BigInt(clock.now());

    const command = await arrived(world, 'the command', span => span.name === 'gatehouse dequeue');
    expect(command.parentSpanId).toBeNull();
    expect(command.resource['service.name']).toBe('gatehouse-cli');
    const event = await arrived(world, "the server's span", span => kindOf(span) === 'ManagementEvent');
    const request = await arrived(world, 'the request', span => span.spanId === event.links[0]?.spanId);
    expect(request).toMatchObject({
      traceId: command.traceId,
      parentSpanId: command.spanId,
      name: 'POST /api/tenant/{}/project/{}/dequeue',
    });
    // A child that ends after its parent would be moved.
    expect(event).toMatchObject({ parentSpanId: null, links: [{ traceId: command.traceId }] });
    expect(event.attributes['gatehouse.link.caller']).toBe(command.traceId);
    expect(event.resource['service.name']).toBe('gatehouse');

    const parts = world.sink.spans.filter(span => span.parentSpanId === event.spanId);
    const part = (kind: string) => parts.find(span => kindOf(span) === kind);
    expect(kindsBelow(event, world.sink.spans)).toEqual(['EventReceive', 'EventQueued', 'EventProcess']);
    expect(part('EventReceive')?.start).toBe(event.start);
    expect(part('EventProcess')?.end).toBe(event.end);
    expectWithin(command, { start: begun, end: returned });
    expectWithin(request, command);
    // What the server had to do before it could answer is inside what the command measured of its request,
    expectWithin(part('EventReceive'), request);
    expect(lengthOf(part('EventReceive'))).toBeLessThanOrEqual(lengthOf(request));
    // and all of it between the request and the moment its effect was seen.
    expectWithin(event, { start: request.start, end: seen });
    expect(lengthOf(event)).toBe(parts.map(lengthOf).reduce((sum, length) => sum + length, 0n));
    const item = await arrived(
      world,
      'the item',
      span => kindOf(span) === 'QueueItem' && span.attributes['gatehouse.result'] === 'DEQUEUED',
    );
    expect(event.end).toBeGreaterThanOrEqual(item.end);
  },
);

story(
  'check 25c: the trace of another client is linked to with a token, and that of a stranger is not even read',
  { layout: classicLayout({ check: true }), sections: [AUTH] },
  async world => {
    await world.propose('A');
    await world.runs('project-merge: A');
    const before = world.sink.spans.length;
    const body = JSON.stringify({ project: 'org/project' });
    const delivery = 'forged-trace';
    await fetch(`${world.service.url}/api/connection/${CONNECTION}/payload`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-gatehouse-delivery': delivery,
        'x-gatehouse-signature': `sha256=${createHmac('sha256', TOKEN).update(body).digest('hex')}`,
        traceparent,
        baggage: 'gatehouse.item.id=forged',
        'user-agent': 'gatehouse-cli/9',
      },
    });
    await arrived(
      world,
      'the webhook',
      span =>
        span.parentSpanId === null &&
        String(span.attributes['gatehouse.delivery.id']).includes(delivery) &&
        world.sink.spans.indexOf(span) >= before,
    );
    expect(JSON.stringify(world.sink.spans, plain)).not.toMatch(/0af7651916cd43dd|b7ad6b7169203331|forged"/);

    const args = ['--auth-conf', 'operators', '--tenant', TENANT, '--user', 'bot', '-c', world.config];
    const io = { ...recordingIo(), clock: systemClock() };
    expect(await runProgram(['create-auth-token', ...args], io)).toBe(0);
    const authorization = io.out().trim();
    const answer = await fetch(`${world.service.url}/api/tenant/${TENANT}/project/org/project/dequeue`, {
      method: 'POST',
      headers: { authorization, traceparent, 'content-type': 'application/json' },
      body: JSON.stringify({ pipeline: 'check', change: 'master/A' }),
    });
    expect(answer.status).toBe(200);
    await world.leaves('A', 'DEQUEUED', 'check');
    const event = await arrived(world, "the server's span", span => kindOf(span) === 'ManagementEvent');
    expect(event.parentSpanId).toBeNull();
    expect(event.traceId).not.toBe(FORGED.traceId);
    expect(event.links).toMatchObject([{ ...FORGED, attributes: { 'gatehouse.link.relation': 'caller' } }]);
    expect(event.attributes['gatehouse.link.caller']).toBe(FORGED.traceId);
  },
);

function plain(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
