/** A real nginx in front of a service, set up as people do it who read no guide. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Nginx extends AsyncDisposable {
  readonly url: string;
}

/**
 * @param locations of its server, as the documentation has them; default: all requests go to the service.
 * @throws Error when it ends instead of listening.
 */
export async function startNginx(
  program: string,
  target: string,
  locations = 'location / {\n  proxy_pass http://127.0.0.1:9000;\n}',
): Promise<Nginx> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-nginx-'));
  const port = await freePort();
  const config = path.join(directory, 'nginx.conf');
  await writeFile(config, configText(directory, port, locations.replaceAll('http://127.0.0.1:9000', target)));
  const child = spawn(program, ['-p', directory, '-e', 'stderr', '-c', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', piece => {
    said += String(piece);
  });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const until = performance.now() + 30_000;
  while (!(await isUp(url))) {
    if (child.exitCode !== null || performance.now() > until) throw new Error(`nginx: ${said}`);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}

async function isUp(url: string): Promise<boolean> {
  try {
    await (await fetch(`${url}/api/info`)).text();
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false; // does not listen yet
    throw error;
  }
}

function configText(directory: string, port: number, locations: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `  ${name}_temp_path ${directory}/${name};`,
  );
  return `daemon off;
master_process off;
pid ${directory}/nginx.pid;
events {}
http {
  access_log off;
  types { text/html html; text/css css; text/javascript js; application/json json; image/svg+xml svg; font/woff2 woff2; }
${temporary.join('\n')}
  server {
    listen 127.0.0.1:${port};
    ${locations}
  }
}
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
