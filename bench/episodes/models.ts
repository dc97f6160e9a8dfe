export interface World {
  readonly origin: string;
  /** How often each step was requested, by its action. */
  readonly asked: ReadonlyMap<string, number>;
  /** From now on, the share of requests that fail. */
  failing: number;
  stop(): void;
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** A model that says the action and a number that no other answer has. An action that begins with "wait N" takes N seconds. */
export const startWorld = (delayMs: number): World => {
  const asked = new Map<string, number>();
  let answers = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 255,
    async fetch(request) {
      const { messages } = (await request.json()) as { messages: { content: string }[] };
      const action = /Action: (.*)$/s.exec(messages.at(-1)?.content ?? "")?.[1] ?? "";
      asked.set(action, (asked.get(action) ?? 0) + 1);
      answers += 1;
      const content = `${action}: answer ${answers}`;
      const seconds = Number(/^wait (\d+)/.exec(action)?.[1] ?? 0);
      await Bun.sleep(seconds > 0 ? seconds * 1_000 : delayMs * (0.5 + Math.random()));
      if (Math.random() < world.failing)
        return Response.json({ error: { message: "broken" } }, { status: 500 });
      const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
      return Response.json({
        id: "x",
        object: "chat.completion",
        created: 1,
        model: "world",
        choices,
        usage,
      });
    },
  });
  const world: World = {
    origin: `http://127.0.0.1:${server.port}`,
    asked,
    failing: 0,
    stop: () => void server.stop(true),
  };
  return world;
};

export interface ScriptedAgent {
  readonly origin: string;
  /** The last message of each request, in their order. */
  readonly told: readonly string[];
  stop(): void;
}

/** An agent's model, which gives these replies in turn in each conversation, as the event stream that clients ask for. */
export const startScriptedAgent = (replies: readonly string[]): ScriptedAgent => {
  const told: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 255,
    async fetch(request) {
      const { messages } = (await request.json()) as { messages: { role: string; content: string }[] };
      told.push(messages.at(-1)?.content ?? "");
      const content = replies[messages.filter(({ role }) => role === "assistant").length] ?? "";
      const chunk = (more: object) =>
        `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "agent", ...more })}\n\n`;
      const choice = (delta: object, finishReason: string | null) =>
        chunk({ choices: [{ index: 0, delta, finish_reason: finishReason }] });
      const events = [
        choice({ role: "assistant", content }, null),
        choice({}, "stop"),
        chunk({ choices: [], usage }),
        "data: [DONE]\n\n",
      ];
      return new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { origin: `http://127.0.0.1:${server.port}`, told, stop: () => void server.stop(true) };
};
