export interface ScriptedAgent {
  readonly origin: string;
  /** The last message of each request, in their order. */
  readonly told: readonly string[];
  stop(): void;
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** The model of an agent, which says these replies in turn in each conversation, as the event stream that clients ask for. */
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
