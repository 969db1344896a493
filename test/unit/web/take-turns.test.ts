import type { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { takeTurns } from '../../../src/web/take-turns.ts';

const nextTurn = () => new Promise(resolve => setImmediate(resolve));

/** Each request takes 4 ms of a clock that only they move. */
function costlyWeb() {
  let now = 0;
  const handled: string[] = [];
  const responses: ServerResponse[] = [];
  const listener = takeTurns(
    (request, response) => {
      now += 4;
      handled.push(request.url ?? '');
      responses.push(response);
    },
    { monotonic: () => now },
  );
  const send = (socket: Socket, url: string) => {
    const request = new IncomingMessage(socket);
    request.url = url;
    listener(request, new ServerResponse(request));
  };
  return { send, handled, responses };
}

test('a turn of the event loop is over after ten milliseconds, however many clients ask', async () => {
  const web = costlyWeb();
  for (let client = 0; client < 7; client++) web.send(new Socket(), `/${client}`);
  expect(web.handled).toEqual([]);
  await nextTurn();
  expect(web.handled).toHaveLength(3);
  await nextTurn();
  expect(web.handled).toHaveLength(6);
  await nextTurn();
  expect(web.handled).toEqual(['/0', '/1', '/2', '/3', '/4', '/5', '/6']);
});

test('the next request of a connection waits for the answer before it', async () => {
  const web = costlyWeb();
  const [greedy, modest] = [new Socket(), new Socket()];
  for (const url of ['/a', '/b']) web.send(greedy, url);
  web.send(modest, '/c');
  await nextTurn();
  await nextTurn();
  expect(web.handled).toEqual(['/a', '/c']);
  const [first]: EventEmitter[] = web.responses;
  first?.emit('close');
  await nextTurn();
  expect(web.handled).toEqual(['/a', '/c', '/b']);
});

test('a connection with more than a few requests in a row is cut, and none of them is handled', async () => {
  const web = costlyWeb();
  const socket = new Socket();
  for (let count = 0; count < 40; count++) web.send(socket, `/${count}`);
  expect(socket.destroyed).toBe(true);
  await nextTurn();
  expect(web.handled).toEqual([]);
});
