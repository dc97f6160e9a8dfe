// The upstream of every target: a constant completion after a delay set by the bench. It does as little as possible, so that
// on a small machine the processor is free for the target. It counts requests, so that no target can invent responses.

const completion = JSON.stringify({
  id: "chatcmpl-5f0c1b7d2a9e4c3388e1d6a4b7c90f12",
  object: "chat.completion",
  created: 1767225600,
  model: "mock",
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content:
          "The switch is now connected to the anode of the light bulb. The circuit is closed up to the switch, which is off; " +
          "the light bulb stays off. In your inventory you see: an orange, a thermometer currently reading 12 degrees celsius.",
        reasoning_content: null,
        tool_calls: null,
      },
      logprobs: null,
      finish_reason: "stop",
      matched_stop: 151645,
    },
  ],
  usage: { prompt_tokens: 391, completion_tokens: 52, total_tokens: 443, prompt_tokens_details: null },
});
const models = {
  object: "list",
  data: [{ id: "mock", object: "model", created: 1767225600, owned_by: "bench" }],
};
const jsonHeaders = { "content-type": "application/json" };

let delayMs = 0;
let answered = 0;
let inFlight = 0;
let peakInFlight = 0;
let lastBody = "";
let keepBody = false;

const serve = (): Bun.Server<undefined> =>
  Bun.serve({
    hostname: "127.0.0.1",
    port: Number(process.argv[2]),
    reusePort: true,
    idleTimeout: 255,
    routes: {
      "/v1/chat/completions": {
        POST: async (request) => {
          inFlight += 1;
          if (inFlight > peakInFlight) peakInFlight = inFlight;
          // Reads the complete body, so that a proxy that sends only part of it does not look fast.
          if (keepBody) lastBody = await request.text();
          else await request.arrayBuffer();
          if (delayMs > 0) await Bun.sleep(delayMs);
          inFlight -= 1;
          answered += 1;
          return new Response(completion, { headers: jsonHeaders });
        },
      },
      // Routers ask before they send anything.
      "/health": new Response("ok"),
      "/v1/models": () => Response.json(models),
      "/control/set": (request) => {
        const query = new URL(request.url).searchParams;
        delayMs = Number(query.get("delayMs") ?? delayMs);
        keepBody = query.get("keepBody") === "true";
        answered = 0;
        peakInFlight = inFlight;
        return Response.json({ delayMs, keepBody });
      },
      "/control/read": () => Response.json({ answered, inFlight, peakInFlight, lastBody }),
    },
    fetch: () => new Response(null, { status: 404 }),
  });

// Bun's listen backlog is 512; the system drops further connections, which are then a second late. Thousands arrive at
// once here, so several listeners share the port.
const servers = Array.from({ length: 16 }, serve);
process.on("SIGTERM", () => {
  for (const server of servers) void server.stop(true);
  process.exit(0);
});
