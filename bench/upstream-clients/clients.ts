import { Agent, request } from "node:http";

/** A way to ask an upstream: sends the body, reads the answer whole. */
export interface Client {
  name: string;
  ask(url: string, body: string): Promise<string>;
}

const kept = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 64 });
const fresh = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

const askByFetch = async (url: string, body: string, options: BunFetchRequestInit = {}): Promise<string> => {
  const response = await fetch(url, { method: "POST", body, timeout: false, ...options });
  return await response.text();
};

const askByAgent = (url: string, body: string, agent: Agent): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { "content-length": Buffer.byteLength(body) };
    const asked = request(url, { method: "POST", agent, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => resolve(Buffer.concat(chunks).toString()));
      answer.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(body);
  });

export const clients: readonly Client[] = [
  { name: "fetch, kept connections", ask: askByFetch },
  { name: "fetch, a connection a call", ask: (url, body) => askByFetch(url, body, { keepalive: false }) },
  { name: "node:http, kept connections", ask: (url, body) => askByAgent(url, body, kept) },
  { name: "node:http, a connection a call", ask: (url, body) => askByAgent(url, body, fresh) },
];
