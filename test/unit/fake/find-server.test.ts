import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findServer } from '../../fake/zookeeper/find-server.ts';

let folder: string;
let withJava: { PATH: string };

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-find-'));
  const java = path.join(folder, 'bin', 'java');
  await mkdir(path.dirname(java));
  await writeFile(java, '#!/bin/sh\n');
  await chmod(java, 0o755);
  withJava = { PATH: `/none:${path.dirname(java)}` };
});
afterEach(async () => await rm(folder, { recursive: true }));

async function distribution(...jars: readonly string[]): Promise<string> {
  const home = path.join(folder, 'dist');
  await mkdir(path.join(home, 'lib'), { recursive: true });
  for (const jar of jars) await writeFile(path.join(home, 'lib', jar), '');
  return home;
}

test('an unpacked distribution is used with everything in its lib, even beside other installations', async () => {
  const home = await distribution('zookeeper-3.9.3.jar', 'zookeeper-jute-3.9.3.jar');
  const env = { ...withJava, GATEHOUSE_TEST_ZOOKEEPER_HOME: home, GATEHOUSE_TEST_ZOOKEEPER: '/other.jar' };
  expect(findServer(env)).toEqual({
    kind: 'found',
    java: path.join(folder, 'bin/java'),
    classPath: path.join(home, 'lib/*'),
    description: `3.9.3 (${home})`,
  });
});

test('a directory that is no distribution is said to be none, and nothing is installed in its place', async () => {
  const home = await distribution('zookeeper-jute-3.9.3.jar');
  expect(findServer({ ...withJava, GATEHOUSE_TEST_ZOOKEEPER_HOME: home })).toEqual({
    kind: 'none',
    installable: false,
    reason: `GATEHOUSE_TEST_ZOOKEEPER_HOME: ${home}/lib holds no zookeeper-<version>.jar`,
  });
});

test('a class path is used as it is, with the Java of JAVA_HOME before that of the PATH', () => {
  const env = { PATH: '/none', JAVA_HOME: folder, GATEHOUSE_TEST_ZOOKEEPER: '/a.jar:/b.jar' };
  expect(findServer(env)).toMatchObject({ java: path.join(folder, 'bin/java'), classPath: '/a.jar:/b.jar' });
});

test('without Java there is no server, however many jars there are', () => {
  expect(findServer({ PATH: '/none', GATEHOUSE_TEST_ZOOKEEPER: '/a.jar' })).toMatchObject({
    kind: 'none',
    reason: 'no java on the PATH nor in JAVA_HOME',
  });
});

test('who says none gets none, and nothing is installed', () => {
  expect(findServer({ ...withJava, GATEHOUSE_TEST_ZOOKEEPER: 'none' })).toEqual({
    kind: 'none',
    installable: false,
    reason: 'GATEHOUSE_TEST_ZOOKEEPER=none',
  });
});
