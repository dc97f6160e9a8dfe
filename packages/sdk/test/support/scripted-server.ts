/** A request as the server received it. */
export interface Received {
  method: string;
  /** Path and query. */
  target: string;
  headers: Headers;
  body: unknown;
  atMs: number;
}

export type Responder = (received: Received) => Response | Promise<Response>;

/** A real HTTP server that gives scripted responses, one after the other. */
export interface ScriptedServer {
  url: string;
  /** Oldest first. */
  received: Received[];
  /** The next responses; the last one stays. */
  script(...responders: Responder[]): void;
  stop(): Promise<void>;
}

export function startScriptedServer(): ScriptedServer {
  let responders: Responder[] = [];
  const received: Received[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const text = await request.text();
      const entry = {
        method: request.method,
        target: pathname + search,
        headers: request.headers,
        body: text === "" ? undefined : JSON.parse(text),
        atMs: performance.now(),
      };
      received.push(entry);
      const responder = responders.length > 1 ? responders.shift() : responders[0];
      return responder === undefined ? new Response("no script", { status: 500 }) : await responder(entry);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    received,
    script(...next) {
      responders = next;
      received.length = 0;
    },
    stop: () => server.stop(true),
  };
}

/** Responds with this JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Responder {
  return () => Response.json(body, { status, headers });
}

/** Never responds while the client waits. */
export const silence: Responder = () => new Promise(() => {});
