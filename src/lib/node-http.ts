/**
 * Node's `http`, for all that starts a server or sends a request. An `import` of its names makes Node load its client for `fetch` as well, for `http` has
 * `WebSocket` among its names: 40 ms of processor time, more than all else that Node does to start.
 */
export const nodeHttp = process.getBuiltinModule('node:http');
