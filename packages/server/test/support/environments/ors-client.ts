import { expect } from "bun:test";
import type { OrsCallResult } from "@presage/contract";
import { testKey } from "../presage/presage.ts";

export interface Event {
  name: string;
  data: string;
}

/** What a call returned, and the connection that it returned on. */
export interface Called {
  taskId: string;
  result: OrsCallResult;
}

/** Speaks the Open Reward Standard as its public client does. */
export interface OrsClient {
  send(method: string, path: string, body?: unknown, sessionId?: string): Promise<Response>;
  newSession(): Promise<string>;
  /** Starts a session with a task, and returns its id. */
  start(wanted: object): Promise<string>;
  call(sessionId: string, environment: string, action: string, taskId?: string): Promise<Called>;
  /** Closes the connection once the task's id has arrived, and returns that. */
  cut(sessionId: string, environment: string, action: string, taskId?: string): Promise<string>;
}

export function orsClient(server: { url: string }, key = testKey): OrsClient {
  const send = (method: string, path: string, body?: unknown, sessionId?: string) =>
    fetch(server.url + path, {
      method,
      headers: { "x-api-key": key, ...(sessionId === undefined ? {} : { "x-session-id": sessionId }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  async function newSession(): Promise<string> {
    const events = await Array.fromAsync(eventsOf(await send("POST", "/create_session", {})));
    expect(events.map(({ name }) => name)).toEqual(["task_id", "end"]);
    return events[0]?.data ?? "";
  }

  const bodyOf = (action: string, taskId?: string) => ({
    name: "act",
    input: { action },
    ...(taskId === undefined ? {} : { task_id: taskId }),
  });

  return {
    send,
    newSession,
    async start(wanted) {
      const sessionId = await newSession();
      const response = await send("POST", "/create", wanted, sessionId);
      expect([response.status, await response.json()]).toEqual([200, { sid: sessionId }]);
      return sessionId;
    },
    async call(sessionId, environment, action, taskId) {
      const response = await send("POST", `/${environment}/call`, bodyOf(action, taskId), sessionId);
      expect(response.status).toBe(200);
      return await readCall(response);
    },
    async cut(sessionId, environment, action, taskId) {
      const response = await send("POST", `/${environment}/call`, bodyOf(action, taskId), sessionId);
      for await (const { name, data } of eventsOf(response)) {
        expect(name).toBe("task_id");
        // Leaving the loop closes the connection.
        return data;
      }
      throw new Error("There was no task_id.");
    },
  };
}

export async function readCall(response: Response): Promise<Called> {
  let taskId = "";
  let json = "";
  for await (const { name, data } of eventsOf(response)) {
    if (name === "task_id") taskId = data;
    else json += data;
    if (name === "end") return { taskId, result: JSON.parse(json) as OrsCallResult };
    if (name === "error") throw new Error(data);
  }
  throw new Error("The stream ended unexpectedly.");
}

/** The client's parser: it strips white space from the left of each value. */
async function* eventsOf(response: Response): AsyncGenerator<Event, void> {
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  let name = "";
  let data: string[] = [];
  for await (const line of linesOf(response.body ?? new ReadableStream())) {
    if (line === "") {
      if (name !== "") yield { name, data: data.join("\n") };
      [name, data] = ["", []];
    } else if (!line.startsWith(":")) {
      const [field = "", value = ""] = line.split(/:(.*)/s);
      const stripped = stripLeft(value);
      if (field === "event") name = stripped;
      if (field === "data") data.push(stripped);
    }
  }
}

/** Python's `lstrip`. */
export function stripLeft(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Python counts them as white space
  return text.replace(/^(?:(?!\ufeff)[\s\u001c-\u001f\u0085])+/, "");
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    yield* lines.map((line) => line.replace(/\r+$/, ""));
  }
}
