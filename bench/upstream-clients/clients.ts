import { Agent, request } from "node:http";

/** An HTTP client: sends the body and reads the complete response. */
export interface Client {
  name: string;
  send(url: string, body: string): Promise<string>;
}

const kept = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 64 });
const fresh = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

export const sendByFetch = async (
  url: string,
  body: string,
  options: BunFetchRequestInit = {},
): Promise<string> => {
  const response = await fetch(url, { method: "POST", body, timeout: false, ...options });
  return await response.text();
};

export const sendByAgent = (url: string, body: string, agent: Agent): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { "content-length": Buffer.byteLength(body) };
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(Buffer.concat(chunks).toString()));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });

export const clients: readonly Client[] = [
  { name: "fetch, kept-alive connections", send: sendByFetch },
  {
    name: "fetch, a new connection per call",
    send: (url, body) => sendByFetch(url, body, { keepalive: false }),
  },
  { name: "node:http, kept-alive connections", send: (url, body) => sendByAgent(url, body, kept) },
  { name: "node:http, a new connection per call", send: (url, body) => sendByAgent(url, body, fresh) },
];
