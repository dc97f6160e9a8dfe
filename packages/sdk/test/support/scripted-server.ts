/** A request as the server received it. */
export interface Received {
  method: string;
  /** Path and query. */
  target: string;
  headers: Headers;
  body: unknown;
  atMs: number;
}

export type Answer = (received: Received) => Response | Promise<Response>;

/** A real HTTP server that gives scripted responses, one after the other. */
export interface ScriptedServer {
  url: string;
  /** Oldest first. */
  received: Received[];
  /** The next responses; the last one stays. */
  script(...answers: Answer[]): void;
  stop(): Promise<void>;
}

export function startScriptedServer(): ScriptedServer {
  let answers: Answer[] = [];
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
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      return answer === undefined ? new Response("no script", { status: 500 }) : await answer(entry);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    received,
    script(...next) {
      answers = next;
      received.length = 0;
    },
    stop: () => server.stop(true),
  };
}

/** Responds with this JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return () => Response.json(body, { status, headers });
}

/** Never responds while the client waits. */
export const silence: Answer = () => new Promise(() => {});
