// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The official SDK's client, driven line by line: a JSON object on stdin is one operation, a JSON
// object on stdout its result.  The cases drive it so that they can kill it wherever they like.
//
//   node client.mjs connect --system|--user NAME     over mcp-connect, as a client's config would have it
//   node client.mjs socket PATH                      over the raw UNIX socket
//
// Operations: {"op":"connect","count":1}, {"op":"list"}, {"op":"call","tool":…,"arguments":{…},"client":0},
// {"op":"close"}.  In arguments, {"$repeat":["x",1000]} stands for a long text.

import net from 'node:net';
import readline from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';

const MAX_MESSAGE = 128 * 1024 * 1024;
const SHOWN = 4000;

// The SDK has no transport for UNIX sockets; this is its stdio transport on one.
class SocketTransport {
  constructor(path) {
    this.path = path;
    this.buffer = new ReadBuffer({ maxBufferSize: MAX_MESSAGE });
  }

  start() {
    return new Promise((resolve, reject) => {
      this.socket = net.connect({ path: this.path }, resolve);
      this.socket.on('error', error => {
        reject(error);
        this.onerror?.(error);
      });
      this.socket.on('close', () => this.onclose?.());
      this.socket.on('data', chunk => this.receive(chunk));
    });
  }

  receive(chunk) {
    this.buffer.append(chunk);
    for (let message; (message = this.buffer.readMessage()) !== null; ) {
      this.onmessage?.(message);
    }
  }

  send(message) {
    return new Promise((resolve, reject) => {
      this.socket.write(serializeMessage(message), error => (error ? reject(error) : resolve()));
    });
  }

  async close() {
    this.socket.destroy();
  }
}

const [way, ...target] = process.argv.slice(2);
const clients = [];

function transport() {
  return way === 'socket'
    ? new SocketTransport(target[0])
    : new StdioClientTransport({ command: 'mcp-connect', args: target, maxBufferSize: MAX_MESSAGE });
}

function expand(value) {
  if (value === null || typeof value !== 'object') {
    return value;
  }
  if (Array.isArray(value.$repeat)) {
    return value.$repeat[0].repeat(value.$repeat[1]);
  }
  return Array.isArray(value) ? value.map(expand) : Object.fromEntries(Object.entries(value).map(([k, v]) => [k, expand(v)]));
}

async function openOne() {
  const client = new Client({ name: 'integration', version: '1' });
  await client.connect(transport());
  clients.push(client);
}

const operations = {
  async connect({ count = 1 }) {
    await Promise.all(Array.from({ length: count }, openOne));
    return { server: clients[0].getServerVersion(), clients: clients.length };
  },
  async list({ client = 0 }) {
    return { tools: (await clients[client].listTools()).tools.map(tool => tool.name) };
  },
  async call({ tool, arguments: given = {}, client = 0 }) {
    const result = await clients[client].callTool({ name: tool, arguments: expand(given) }, undefined, { timeout: 180000 });
    const text = result.content.map(part => part.text ?? '').join('');
    return { isError: result.isError === true, length: text.length, text: text.slice(0, SHOWN) };
  },
  async close() {
    await Promise.all(clients.map(client => client.close()));
    return {};
  },
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let result;
  try {
    result = { ok: true, ...(await operations[request.op](request)) };
  } catch (error) {
    result = { ok: false, error: String(error.message ?? error) };
  }
  process.stdout.write(JSON.stringify(result) + '\n');
}
process.exit(0);
