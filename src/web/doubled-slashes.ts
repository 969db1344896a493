/** Paths with slashes in a row: Zuul's page asks for `/api/tenant/acme//promote` and `//autohold/1`, and Zuul takes them as if they had one. */
import type { RequestHandler } from 'express';

/** For what comes after it. */
export const mergeDoubledSlashes: RequestHandler = (request, _response, next) => {
  const [path = '', ...query] = request.url.split('?');
  request.url = [path.replace(/\/{2,}/g, '/'), ...query].join('?');
  next();
};
